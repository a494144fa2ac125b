"""Base of continuous distributions, which need only a density and quantiles.

A distribution implements `_evaluate` and `_quantile`, and the moments that exist.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from hetero import Device, validation
from stablegpu._parameters import NAMES, Parameters

if TYPE_CHECKING:
    from concurrent.futures import Executor

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


@dataclass(frozen=True)
class StableMoments(Distribution):
    """Moments and other expectations of a stable distribution, whose attributes these are."""

    parameters: Parameters = field(repr=False)
    device: str | Device | tuple[str | Device, ...] | None = None
    evaluator: Any = None
    executor: Executor | None = None
    comm: Any = None

    def support(self) -> tuple[float, float]:
        """Return the ends of the support: one is finite for alpha < 1 and beta = +-1."""
        return self.parameters.support

    def mean(self) -> float:
        """Return the expectation, infinite or NaN for alpha <= 1.

        For alpha <= 1 it is infinite if beta = +-1, since one tail is heavy and the other light. If
        |beta| < 1 it does not exist, and the result is NaN.
        """
        return self.parameters.mean

    def var(self) -> float:
        """Return the variance: 2 scale^2 for alpha = 2, else infinite."""
        return 2.0 * self.parameters.scale**2 if self.parameters.alpha == 2.0 else math.inf

    def stats(self, moments: str = "mv") -> tuple[float, ...]:
        """Return mean "m", variance "v", skewness "s" and excess kurtosis "k", in SciPy's order.

        Skewness and kurtosis exist for alpha = 2 only, where both are 0; NaN otherwise.
        """
        higher = 0.0 if self.parameters.alpha == 2.0 else math.nan
        values = {"m": self.mean(), "v": self.var(), "s": higher, "k": higher}
        if not isinstance(moments, str) or not moments or not set(moments) <= set(values):
            raise ValueError(
                "moments must be text of the letters m, v, s, k, got "
                f"{validation.describe(moments)}"
            )
        return tuple(values[letter] for letter in values if letter in moments)

    def moment(self, order: int) -> float:
        """Return E X^order for a whole order >= 0; infinite or NaN where it does not exist.

        For alpha < 2 that of order 1 is the mean, even orders are infinite, and odd ones beyond the
        first are infinite if one tail alone is heavy, else NaN.
        """
        order = validation.check_integer("order", order, 0)
        if order == 0:
            return 1.0
        if order == 1:
            return self.mean()
        if self.parameters.alpha < 2.0:
            if order % 2 == 0:
                return math.inf
            beta = self.parameters.beta
            return math.copysign(math.inf, beta) if abs(beta) == 1.0 else math.nan
        # Normal with standard deviation sqrt(2) scale: the recursion of its moments.
        before, now = 1.0, self.parameters.loc
        for k in range(1, order):
            before, now = now, self.parameters.loc * now + k * self.var() * before
        return now

    def expect(
        self,
        func: Callable[[Any], Any] | None = None,
        *,
        lb: float = -math.inf,
        ub: float = math.inf,
        conditional: bool = False,
    ) -> float:
        """Return E func(X), or the part of it from X in [lb, ub].

        Parameters
        ----------
        func : function of an array of points to an array of numbers; by default X itself
            Smooth as a function of asinh(x - loc): oscillations far out are not resolved. The error
            is then about 1e-10 of the integral of |func|.
        lb, ub : float
            Ends of the integral.
        conditional : bool
            Divide by the probability of [lb, ub].

        Raises
        ------
        ValueError : the integral has not converged where the largest floats are reached
        """
        from stablegpu._density.expectations import integrate

        lb = validation.check_bound("lb", lb)
        ub = validation.check_bound("ub", ub)
        if not lb <= ub:
            raise ValueError(f"lb must be at most ub, got lb={lb:g}, ub={ub:g}")
        density = replace(self, device="cpu", executor=None, comm=None).pdf
        function = (lambda x: x) if func is None else func
        total = integrate(self.parameters, density, function, lb, ub)
        return total / math.exp(self.log_probability(lb, ub)) if conditional else total

    def entropy(self) -> float:
        """Return the differential entropy, -E log pdf(X), in nats; the error is about 1e-10."""
        standard = replace(self, parameters=replace(self.parameters, loc=0.0, scale=1.0))
        return math.log(self.parameters.scale) + standard.expect(lambda x: -standard.logpdf(x))


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
