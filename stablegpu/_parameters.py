"""Parameters of stable laws: checks, the two parameterisations, and the sides of zeta."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from hetero import errors

PARAMETERIZATIONS = ("S1", "S0")

NEAR_ONE = 1e-5
"""alpha != 1 closer to 1 than this loses more than five of sixteen digits in Nolan's integral."""


def tan_half_pi(alpha: float) -> float:
    """tan(pi alpha / 2) for alpha != 1, to full relative accuracy."""
    if alpha < 0.5:
        return math.tan(0.5 * math.pi * alpha)
    if alpha < 1.5:
        return 1.0 / math.tan(0.5 * math.pi * (1.0 - alpha))
    return -math.tan(0.5 * math.pi * (2.0 - alpha))


def zeta(alpha: float, beta: float) -> float:
    """-beta tan(pi alpha / 2): what S0 adds to the standard S1 variable (0 at alpha = 1)."""
    return 0.0 if alpha == 1.0 else -beta * tan_half_pi(alpha)


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
        alpha = errors.within("alpha", alpha, 0.0, 2.0, closed="right")
        if alpha != 1.0 and abs(alpha - 1.0) < NEAR_ONE:
            raise ValueError(
                f"alpha must be 1 or differ from it by at least {NEAR_ONE:g} in this version, "
                f"got {alpha!r}; use alpha=1"
            )
        return cls(
            alpha,
            errors.within("beta", beta, -1.0, 1.0),
            errors.real("loc", loc),
            errors.within("scale", scale, 0.0, math.inf, closed="neither"),
            errors.one_of("parameterization", parameterization, PARAMETERIZATIONS),
        )

    @property
    def shift(self) -> float:
        """(x - loc)/scale - shift is x - zeta for the standard law (alpha = 1: its argument)."""
        if self.alpha == 1.0:
            log_scale = math.log(self.scale) if self.parameterization == "S1" else 0.0
            return self.beta * (2.0 / math.pi) * log_scale
        return zeta(self.alpha, self.beta) if self.parameterization == "S0" else 0.0

    def converted(self, parameterization: str) -> Parameters:
        """The same law in "S0" or "S1"; only loc changes (Nolan; 000 eq. 2)."""
        target = errors.one_of("parameterization", parameterization, PARAMETERIZATIONS)
        if target == self.parameterization:
            return self
        if self.alpha == 1.0:
            offset = self.beta * (2.0 / math.pi) * self.scale * math.log(self.scale)
        else:
            offset = -zeta(self.alpha, self.beta) * self.scale
        loc = self.loc + (offset if target == "S0" else -offset)
        return Parameters(self.alpha, self.beta, loc, self.scale, target)

    @property
    def mean(self) -> float:
        """The expectation: loc of S1 for alpha > 1; undefined (NaN) otherwise."""
        return self.converted("S1").loc if self.alpha > 1.0 else math.nan


class Side(NamedTuple):
    """One side of zeta: what the integrand needs of (alpha, beta), beta mirrored for the left."""

    alpha: float
    beta: float
    kappa: float
    length: float  # P = pi/2 + theta0
    gap: float  # pi - alpha P: 0 where the tail is light (alpha > 1)
    rest: float  # pi/2 - theta0
    log_scale: float  # log of the factor of V that is free of theta
    front: float  # pdf = front / y int g e^-g, for alpha = 1 without y
    peak: float  # the density at y = 0
    rising: bool  # whether g grows with theta


def sides(alpha: float, beta: float) -> tuple[Side, Side, bool]:
    """Right side, left side, and whether alpha = 1 has to be read mirrored."""
    if alpha == 1.0:
        side = _side_at_one(abs(beta))
        return side, side, beta < 0.0
    return _side(alpha, beta), _side(alpha, -beta), False


def _extent(alpha: float, beta: float) -> tuple[float, float]:
    """alpha (pi/2 + theta0) and pi minus it, each to full relative accuracy.

    The smaller one is the angle of (1 - beta tan^2, (1 + beta) tan) with tan of half of pi alpha
    or pi (2 - alpha): no difference of nearly equal angles where beta is near -1.
    """
    off = abs(1.0 - alpha)
    sine = math.sin(math.pi * min(off, alpha if alpha < 1.0 else 2.0 - alpha))
    cosine = math.sin(0.5 * math.pi * (1.0 - alpha))
    angle = math.atan2((1.0 + beta) * sine, 2.0 * ((1.0 + beta) * cosine**2 - beta))
    return (angle, math.pi - angle) if alpha < 1.0 else (math.pi - angle, angle)


def _side(alpha: float, beta: float) -> Side:
    whole, gap = _extent(alpha, beta)
    length = whole / alpha
    rest = _extent(alpha, -beta)[0] / alpha
    squared = zeta(alpha, beta) ** 2
    log_cos = -0.5 * math.log1p(squared)  # of alpha theta0
    try:
        gamma = math.gamma(1.0 + 1.0 / alpha)
    except OverflowError:
        gamma = math.inf
    peak = gamma * math.sin(min(length, rest)) / math.pi * math.exp(log_cos / alpha)
    return Side(
        alpha=alpha,
        beta=beta,
        kappa=alpha / (alpha - 1.0),
        length=length,
        gap=gap,
        rest=rest,
        log_scale=log_cos / (alpha - 1.0),
        front=alpha / (math.pi * abs(alpha - 1.0)),
        peak=peak,
        rising=alpha < 1.0,
    )


def _side_at_one(beta: float) -> Side:
    return Side(
        alpha=1.0,
        beta=beta,
        kappa=math.inf,
        length=math.pi,
        gap=0.0,
        rest=0.0,
        log_scale=math.log(2.0 / math.pi),
        front=0.5 / beta if beta else math.inf,
        peak=1.0 / math.pi,
        rising=True,
    )
