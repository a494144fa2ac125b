"""Confidence intervals of the value at risk and the expected shortfall of a fit.

Both measures of a loss are shifted and scaled like the data: with the measure m(alpha, beta) of the
standard distribution in S0, that of a distribution is location + scale m(alpha, beta).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from hetero import validation
from hetero.arrays import on_host
from stablegpu import risk
from stablegpu._fit.limits import ALPHA_RANGE, BETA_RANGE
from stablegpu._inference.failures import require_converged
from stablegpu._inference.profile_curve import trace_profile
from stablegpu._parameters import PARAMETERS, Parameters
from stablegpu.distribution import stable
from stablegpu.risk import RiskEstimate, RiskEstimates

if TYPE_CHECKING:
    from stablegpu._fit.fitted import Fitted, FittedSets

_STEP = 1e-4
"""Relative step of central differences: their error is near 1e-8, that of rounding 1e-9."""

_REACH, _POINTS = 1.6, 15
"""Distance of a profile's first points from the estimate in half lengths of the symmetric interval,
and their number: their steps are small enough for interpolation, and others follow if need be."""


def estimate_risk(
    result: Fitted, measure: str, level: float, of: str, confidence: float, method: str
) -> RiskEstimate:
    """Estimate "value_at_risk" or "expected_shortfall"; see `FitResult.value_at_risk`."""
    from scipy.special import ndtri

    level, confidence = _check(level, of, confidence, method)
    limit, failed = float(ndtri(0.5 + 0.5 * confidence)), 0
    distribution = result.distribution
    value = float(getattr(distribution, measure)(level, of=of))
    stderr = _delta_error(result, measure, level, of) if math.isfinite(value) else math.nan
    low, high = value - limit * stderr, value + limit * stderr
    if method == "profile":
        profile = _RiskProfile(result, measure, level, of)
        reach = _REACH * limit * stderr
        curve = trace_profile(
            profile.logliks_at, value, reach, (-math.inf, math.inf), limit, _POINTS
        )
        low, high, failed = float(curve.low), float(curve.high), curve.failed
    return RiskEstimate(measure, level, value, stderr, low, high, confidence, method, failed, of)


def estimate_risks(
    results: FittedSets, measure: str, level: float, of: str, confidence: float, method: str
) -> RiskEstimates:
    """Estimate a measure of the risk of every fit; see `FitResults.value_at_risk`."""
    level, confidence = _check(level, of, confidence, method)
    rows = np.full((len(results), 4), np.nan)
    failed = np.zeros(len(results), np.int64)
    for k in np.flatnonzero(np.isfinite(results.alpha)):
        one = estimate_risk(results.one(int(k)), measure, level, of, confidence, method)
        rows[k], failed[k] = (one.value, one.stderr, one.low, one.high), one.failed
    value, stderr, low, high = rows.T
    return RiskEstimates(
        *(measure, level, value, stderr, low, high, confidence, method, failed),
        *(results.labels, of),
    )


def _check(level: float, of: str, confidence: float, method: str) -> tuple[float, float]:
    """Return level and confidence as floats; raise an error if an argument has no meaning."""
    validation.check_choice("of", of, ("returns", "losses"))
    validation.check_choice("method", method, ("delta", "profile"))
    level = validation.check_in_range("level", level, 0.0, 1.0, closed="neither")
    return level, validation.check_in_range("confidence", confidence, 0.0, 1.0, closed="neither")


def _risk_of(theta: np.ndarray, form: str, measure: str, level: float, of: str) -> float:
    """Return the measure of the distribution with parameters theta."""
    alpha, beta, loc, scale = theta.tolist()
    parameters = Parameters.checked(alpha, beta, loc, scale, form)
    return float(getattr(risk, measure)(parameters, level, of=of))


def _delta_error(result: Fitted, measure: str, level: float, of: str) -> float:
    """Return the standard error of the measure, from its gradient and the covariance.

    Parameters that are fixed or at a boundary are taken as known, as the covariance of the others
    does. It is NaN if no parameter has a covariance.
    """
    theta = np.array(list(result.params.values()))
    known = [name in result.fixed for name in PARAMETERS]
    covariance = np.full((4, 4), np.nan) if result.covariance is None else result.covariance
    free = [k for k in range(4) if not known[k] and math.isfinite(covariance[k, k])]
    if not free and not all(known):
        return math.nan
    sizes = np.array([1.0, 1.0, result.scale, result.scale])
    if result.parameterization == "S1" and result.beta:
        sizes[0] = min(1.0, abs(result.alpha - 1.0) / (4.0 * _STEP))  # S1 jumps at alpha = 1
    gradient = np.zeros(4)
    for k in free:
        step = _STEP * sizes[k]
        ends = theta + np.outer((-step, step), np.arange(4) == k)
        ends[:, 0] = np.clip(ends[:, 0], *ALPHA_RANGE)
        ends[:, 1] = np.clip(ends[:, 1], *BETA_RANGE)
        low, high = (_risk_of(end, result.parameterization, measure, level, of) for end in ends)
        gradient[k] = (high - low) / (ends[1, k] - ends[0, k])
    part = np.ix_(free, free)
    return math.sqrt(max(0.0, gradient[free] @ np.asarray(covariance)[part] @ gradient[free]))


class _RiskProfile:
    """The largest log-likelihood of the data under each value of a measure of risk.

    The measure determines the location from the other parameters, or the scale if the location is
    fixed; the likelihood is maximized over the rest.
    """

    def __init__(self, result: Fitted, measure: str, level: float, of: str) -> None:
        result.require_data()
        require_converged(result)
        if result.method != "ml":
            raise ValueError(
                f"method='profile' needs a fit with method='ml', got method={result.method!r}"
            )
        if {"loc", "scale"} <= result.fixed.keys():
            raise ValueError("method='profile' needs a fit whose loc or scale is not fixed")
        if "loc" in result.fixed and result.parameterization == "S1" and result.beta:
            raise ValueError(
                "method='profile' needs a fit whose loc is not fixed in S1: fix it with "
                "parameterization='S0'"
            )
        self._measure, self._level, self._of = measure, level, of
        self._sign = -1.0 if of == "returns" else 1.0
        self._data = on_host(result.data)
        self._weights = None if result.weights is None else on_host(result.weights)
        start = result.distribution.to("S0")
        self._theta = {name: getattr(start, name) for name in PARAMETERS}
        self._depends = "scale" if "loc" in result.fixed else "loc"
        self._found: dict[float, list[float]] = {}
        self._free = [n for n in PARAMETERS if n not in result.fixed and n != self._depends]

    def logliks_at(self, values: np.ndarray) -> np.ndarray:
        """Return the largest log-likelihoods with the measure at each of the values."""
        return np.array([self._largest(float(value)) for value in values])

    def _largest(self, value: float) -> float:
        """Return the largest log-likelihood with the measure at this value; NaN if it fails."""
        from scipy.optimize import minimize

        if not self._free:
            return -self._cost(np.empty(0), value)
        nearest = min(self._found, key=lambda known: abs(known - value), default=None)
        start = self._coordinates() if nearest is None else self._found[nearest]
        bounds = {"alpha": ALPHA_RANGE, "beta": BETA_RANGE}
        found = minimize(
            self._cost,
            start,
            args=(value,),
            method="L-BFGS-B",
            bounds=[bounds.get(name, (None, None)) for name in self._free],
        )
        if not found.success and found.fun < _NO_LIKELIHOOD:
            return math.nan  # not the largest one
        self._found[value] = found.x.tolist()
        return -float(found.fun)

    def _coordinates(self) -> list[float]:
        """Return the free parameters of the fit; the location in scales, the scale's logarithm."""
        scale = self._theta["scale"]
        units = {"loc": self._theta["loc"] / scale, "scale": 0.0}
        return [units.get(name, self._theta[name]) for name in self._free]

    def _cost(self, point: np.ndarray, value: float) -> float:
        """Return minus the log-likelihood at the free coordinates; large where there is none."""
        theta, size = dict(self._theta), self._theta["scale"]
        for name, coordinate in zip(self._free, point.tolist(), strict=True):
            if name == "loc":
                coordinate *= size
            elif name == "scale":
                coordinate = size * math.exp(min(coordinate, _LARGEST_EXPONENT))
            theta[name] = coordinate
        standard = np.array([theta["alpha"], theta["beta"], 0.0, 1.0])
        unit = self._sign * _risk_of(standard, "S0", self._measure, self._level, self._of)
        if self._depends == "loc":
            theta["loc"] = self._sign * value - theta["scale"] * unit
        else:
            theta["scale"] = (self._sign * value - theta["loc"]) / unit
        if not (math.isfinite(theta["loc"]) and 0.0 < theta["scale"] < math.inf):
            return _NO_LIKELIHOOD
        logpdf = stable(**theta, parameterization="S0", device="cpu").logpdf(self._data)
        if self._weights is not None:
            logpdf = (self._weights * logpdf)[self._weights > 0.0]
        total = float(logpdf.sum())
        return -total if math.isfinite(total) else _NO_LIKELIHOOD


_LARGEST_EXPONENT = 700.0  # of a number that float64 holds

_NO_LIKELIHOOD = 1e300
"""Cost of parameters under which the data are impossible, or the measure is infinite."""
