"""The stable distribution as one of SciPy's, for all that takes a `scipy.stats.rv_continuous`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import levy_stable, rv_continuous

from stablegpu import functions
from stablegpu._fit.arguments import SCIPY_NAMES
from stablegpu._fit.limits import ALPHA_RANGE
from stablegpu.fitting import fit


def _standard(name: str) -> Callable[..., Any]:
    """Make the method that evaluates a function of the standard distribution at arrays."""
    function = getattr(functions, name)

    def method(self: Any, x: Any, alpha: Any, beta: Any) -> Any:
        return function(x, alpha, beta, parameterization=self._parameterization(), device="cpu")

    return method


def _moved(name: str, text: str, points: str = "x") -> Callable[..., Any]:
    """Make a method of `rv_continuous` whose first argument SciPy calls `points`."""
    inherited = getattr(rv_continuous, name)

    def method(self: Any, *args: Any, **kwds: Any) -> Any:
        x, args = (kwds.pop(points), args) if points in kwds else (args[0], args[1:])
        (alpha, beta), loc, scale = self._parse_args(*args, **kwds)
        loc = self._moved_location(alpha, beta, loc, scale)
        return inherited(self, x, alpha, beta, loc=loc, scale=scale)

    method.__name__, method.__doc__ = name, text
    return method


class _Stable(type(levy_stable)):  # type: ignore[misc]
    """SciPy's `levy_stable` with densities, probabilities, quantiles and fits of this package.

    `parameterization`, "S1" or "S0", is an attribute, as there; frozen distributions have their
    own. Random numbers are SciPy's.
    """

    _pdf = _standard("pdf")
    _logpdf = _standard("logpdf")
    _cdf = _standard("cdf")
    _logcdf = _standard("logcdf")
    _sf = _standard("sf")
    _logsf = _standard("logsf")
    _ppf = _standard("ppf")
    _isf = _standard("isf")

    def _moved_location(self, alpha: Any, beta: Any, loc: Any, scale: Any) -> Any:
        """Return the location for SciPy's methods: S1 is no family of scales for alpha = 1."""
        if self._parameterization() == "S0":
            return loc
        alpha, beta, scale = np.asarray(alpha), np.asarray(beta), np.asarray(scale)
        with np.errstate(divide="ignore", invalid="ignore"):
            return loc + np.where(alpha == 1.0, 2.0 / math.pi * beta * scale * np.log(scale), 0.0)

    def _unpack_loc_scale(self, theta: Any) -> Any:
        loc, scale, (alpha, beta) = super()._unpack_loc_scale(theta)
        return self._moved_location(alpha, beta, loc, scale), scale, (alpha, beta)

    def _zeta(self, alpha: Any, beta: Any) -> Any:
        """Return the location of S1, at which one-sided distributions end and the mean is."""
        if self._parameterization() == "S1":
            return np.zeros(np.broadcast(alpha, beta).shape)
        return -np.asarray(beta) * np.tan(0.5 * math.pi * np.asarray(alpha))

    def _get_support(self, alpha: Any, beta: Any) -> Any:
        alpha, beta = np.asarray(alpha), np.asarray(beta)
        end, is_one_sided = self._zeta(alpha, beta), (alpha > 0.0) & (alpha < 1.0)
        return (
            np.where(is_one_sided & (beta == 1.0), end, -np.inf),
            np.where(is_one_sided & (beta == -1.0), end, np.inf),
        )

    def _stats(self, alpha: Any, beta: Any) -> Any:
        mean = np.where(np.asarray(alpha) > 1.0, self._zeta(alpha, beta), np.nan)
        is_normal = np.equal(alpha, 2.0)
        higher = np.where(is_normal, 0.0, np.nan)
        return mean, np.where(is_normal, 2.0, np.inf), higher, higher

    def _entropy(self, alpha: Any, beta: Any) -> Any:
        from stablegpu.distributions.stable import stable

        return np.vectorize(lambda a, b: stable(a, b).entropy())(alpha, beta)

    pdf = _moved("pdf", "Return the density.")
    logpdf = _moved("logpdf", "Return the log of the density.")
    cdf = _moved("cdf", "Return the distribution function.")
    logcdf = _moved("logcdf", "Return the log of the distribution function.")
    sf = _moved("sf", "Return the survival function.")
    logsf = _moved("logsf", "Return the log of the survival function.")
    ppf = _moved("ppf", "Return quantiles.", "q")
    isf = _moved("isf", "Return quantiles of the upper tail.", "q")

    def fit(self, data: Any, *args: Any, **kwds: Any) -> Any:
        """Return alpha, beta, loc and scale by maximum likelihood (`stablegpu.fit`).

        Parameters are fixed by SciPy's names (`floc`, `fscale`, `f0` or `falpha`, ...). Starting
        values are not needed, and ignored. `method="MM"`, an `optimizer`, and alpha fixed below
        0.1 go to SciPy.
        """
        fixed = {SCIPY_NAMES[name]: kwds[name] for name in kwds if name in SCIPY_NAMES}
        others = set(kwds) - set(SCIPY_NAMES) - {"loc", "scale", "method"}
        by_scipy = others or str(kwds.get("method", "mle")).lower() != "mle"
        if by_scipy or fixed.get("alpha", ALPHA_RANGE[0]) < ALPHA_RANGE[0]:
            return super().fit(data, *args, **kwds)
        if len(fixed) == 4:
            raise ValueError("all parameters are fixed: there is nothing to fit")
        if type(data).__name__ != "CensoredData":
            data = np.ravel(data)  # SciPy fits one distribution to all of them
        result = fit(data, parameterization=self._parameterization(), fixed=fixed)
        return result.alpha, result.beta, result.loc, result.scale


scipy_stable = _Stable(name="scipy_stable")
