"""The stable distribution as one of SciPy's, for all that takes a `scipy.stats.rv_continuous`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.stats import levy_stable, rv_continuous

from stablegpu import functions
from stablegpu._fit.limits import ALPHA_RANGE
from stablegpu.fitting import fit

_FIXED = {"f0": "alpha", "fa": "alpha", "fix_a": "alpha", "falpha": "alpha", "fix_alpha": "alpha"}
_FIXED |= {"f1": "beta", "fb": "beta", "fbeta": "beta", "fix_beta": "beta"}
_FIXED |= {"floc": "loc", "fscale": "scale"}
"""Parameters by the arguments of SciPy's `fit` that fix them."""


class _Stable(type(levy_stable)):  # type: ignore[misc]
    """SciPy's `levy_stable` with densities, probabilities, quantiles and fits of this package.

    `parameterization`, "S1" or "S0", is an attribute, as there; frozen distributions have their
    own. Random numbers are SciPy's.
    """

    def _values(self, name: str, *arguments: Any) -> Any:
        """Evaluate a function of the standard distribution at broadcast arrays."""
        function = getattr(functions, name)
        return function(*arguments, parameterization=self._parameterization(), device="cpu")

    def _pdf(self, x: Any, alpha: Any, beta: Any) -> Any:
        return self._values("pdf", x, alpha, beta)

    def _logpdf(self, x: Any, alpha: Any, beta: Any) -> Any:
        return self._values("logpdf", x, alpha, beta)

    def _cdf(self, x: Any, alpha: Any, beta: Any) -> Any:
        return self._values("cdf", x, alpha, beta)

    def _logcdf(self, x: Any, alpha: Any, beta: Any) -> Any:
        return self._values("logcdf", x, alpha, beta)

    def _sf(self, x: Any, alpha: Any, beta: Any) -> Any:
        return self._values("sf", x, alpha, beta)

    def _logsf(self, x: Any, alpha: Any, beta: Any) -> Any:
        return self._values("logsf", x, alpha, beta)

    def _ppf(self, q: Any, alpha: Any, beta: Any) -> Any:
        return self._values("ppf", q, alpha, beta)

    def _isf(self, q: Any, alpha: Any, beta: Any) -> Any:
        return self._values("isf", q, alpha, beta)

    def _entropy(self, alpha: Any, beta: Any) -> Any:
        from stablegpu.distribution import stable

        return np.vectorize(lambda a, b: stable(a, b).entropy())(alpha, beta)

    def _moved(self, method: str, x: Any, *args: Any, **kwds: Any) -> Any:
        """Call a method of `rv_continuous` where S1 with alpha = 1 is no family of scales."""
        (alpha, beta), loc, scale = self._parse_args(*args, **kwds)
        if self._parameterization() == "S1":
            with np.errstate(divide="ignore", invalid="ignore"):
                shift = 2.0 / math.pi * np.asarray(beta) * scale * np.log(scale)
            loc = loc + np.where(np.asarray(alpha) == 1.0, shift, 0.0)
        return getattr(rv_continuous, method)(self, x, alpha, beta, loc=loc, scale=scale)

    def pdf(self, x: Any, *args: Any, **kwds: Any) -> Any:
        """Return the density."""
        return self._moved("pdf", x, *args, **kwds)

    def logpdf(self, x: Any, *args: Any, **kwds: Any) -> Any:
        """Return the log of the density."""
        return self._moved("logpdf", x, *args, **kwds)

    def cdf(self, x: Any, *args: Any, **kwds: Any) -> Any:
        """Return the distribution function."""
        return self._moved("cdf", x, *args, **kwds)

    def logcdf(self, x: Any, *args: Any, **kwds: Any) -> Any:
        """Return the log of the distribution function."""
        return self._moved("logcdf", x, *args, **kwds)

    def sf(self, x: Any, *args: Any, **kwds: Any) -> Any:
        """Return the survival function."""
        return self._moved("sf", x, *args, **kwds)

    def logsf(self, x: Any, *args: Any, **kwds: Any) -> Any:
        """Return the log of the survival function."""
        return self._moved("logsf", x, *args, **kwds)

    def ppf(self, q: Any, *args: Any, **kwds: Any) -> Any:
        """Return quantiles."""
        return self._moved("ppf", q, *args, **kwds)

    def isf(self, q: Any, *args: Any, **kwds: Any) -> Any:
        """Return quantiles of the upper tail."""
        return self._moved("isf", q, *args, **kwds)

    def fit(self, data: Any, *args: Any, **kwds: Any) -> Any:
        """Return alpha, beta, loc and scale by maximum likelihood (`stablegpu.fit`).

        Parameters are fixed by SciPy's names (`floc`, `fscale`, `f0` or `falpha`, ...). Starting
        values are not needed, and ignored. `method="MM"`, an `optimizer`, and alpha fixed below
        0.1 go to SciPy.
        """
        fixed = {_FIXED[name]: kwds[name] for name in kwds if name in _FIXED}
        others = set(kwds) - set(_FIXED) - {"loc", "scale", "method"}
        by_scipy = others or str(kwds.get("method", "mle")).lower() != "mle"
        if by_scipy or fixed.get("alpha", ALPHA_RANGE[0]) < ALPHA_RANGE[0]:
            return super().fit(data, *args, **kwds)
        if len(fixed) == 4:
            raise ValueError("all parameters are fixed: there is nothing to fit")
        result = fit(data, parameterization=self._parameterization(), fixed=fixed)
        return result.alpha, result.beta, result.loc, result.scale


scipy_stable = _Stable(name="scipy_stable")
