"""Distributions with the parameters of other programs.

| program | its parameterization | here |
|---|---|---|
| SciPy, `levy_stable.parameterization = "S1"` (default) or `"S0"` | the same names | S1, S0 |
| R: `stabledist`, `fBasics`; Nolan's STABLE | pm = 0, 1 | S0, S1 |
| the same | pm = 2 | scale alpha^(1/alpha), location the mode |

`Stable.to_scipy` and `Stable.to_r` convert in the other direction.

SciPy 1.17 in its S1 form, alpha = 1, beta != 0 and scale != 1: `pdf`, `cdf` and `rvs` follow the
definition, which is that of this package. But `ppf`, `sf`, `isf` and the methods that use them omit
the shift by beta (2/pi) scale log(scale), so cdf + sf is not 1. Its S0 form is correct.
"""

from __future__ import annotations

from typing import Any

from hetero import Device, validation
from stablegpu._parameters import check_pm
from stablegpu.distributions.stable import Stable, stable

SMALLEST_ALPHA_OF_PM_2 = 0.01
"""Below, alpha^(-1/alpha) leaves the range of float64 (1e200 at 0.01)."""


def from_scipy(
    alpha: float,
    beta: float,
    loc: float = 0.0,
    scale: float = 1.0,
    *,
    parameterization: str = "S1",
    device: str | Device | None = None,
) -> Stable:
    """Return the distribution of `scipy.stats.levy_stable(alpha, beta, loc, scale)`.

    `parameterization` is the value of `levy_stable.parameterization`, "S1" unless it was changed.
    Raises as `stablegpu.stable`.
    """
    return stable(alpha, beta, loc, scale, parameterization=parameterization, device=device)


def from_r(
    alpha: float,
    beta: float,
    gamma: float = 1.0,
    delta: float = 0.0,
    pm: int = 0,
    *,
    device: str | Device | None = None,
) -> Stable:
    """Return the distribution of R's `stabledist::dstable(x, alpha, beta, gamma, delta, pm)`.

    It is parameterized by S1 for pm = 1, else by S0. pm is 0, 1 or 2, counted as in `fBasics` and
    in Nolan's STABLE. Raises as `stablegpu.stable`.
    """
    pm = check_pm(pm)
    gamma = validation.check_positive("gamma", gamma)
    delta = validation.check_finite("delta", delta)
    if pm < 2:
        return stable(alpha, beta, delta, gamma, parameterization=f"S{pm}", device=device)
    rescaled = stable(alpha, beta, delta, gamma, parameterization="S0", device=device)
    if rescaled.alpha < SMALLEST_ALPHA_OF_PM_2:
        raise ValueError(
            f"alpha must be at least {SMALLEST_ALPHA_OF_PM_2} with pm=2, whose scale is "
            f"gamma alpha^(-1/alpha), got {rescaled.alpha!r}"
        )
    scale = rescaled.scale * rescaled.alpha ** (-1.0 / rescaled.alpha)
    loc = rescaled.loc - scale * stable(alpha, beta, parameterization="S0").mode()
    return stable(alpha, beta, loc, scale, parameterization="S0", device=device)


def to_scipy(distribution: Stable, parameterization: str = "S1") -> dict[str, float]:
    """Return the arguments of SciPy's `levy_stable`; see `Stable.to_scipy`."""
    return _require_stable(distribution).to_scipy(parameterization)


def to_r(distribution: Stable, pm: int = 0) -> dict[str, float]:
    """Return the arguments of R's `dstable`; see `Stable.to_r`."""
    return _require_stable(distribution).to_r(pm)


def _require_stable(distribution: Any) -> Stable:
    if not isinstance(distribution, Stable):
        raise TypeError(
            f"distribution must be a stablegpu.stable(...), got {validation.describe(distribution)}"
        )
    return distribution
