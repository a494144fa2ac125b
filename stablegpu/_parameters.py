"""Parameters of stable distributions: checks, the parameterizations S0 and S1, and zeta."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from hetero import validation

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike

PARAMETERIZATIONS = ("S1", "S0")

SMALLEST_ALPHA = 1e-300
"""Below, constants of the distribution such as pi alpha/2 lose digits as subnormal numbers."""

NAMES = ("pdf", "cdf", "sf", "logpdf", "logcdf", "logsf")
"""Functions that one evaluation gives."""

PARAMETERS = ("alpha", "beta", "loc", "scale")
"""Names of the parameters, in their order in arrays."""


def tan_half_pi(alpha: float) -> float:
    """Return tan(pi alpha / 2) for alpha != 1, to full relative accuracy."""
    if abs(alpha - 1.0) < 0.25:
        return 1.0 / math.tan(0.5 * math.pi * (1.0 - alpha))
    # sin/(1 + cos) of the whole angle is exact where tan is a simple number.
    whole = math.pi * (alpha if alpha < 1.0 else 2.0 - alpha)
    return math.copysign(math.sin(whole) / (1.0 + math.cos(whole)), 1.0 - alpha)


def zeta(alpha: float, beta: float) -> float:
    """Return -beta tan(pi alpha / 2), the shift of S0 against standard S1 (0 at alpha = 1)."""
    return 0.0 if alpha == 1.0 else -beta * tan_half_pi(alpha)


@functools.lru_cache(maxsize=1024)
def zeta_parts(alpha: float, beta: float) -> tuple[float, float]:
    """Return zeta as the sum of two floats, good to 32 digits: x - zeta keeps its digits there."""
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
    """Checked parameters of one stable distribution."""

    alpha: float
    beta: float
    loc: float
    scale: float
    parameterization: str

    @classmethod
    def checked(
        cls, alpha: float, beta: float, loc: float, scale: float, parameterization: str
    ) -> Parameters:
        """Return the parameters, or raise TypeError or ValueError that names a bad one."""
        alpha = validation.check_in_range("alpha", alpha, 0.0, 2.0, closed="right")
        if alpha < SMALLEST_ALPHA:
            raise ValueError(f"alpha must be at least {SMALLEST_ALPHA:g}, got {alpha!r}")
        return cls(
            alpha,
            validation.check_in_range("beta", beta, -1.0, 1.0),
            validation.check_finite("loc", loc),
            validation.check_in_range("scale", scale, 0.0, math.inf, closed="neither"),
            validation.check_choice("parameterization", parameterization, PARAMETERIZATIONS),
        )

    @classmethod
    def of(cls, distribution: Any) -> Parameters:
        """Return the parameters of a distribution, or `distribution` if it is parameters itself.

        Raises TypeError for anything else.
        """
        parameters = getattr(distribution, "parameters", distribution)
        if not isinstance(parameters, Parameters):
            raise TypeError(
                "distribution must be a stablegpu.stable(...), got "
                f"{validation.describe(distribution)}"
            )
        return parameters

    @property
    def offset(self) -> tuple[float, float]:
        """Offset from (x - loc)/scale to the other parameterization, in two parts.

        S0: subtracted, it gives y = x - zeta of the standard distribution. S1: added, it gives x.
        At alpha = 1, S1 differs by -beta (2/pi) log(scale).
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
        """loc + scale zeta in S0, loc in S1: where the support may end if |beta| = 1."""
        high = self.offset[0] if self.parameterization == "S0" else 0.0
        return self.loc + self.scale * high

    @property
    def mean(self) -> float:
        """Expectation; infinite or NaN for alpha <= 1."""
        if self.alpha > 1.0:
            return self.converted("S1").loc
        return math.copysign(math.inf, self.beta) if abs(self.beta) == 1.0 else math.nan

    @property
    def support(self) -> tuple[float, float]:
        """Ends of the support, which is a half-line for alpha < 1 and beta = +-1."""
        half = self.alpha < 1.0
        low = self.end if half and self.beta == 1.0 else -math.inf
        return low, self.end if half and self.beta == -1.0 else math.inf


def characteristic_function(t: ArrayLike, parameters: Parameters) -> np.ndarray:
    """Return E exp(i t X) at real t, complex128; in S0 without cancellation near alpha = 1.

    -(|s|^alpha) - i beta tan(pi alpha/2) (s - sign(s) |s|^alpha) + i loc t with s = scale t: the
    difference is s (1 - |s|^(alpha-1)), by expm1.
    """
    import numpy as np

    from hetero.arrays import as_real

    t = as_real("t", t)
    in_s0 = parameters.converted("S0")
    s = in_s0.scale * t
    size = np.abs(s)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        log = np.log(size)
        if in_s0.alpha == 1.0:
            skew = 2.0 / math.pi * log
        else:
            skew = -tan_half_pi(in_s0.alpha) * np.expm1((in_s0.alpha - 1.0) * log)
        phase = np.where(size > 0.0, in_s0.beta * s * skew, 0.0)
        modulus = np.exp(-(size**in_s0.alpha))
        angle = np.where(modulus == 0.0, 0.0, in_s0.loc * t - phase)  # infinite far out
    return modulus * np.exp(1j * angle)


def check_pm(pm: int) -> int:
    """Return the number of a parameterization of R's `dstable`, which is 0, 1 or 2."""
    return validation.check_integer("pm", pm, 0, 2)


class Standardization(NamedTuple):
    """Location, scale and offset that map x to y and z of the standard distribution."""

    loc: float
    scale: float
    offset: float  # see `Parameters.offset`
    offset_low: float
    in_s0: bool
    flip: bool  # alpha = 1: the distribution is read mirrored


class Restoration(NamedTuple):
    """Location, scale and support that turn a standardized variable into a quantile."""

    loc: float
    scale: float
    shift: float  # added to the standardized variable first, in two parts
    shift_low: float
    low: float  # ends of the support
    high: float
