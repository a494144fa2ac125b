"""Parameters of other programs, and the mode, which one of them uses as location.

| program | its parameterisation | here |
|---|---|---|
| SciPy, `levy_stable.parameterization = "S1"` (default) or `"S0"` | the same names | S1, S0 |
| R: `stabledist`, `fBasics`; Nolan's STABLE | pm = 0, 1 | S0, S1 |
| the same | pm = 2 | scale alpha^(1/alpha), location the mode |

SciPy 1.17 in its S1 form, alpha = 1, beta != 0 and scale != 1: `pdf`, `cdf` and `rvs` follow the
definition, which is that of this package, but `ppf`, `sf`, `isf` and what builds on them leave out
the shift by beta (2/pi) scale log(scale) (there cdf + sf is not 1). Its S0 form has no such case.
"""

from __future__ import annotations

import functools

import numpy as np

from stablegpu.distribution import Stable, stable


def from_scipy(alpha, beta, loc=0.0, scale=1.0, *, parameterization="S1", device=None) -> Stable:
    """The law of `scipy.stats.levy_stable(alpha, beta, loc, scale)`.

    `parameterization` is the value of `levy_stable.parameterization`, "S1" unless it was changed.
    Raises as `stablegpu.stable`.
    """
    return stable(alpha, beta, loc, scale, parameterization=parameterization, device=device)


def to_scipy(law: Stable, parameterization: str = "S1") -> dict[str, float]:
    """alpha, beta, loc and scale: `scipy.stats.levy_stable(**law.to_scipy())`.

    For "S0" set `parameterization = "S0"` on that object.
    """
    law = law.to(parameterization)
    return {"alpha": law.alpha, "beta": law.beta, "loc": law.loc, "scale": law.scale}


def from_r(alpha, beta, gamma=1.0, delta=0.0, pm=0, *, device=None) -> Stable:
    """The law of R's `stabledist::dstable(x, alpha, beta, gamma, delta, pm)`, in S0, for pm = 1 S1.

    pm is 0, 1 or 2, counted as in `fBasics` and in Nolan's STABLE. Raises as `stablegpu.stable`.
    """
    pm = _checked(pm)
    if pm < 2:
        return stable(alpha, beta, delta, gamma, parameterization=f"S{pm}", device=device)
    law = stable(alpha, beta, delta, gamma, parameterization="S0", device=device)
    scale = law.scale * law.alpha ** (-1.0 / law.alpha)
    loc = law.loc - scale * _standard_mode(law.alpha, law.beta)
    return stable(alpha, beta, loc, scale, parameterization="S0", device=device)


def to_r(law: Stable, pm: int = 0) -> dict[str, float]:
    """alpha, beta, gamma, delta and pm as `dstable` of R takes them."""
    pm = _checked(pm)
    gamma, delta = law.scale, law.to("S1" if pm == 1 else "S0").loc
    if pm == 2:
        gamma, delta = law.scale * law.alpha ** (1.0 / law.alpha), mode(law)
    return {"alpha": law.alpha, "beta": law.beta, "gamma": gamma, "delta": delta, "pm": pm}


def _checked(pm) -> int:
    if isinstance(pm, bool) or pm not in (0, 1, 2):
        raise ValueError(f"pm must be 0, 1 or 2, got {pm!r}")
    return int(pm)


# ---- the mode --------------------------------------------------------------------------------

_DEGREE = 32


def mode(law: Stable) -> float:
    """Mode of a stable distribution, which has exactly one.

    It is the zero of the derivative of a polynomial through values of the density. The error is
    about 1e-12 of the width of the density's peak; for alpha < 0.9 this holds for the distance from
    S1's loc.
    """
    law = law.to(_anchor(law.alpha))
    return law.loc + law.scale * _mode_of(law.alpha, law.beta)


def _anchor(alpha: float) -> str:
    """Below 0.9 the peak may be narrow, and lies at S1's loc; near 1 that loc is far away."""
    return "S1" if alpha < 0.9 else "S0"


def _standard_mode(alpha: float, beta: float) -> float:
    """The mode of the standard S0 law."""
    return mode(stable(alpha, beta, parameterization="S0"))


@functools.lru_cache(maxsize=256)
def _mode_of(alpha: float, beta: float) -> float:
    """The mode of the standard law in the parameterisation that `_anchor` says."""
    if beta == 0.0 or alpha == 2.0:
        return 0.0
    law = stable(alpha, beta, parameterization=_anchor(alpha), device="cpu")
    nodes = np.polynomial.chebyshev.chebpts2(_DEGREE + 1)
    low, high = -10.0, 10.0
    while True:
        x = 0.5 * (low + high) + 0.5 * (high - low) * nodes
        values = law.pdf(x)
        best = int(np.argmax(values))
        fit = np.polynomial.Chebyshev.fit(x, values, _DEGREE, domain=(low, high))
        if np.abs(fit.coef[-3:]).max() < 1e-13 * np.abs(fit.coef).max():
            break
        low, high = x[max(best - 1, 0)], x[min(best + 1, _DEGREE)]
    zeros = fit.deriv().roots()
    zeros = zeros[np.abs(zeros.imag) < 1e-6 * (high - low)].real
    zeros = zeros[(zeros >= low) & (zeros <= high)]
    return float(zeros[np.argmax(fit(zeros))])
