"""Parameters of stable laws: checks, the two parameterisations, and the sides of zeta."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import NamedTuple

from hetero import validation

PARAMETERIZATIONS = ("S1", "S0")

NAMES = ("pdf", "cdf", "sf", "logpdf", "logcdf", "logsf")
"""The functions that one evaluation gives."""


def tan_half_pi(alpha: float) -> float:
    """tan(pi alpha / 2) for alpha != 1, to full relative accuracy."""
    if abs(alpha - 1.0) < 0.25:
        return 1.0 / math.tan(0.5 * math.pi * (1.0 - alpha))
    # sin/(1 + cos) of the whole angle is exact where tan is a simple number.
    whole = math.pi * (alpha if alpha < 1.0 else 2.0 - alpha)
    return math.copysign(math.sin(whole) / (1.0 + math.cos(whole)), 1.0 - alpha)


def zeta(alpha: float, beta: float) -> float:
    """-beta tan(pi alpha / 2): what S0 adds to the standard S1 variable (0 at alpha = 1)."""
    return 0.0 if alpha == 1.0 else -beta * tan_half_pi(alpha)


@functools.lru_cache(maxsize=1024)
def zeta_parts(alpha: float, beta: float) -> tuple[float, float]:
    """zeta as the sum of two floats, good to 32 digits: x - zeta keeps its digits near zeta."""
    if alpha == 1.0:
        return 0.0, 0.0
    from flint import arb, ctx

    before, ctx.prec = ctx.prec, 256
    try:
        # tan(pi alpha/2) = cot(pi (1 - alpha)/2): the argument is exact near alpha = 1.
        whole = -arb(beta) * (arb.pi() * (1 - arb(alpha)) / 2).cot()
        high = float(whole.mid())
        return high, float((whole - high).mid())
    finally:
        ctx.prec = before


@dataclass(frozen=True)
class Parameters:
    """Checked parameters of one stable law."""

    alpha: float
    beta: float
    loc: float
    scale: float
    parameterization: str

    @classmethod
    def checked(cls, alpha, beta, loc, scale, parameterization) -> Parameters:
        """Raises TypeError or ValueError that names the parameter and its range."""
        alpha = validation.check_in_range("alpha", alpha, 0.0, 2.0, closed="right")
        return cls(
            alpha,
            validation.check_in_range("beta", beta, -1.0, 1.0),
            validation.check_finite("loc", loc),
            validation.check_in_range("scale", scale, 0.0, math.inf, closed="neither"),
            validation.check_choice("parameterization", parameterization, PARAMETERIZATIONS),
        )

    @property
    def offset(self) -> tuple[float, float]:
        """Offset from (x - loc)/scale to the other parameterisation, in two parts.

        S0: subtracted, it gives y = x - zeta of the standard law. S1: added, it gives x. At
        alpha = 1, S1 differs by -beta (2/pi) log(scale).
        """
        if self.alpha == 1.0:
            of_scale = self.parameterization == "S1"
            shift = -self.beta * (2.0 / math.pi) * math.log(self.scale) if of_scale else 0.0
            return shift, 0.0
        return zeta_parts(self.alpha, self.beta)

    def converted(self, parameterization: str) -> Parameters:
        """Convert to "S0" or "S1"; only loc changes (Julian-Moreno et al. 2016, eq. 2)."""
        target = validation.check_choice("parameterization", parameterization, PARAMETERIZATIONS)
        if target == self.parameterization:
            return self
        if self.alpha == 1.0:
            offset = self.beta * (2.0 / math.pi) * self.scale * math.log(self.scale)
        else:
            offset = -zeta(self.alpha, self.beta) * self.scale
        loc = self.loc + (offset if target == "S0" else -offset)
        return Parameters(self.alpha, self.beta, loc, self.scale, target)

    @property
    def frame(self) -> Standardization:
        """Location, scale and offset that map x to the standardized variable."""
        flip = self.alpha == 1.0 and self.beta < 0.0
        in_s0 = self.parameterization == "S0"
        return Standardization(self.loc, self.scale, *self.offset, in_s0, flip)

    @property
    def end(self) -> float:
        """loc + scale zeta in S0, loc in S1: where the support of a law with |beta| = 1 may end."""
        high = self.offset[0] if self.parameterization == "S0" else 0.0
        return self.loc + self.scale * high

    @property
    def support(self) -> tuple[float, float]:
        """Ends of the support, which is a half-line for alpha < 1 and beta = +-1."""
        half = self.alpha < 1.0
        low = self.end if half and self.beta == 1.0 else -math.inf
        return low, self.end if half and self.beta == -1.0 else math.inf


def characteristic_function(t, parameters: Parameters):
    """E exp(i t X) at real t, complex128; S0's without cancellation near alpha = 1.

    -(|s|^alpha) - i beta tan(pi alpha/2) (s - sign(s) |s|^alpha) + i loc t with s = scale t: the
    difference is s (1 - |s|^(alpha-1)), by expm1.
    """
    import numpy as np

    from hetero.arrays import as_real

    t = as_real("t", t)
    law = parameters.converted("S0")
    s = law.scale * t
    size = np.abs(s)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        log = np.log(size)
        if law.alpha == 1.0:
            skew = 2.0 / math.pi * log
        else:
            skew = -tan_half_pi(law.alpha) * np.expm1((law.alpha - 1.0) * log)
        phase = np.where(size > 0.0, law.beta * s * skew, 0.0)
        modulus = np.exp(-(size**law.alpha))
        angle = np.where(modulus == 0.0, 0.0, law.loc * t - phase)  # infinite far out
    return modulus * np.exp(1j * angle)


class Standardization(NamedTuple):
    """Location, scale and offset that map x to y and z of the standard distribution."""

    loc: float
    scale: float
    offset: float  # see `Parameters.offset`
    offset_low: float
    in_s0: bool
    flip: bool  # alpha = 1: the law is read mirrored


class HalfLine(NamedTuple):
    """Constants of the integrand on one side of zeta; beta is mirrored for the left half-line."""

    alpha: float
    beta: float
    kappa: float
    zeta: float
    length: float  # P = pi/2 + theta0
    tail_gap: float  # pi - alpha P: 0 where the tail is light (alpha > 1)
    left_angle: float  # pi/2 - theta0
    log_scale: float  # log of the factor of V that is free of theta
    half_log: float  # log(1 + zeta^-2) / 2
    front: float  # pdf = front / y int g e^-g, for alpha = 1 without y
    peak: float  # the density at y = 0
    log_cos: float  # log of cos(alpha theta0)
    log_right: float  # log of y^alpha sf for y -> inf; -inf: light tail
    log_left: float  # alpha = 1: log of |x| cdf for x -> -inf
    near: bool  # alpha near 1 and zeta < -1: log g is taken relative to |zeta|
    g_increases_with_theta: bool  # whether g grows with theta


def half_lines(alpha: float, beta: float) -> tuple[HalfLine, HalfLine]:
    """Right and left half-line; for alpha = 1 both are that of |beta|."""
    if alpha == 1.0:
        side = half_line_at_one(abs(beta))
        return side, side
    return _half_line(alpha, beta), _half_line(alpha, -beta)


def extent(alpha: float, beta: float) -> tuple[float, float]:
    """alpha (pi/2 + theta0) and pi minus it, each to full relative accuracy.

    With tan of half of pi alpha or pi (2 - alpha), the smaller one is the angle of
    (1 - beta tan^2, (1 + beta) tan): no difference of nearly equal angles anywhere.
    """
    off = abs(1.0 - alpha)
    sine = math.sin(math.pi * min(off, alpha if alpha < 1.0 else 2.0 - alpha))
    cosine = math.sin(0.5 * math.pi * (1.0 - alpha))
    y, x = (1.0 + beta) * sine, 2.0 * ((1.0 + beta) * cosine**2 - beta)
    angle, other = math.atan2(y, x), math.atan2(y, -x)
    return (angle, other) if alpha < 1.0 else (other, angle)


def _half_line(alpha: float, beta: float) -> HalfLine:
    whole, tail_gap = extent(alpha, beta)
    other, _ = extent(alpha, -beta)
    return half_line_of(alpha, beta, zeta(alpha, beta), whole, tail_gap, other)


def half_line_of(alpha, beta, centre, whole, tail_gap, other) -> HalfLine:
    """Half-line for alpha != 1 from zeta, `extent` and the extent of the other half-line.

    This and the functions it needs call no functions of this module:
    `_density/pointwise/formulas.py` compiles
    them as they are, for laws that differ from point to point.
    """
    length, left_angle = whole / alpha, other / alpha
    log_cos = -math.log(math.hypot(1.0, centre))  # of alpha theta0
    if abs(centre) < 1e8:
        log_cos = -0.5 * math.log1p(centre**2)
    gamma = math.gamma(1.0 + 1.0 / alpha) if alpha > 1.0 / 170.0 else math.inf
    peak = gamma * math.sin(min(length, left_angle)) / math.pi * math.exp(log_cos / alpha)
    tail = math.sin(min(whole, tail_gap)) if alpha < 2.0 else 0.0
    constant = math.log(math.gamma(alpha) / math.pi * tail) - log_cos if tail > 0.0 else -math.inf
    near = abs(alpha - 1.0) < 0.25 and centre < -1.0
    half_log = 0.5 * math.log1p(centre**-2) if near else 0.0
    return HalfLine(  # by position: Numba takes few keywords
        alpha,
        beta,
        alpha / (alpha - 1.0),
        centre,
        length,
        tail_gap,
        left_angle,
        log_cos / (alpha - 1.0),
        half_log,
        alpha / (math.pi * abs(alpha - 1.0)),
        peak,
        log_cos,
        constant,
        -math.inf,
        near,
        alpha < 1.0,
    )


def half_line_at_one(beta: float) -> HalfLine:
    """Half-line for alpha = 1 and beta >= 0."""
    front = 0.5 / beta if beta > 0.0 else math.inf
    log_right = math.log((1.0 + beta) / math.pi)
    log_left = math.log((1.0 - beta) / math.pi) if beta < 1.0 else -math.inf
    log_scale = math.log(2.0 / math.pi)
    return HalfLine(
        1.0,
        beta,
        math.inf,
        0.0,
        math.pi,
        0.0,
        0.0,
        log_scale,
        0.0,
        front,
        1.0 / math.pi,
        0.0,
        log_right,
        log_left,
        False,
        True,
    )
