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


def _moved(name: str, text: str) -> Callable[..., Any]:
    """Make a method of `rv_continuous` for S1, where alpha = 1 is no family of scales."""
    inherited = getattr(rv_continuous, name)

    def method(self: Any, x: Any, *args: Any, **kwds: Any) -> Any:
        (alpha, beta), loc, scale = self._parse_args(*args, **kwds)
        if self._parameterization() == "S1":
            with np.errstate(divide="ignore", invalid="ignore"):
                shift = 2.0 / math.pi * np.asarray(beta) * scale * np.log(scale)
            loc = loc + np.where(np.asarray(alpha) == 1.0, shift, 0.0)
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

    def _entropy(self, alpha: Any, beta: Any) -> Any:
        from stablegpu.distributions.stable import stable

        return np.vectorize(lambda a, b: stable(a, b).entropy())(alpha, beta)

    pdf = _moved("pdf", "Return the density.")
    logpdf = _moved("logpdf", "Return the log of the density.")
    cdf = _moved("cdf", "Return the distribution function.")
    logcdf = _moved("logcdf", "Return the log of the distribution function.")
    sf = _moved("sf", "Return the survival function.")
    logsf = _moved("logsf", "Return the log of the survival function.")
    ppf = _moved("ppf", "Return quantiles.")
    isf = _moved("isf", "Return quantiles of the upper tail.")

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
        result = fit(data, parameterization=self._parameterization(), fixed=fixed)
        return result.alpha, result.beta, result.loc, result.scale


scipy_stable = _Stable(name="scipy_stable")
