"""Base of continuous distributions, which need only a density and quantiles.

A distribution implements `_evaluate` and `_quantile`, and the moments that exist.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hetero import validation
from stablegpu._parameters import NAMES

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from stablegpu.evaluators import Evaluation


_NARROW = 0.1
"""Difference of log-probabilities up to which `log_probability` integrates the density."""


class Distribution(abc.ABC):
    """A continuous distribution with the methods of SciPy's frozen ones."""

    @abc.abstractmethod
    def _evaluate(
        self,
        x: ArrayLike,
        names: tuple[str, ...],
        evaluator: Any = None,
        out: Mapping[str, Any] | None = None,
    ) -> Evaluation:
        """Evaluate the functions of these names, by this evaluator or that of the distribution."""

    @abc.abstractmethod
    def _quantile(self, p: ArrayLike, upper: bool, out: Any) -> Any:
        """Return x with cdf(x) = p, or with sf(x) = p if `upper`."""

    @abc.abstractmethod
    def var(self) -> float:
        """Return the variance."""

    def _evaluate_one(self, name: str, x: ArrayLike, out: Any) -> Any:
        return getattr(self._evaluate(x, (name,), out={name: out}), name)

    def pdf(self, x: ArrayLike, *, out: Any = None) -> Any:
        """Return the density at `x`.

        Parameters
        ----------
        x : array_like of float
            Any shape; NaN gives NaN, +-inf gives 0. Arrays on a GPU are evaluated there.
        out : array, optional
            float64, C-contiguous, the shape and the device of `x`.

        Returns
        -------
        float64 array of the kind and shape of `x`; a float for a scalar.

        Notes
        -----
        The relative error is at most 1e-13 + 8 eps (|x dlogpdf/dx| + alpha |dlogpdf/dalpha|) on all
        1118 reference points: alpha in [0.1, 2], near and at 1, |x| <= 1e6, both tails, near zeta.
        The second term is the effect of rounding x and alpha. The median is 5e-16. The same holds
        for all functions here.
        """
        return self._evaluate_one("pdf", x, out)

    def logpdf(self, x: ArrayLike, *, out: Any = None) -> Any:
        """Return the log of the density, also where the density underflows; see `pdf`."""
        return self._evaluate_one("logpdf", x, out)

    def cdf(self, x: ArrayLike, *, out: Any = None) -> Any:
        """Return P(X <= x), to full relative accuracy in the left tail; see `pdf`."""
        return self._evaluate_one("cdf", x, out)

    def logcdf(self, x: ArrayLike, *, out: Any = None) -> Any:
        """Return log P(X <= x), to full relative accuracy in both tails; see `pdf`."""
        return self._evaluate_one("logcdf", x, out)

    def sf(self, x: ArrayLike, *, out: Any = None) -> Any:
        """Return P(X > x), to full relative accuracy in the right tail; see `pdf`."""
        return self._evaluate_one("sf", x, out)

    def logsf(self, x: ArrayLike, *, out: Any = None) -> Any:
        """Return log P(X > x), to full relative accuracy in both tails; see `pdf`."""
        return self._evaluate_one("logsf", x, out)

    def ppf(self, p: ArrayLike, *, out: Any = None) -> Any:
        """Return x with cdf(x) = p, to full relative accuracy in the left tail.

        p = 0 and p = 1 give the ends of the support; NaN and values outside [0, 1] give NaN.
        """
        return self._quantile(p, False, out)

    def isf(self, p: ArrayLike, *, out: Any = None) -> Any:
        """Return x with sf(x) = p, to full relative accuracy in the right tail; see `ppf`."""
        return self._quantile(p, True, out)

    def log_probability(self, lower: ArrayLike, upper: ArrayLike) -> Any:
        """Return log P(lower < X <= upper), to full relative accuracy in both tails.

        Parameters
        ----------
        lower, upper : array_like of float in host memory
            Ends of intervals, whose shapes broadcast; infinite for open ones. Where both are equal
            the result is the log-density, which is the contribution of an exact observation to a
            likelihood.

        Returns
        -------
        float64 array of the broadcast shape; a float for scalars.

        Notes
        -----
        It is a difference of distribution functions or survival functions, or where these differ by
        less than a tenth an integral of the density by Gauss's rule.

        Examples
        --------
        >>> from stablegpu import stable
        >>> round(float(stable(1.5, 0.0).log_probability(1e6, 1e6 + 1e-3)), 6)
        -42.253543
        """
        return log_interval_probability(self, lower, upper)

    def pdf_cdf(self, x: ArrayLike, *, out: Any = None) -> tuple[Any, Any]:
        """Return the density and the distribution function by one evaluation of the integrals
        (Julian-Moreno et al. 2016, section 3.3).

        `out` is a pair of arrays, as for `pdf`.
        """
        names = ("pdf", "cdf")
        if out is not None and not (isinstance(out, tuple | list) and len(out) == 2):
            raise TypeError("out must be a pair of arrays, for pdf and cdf")
        arrays = dict(zip(names, out or (None, None), strict=True))
        result = self._evaluate(x, names, out=arrays)
        return result.pdf, result.cdf

    def evaluate(
        self, x: ArrayLike, *, evaluator: Any = None, out: Mapping[str, Any] | None = None
    ) -> Evaluation:
        """Return all six functions at `x`: a `stablegpu.Evaluation`.

        Parameters
        ----------
        evaluator : as for `stable`, for this call
            `stablegpu.Quadrature(panels, order, tolerance)` sets the Gauss-Kronrod rule; its
            estimate of the error is part of the result.
        out : dict of arrays by name, optional
        """
        return self._evaluate(x, NAMES, evaluator, out)

    def std(self) -> float:
        """Return the standard deviation, infinite for alpha < 2."""
        return math.sqrt(self.var())

    def median(self) -> float:
        """Return the 50 % quantile."""
        return self.ppf(0.5)

    def interval(self, confidence: float) -> tuple[float, float]:
        """Return the central interval of probability `confidence` in [0, 1]."""
        confidence = validation.check_in_range("confidence", confidence, 0.0, 1.0)
        tail = 0.5 * (1.0 - confidence)
        return self.ppf(tail), self.isf(tail)


def log_interval_probability(distribution: Any, lower: ArrayLike, upper: ArrayLike) -> Any:
    """Return `Distribution.log_probability` of any distribution with logpdf, logcdf and logsf."""
    import numpy as np

    from hetero.arrays import as_real

    low, high = np.broadcast_arrays(as_real("lower", lower), as_real("upper", upper))
    logsf_low, logcdf_high = distribution.logsf(low), distribution.logcdf(high)
    is_right = logsf_low < logcdf_high
    with np.errstate(invalid="ignore", divide="ignore"):
        nearer = np.where(is_right, logsf_low, logcdf_high)
        fall = nearer - np.where(is_right, distribution.logsf(high), distribution.logcdf(low))
        result = np.atleast_1d(nearer + np.log(-np.expm1(-fall)))
    narrow = np.atleast_1d((fall < _NARROW) & np.isfinite(low) & np.isfinite(high))
    if narrow.any():
        nodes, weights = np.polynomial.legendre.leggauss(12)
        a, b = np.atleast_1d(low)[narrow], np.atleast_1d(high)[narrow]
        logs = distribution.logpdf(a[:, None] + 0.5 * (b - a)[:, None] * (1.0 + nodes))
        top = logs.max(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = top + np.log(0.5 * (np.exp(logs - top[:, None]) @ weights))
            result[narrow] = np.where(a == b, logs[:, 0], mean + np.log(b - a))
    return result.reshape(low.shape)[()]
