"""Value at risk and expected shortfall, and a test of the first."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hetero import Device, validation
from hetero.arrays import as_real
from hetero.equality import equal_by_value
from stablegpu._density.choose import evaluate
from stablegpu._density.half_line import half_lines
from stablegpu._density.tails.heavy_series import integrate_tail
from stablegpu._parameters import Parameters
from stablegpu._quantiles.quantile import quantile
from stablegpu.distributions.base import Distribution

if TYPE_CHECKING:
    import pandas
    from numpy.typing import ArrayLike


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)

_FAR = 1e5
"""Reciprocal of the ratio of the tail series' terms from which on the series is used."""


def value_at_risk(
    distribution: Distribution | Parameters,
    level: ArrayLike,
    *,
    of: str = "returns",
    evaluator: Any = None,
    device: str | Device | None = None,
) -> Any:
    """Return the loss that is not exceeded with probability `level`.

    See `Stable.value_at_risk`; `evaluator` and `device` are those of `stablegpu.stable`.
    """
    parameters = Parameters.of(distribution)
    level = _check_level(level)
    upper = not _is_of_returns(of)
    result = quantile(1.0 - level, parameters, upper=upper, evaluator=evaluator, device=device)
    return result if upper else -result


def expected_shortfall(
    distribution: Distribution | Parameters, level: ArrayLike, *, of: str = "returns"
) -> Any:
    """Return the mean of the losses beyond the value at risk; see `Stable.expected_shortfall`.

    With q the value at risk of the standard distribution in S0, p = 1 - level and L the loss,

        E(L | L > q) = q + (1/p) int_q^inf P(L > x) dx,

    where the integrand is accurate to its last digits far into the tail. Where consecutive terms of
    the series of the tail (Nolan 1997) decrease by 10^-5, it is integrated in closed form. For
    p > 1/2 the part below q is subtracted from the mean instead.
    """
    level = _check_level(level)
    losses = Parameters.of(distribution).converted("S0")
    if _is_of_returns(of):
        losses = Parameters(losses.alpha, -losses.beta, -losses.loc, losses.scale, "S0")
    means = [_mean_above(losses.alpha, losses.beta, 1.0 - v) for v in level.flat]
    return (losses.loc + losses.scale * np.array(means)).reshape(level.shape)[()]


@equal_by_value
@dataclass(frozen=True, eq=False)
class RiskEstimate:
    """An estimate of the value at risk or the expected shortfall; `float` gives its value.

    Attributes
    ----------
    measure : {"value_at_risk", "expected_shortfall"}
    level : float
        Probability that belongs to the value at risk.
    value : float
        The loss, as a positive number.
    stderr : float
        Standard error by the delta method; NaN if the fit has none, or the value is infinite.
    low, high : float
        Ends of the confidence interval.
    confidence : float
    method : {"delta", "profile"}
        How the interval was computed.
    failed : int
        Number of points of the profile at which the maximization failed; they are left out.
    of : {"returns", "losses"}
        What the data are.
    """

    measure: str
    level: float
    value: float
    stderr: float
    low: float
    high: float
    confidence: float
    method: str
    failed: int = 0
    of: str = "returns"

    @property
    def interval(self) -> tuple[float, float]:
        """Both ends of the confidence interval."""
        return self.low, self.high

    def __float__(self) -> float:
        return self.value

    def _repr_html_(self) -> str:
        from hetero.display.notebook import html_table

        rows = [(f"{self.level:g}", self.value, self.stderr, self.low, self.high)]
        title = (
            f"{self.measure.replace('_', ' ').capitalize()}, {100 * self.confidence:g} % interval "
            f"({self.method})"
        )
        return html_table(title, rows, ("level", "estimate", "standard error", "low", "high"))


@equal_by_value
@dataclass(frozen=True, eq=False)
class RiskEstimates:
    """Estimates of the value at risk or the expected shortfall of many fits.

    Attributes
    ----------
    measure, level, confidence, method, of : see `RiskEstimate`
    value, stderr, low, high : float64 arrays with an element for each fit; NaN where data could not
        be fitted
    failed : int64 array, number of points of each profile that are left out
    labels : those of the fits, or None
    """

    measure: str
    level: float
    value: np.ndarray
    stderr: np.ndarray
    low: np.ndarray
    high: np.ndarray
    confidence: float
    method: str
    failed: np.ndarray
    labels: Sequence[Any] | None = None
    of: str = "returns"

    @property
    def interval(self) -> tuple[np.ndarray, np.ndarray]:
        """Both ends of the confidence intervals."""
        return self.low, self.high

    def to_frame(self) -> pandas.DataFrame:
        """Return a pandas DataFrame with a row for each fit; its index has the labels."""
        import pandas

        names = ("value", "stderr", "low", "high", "failed")
        return pandas.DataFrame({name: getattr(self, name) for name in names}, index=self.labels)


@equal_by_value
@dataclass(frozen=True, eq=False)
class KupiecTest:
    """Result of `kupiec_test`.

    Attributes
    ----------
    exceedances : int
        Number of losses above the value at risk.
    observations : int
    expected : float
        Number of exceedances that the level promises, (1 - level) observations.
    statistic : float
        Twice the logarithm of the ratio of likelihoods.
    pvalue : float
        Probability of a larger statistic if the level is right (chi-square, one degree of freedom).
    """

    exceedances: int
    observations: int
    expected: float
    statistic: float
    pvalue: float


def kupiec_test(
    data: ArrayLike,
    value_at_risk: ArrayLike | RiskEstimate | RiskEstimates,
    level: float,
    *,
    of: str = "returns",
) -> KupiecTest:
    """Test a value at risk by the proportion of losses that exceed it (Kupiec 1995).

    With x exceedances of n and p = 1 - level the statistic is

        LR = 2 log[(x/n)^x (1 - x/n)^(n-x) / (p^x (1 - p)^(n-x))],

    for many observations chi-square with one degree of freedom. It has little power below some 250
    observations at 99 %, and is too kind to a value at risk that was fitted to the same data.

    Parameters
    ----------
    data : array_like of float, one dimension
        Returns or losses.
    value_at_risk : float, array_like of the shape of data, RiskEstimate or RiskEstimates
        Losses as positive numbers; one for all data, or that which was forecast for each.
    level : float in (0, 1)
    of : {"returns", "losses"}
        What the data are.

    Returns
    -------
    KupiecTest

    Raises
    ------
    ValueError : data are empty or not finite, a value at risk is NaN, or an estimate is that of
        another measure, of another level, or of losses instead of returns

    Examples
    --------
    >>> test = kupiec_test([-3.0, 1.0, 2.0, 0.5], 2.5, 0.9)
    >>> test.exceedances, round(test.statistic, 4)
    (1, 0.7407)
    """
    from scipy.special import gammaincc, xlogy

    level = validation.check_in_range("level", level, 0.0, 1.0, closed="neither")
    sign = -1.0 if _is_of_returns(of) else 1.0
    if isinstance(value_at_risk, RiskEstimate | RiskEstimates):
        for name, asked in (("measure", "value_at_risk"), ("level", level), ("of", of)):
            given = getattr(value_at_risk, name)
            if not (given == asked or (name == "level" and math.isclose(given, level))):
                raise ValueError(
                    f"value_at_risk must be an estimate with {name}={asked!r}, got {given!r}"
                )
        value_at_risk = value_at_risk.value
    losses, limits = sign * as_real("data", data), as_real("value_at_risk", value_at_risk)
    if losses.ndim != 1 or not losses.size or not np.isfinite(losses).all():
        raise ValueError("data must be finite values of one dimension, at least one")
    if limits.ndim and limits.shape != losses.shape:
        raise ValueError(
            f"value_at_risk must be a number or have the shape of data, {losses.shape}, got "
            f"{limits.shape}"
        )
    if np.isnan(limits).any():
        raise ValueError("value_at_risk must not be NaN")
    size, count = losses.size, int((losses > limits).sum())
    p, share = 1.0 - level, count / losses.size
    ratio = xlogy(count, share / p) + xlogy(size - count, (1.0 - share) / level)
    statistic = max(0.0, 2.0 * float(ratio))
    return KupiecTest(count, size, p * size, statistic, float(gammaincc(0.5, 0.5 * statistic)))


def _check_level(level: ArrayLike) -> np.ndarray:
    level = as_real("level", level)
    if not np.all((level > 0.0) & (level < 1.0)):
        raise ValueError(f"level must lie in (0, 1), got {level!r}")
    return level


def _is_of_returns(of: str) -> bool:
    return validation.check_choice("of", of, ("returns", "losses")) == "returns"


def _mean_above(alpha: float, beta: float, p: float) -> float:
    """Return E(X | X > q) with P(X > q) = p for the standard distribution in S0."""
    if alpha <= 1.0 and beta > -1.0:
        return math.inf
    standard = _standard(alpha, beta)
    q = quantile(p, standard, upper=True, device="cpu")
    if p <= 0.5:
        return q + _integrate_sf(alpha, beta, q) / p
    complement = 1.0 - p
    if alpha > 1.0:
        return (standard.mean - complement * q + _integrate_sf(alpha, -beta, -q)) / p
    median = quantile(0.5, standard, device="cpu")
    below = _integrate_sf(alpha, beta=-beta, q=-median, until=-q)
    return (median - complement * q + _integrate_sf(alpha, beta, median) - below) / p


@functools.lru_cache(maxsize=64)
def _standard(alpha: float, beta: float) -> Parameters:
    return Parameters.checked(alpha, beta, 0.0, 1.0, "S0")


def _integrate_sf(alpha: float, beta: float, q: float, until: float = math.inf) -> float:
    """Integrate P(X > x) from q, at the median or above, for the standard distribution in S0.

    The upper limit is infinity for alpha > 1 or a light right tail, else `until`.
    """
    standard, side = _standard(alpha, beta), half_lines(alpha, beta)[0]

    def sf(x: Any) -> Any:
        return evaluate(x, standard, names=("sf",), device="cpu").sf

    end = standard.support[1]
    if math.isfinite(end):
        # log P(X > x) is like minus a power -alpha/(1 - alpha) of end - x = (end - q) e^-t.
        step = 0.5 * min(1.0, (1.0 - alpha) / alpha)
        return (end - q) * _integrate(
            lambda t: sf(q - (end - q) * np.expm1(-t)) * np.exp(-t), step, math.inf
        )
    far, beyond = until, 0.0
    if math.isfinite(side.log_right) and alpha > 1.0:
        start = (_FAR * math.exp(-side.log_cos)) ** (1.0 / alpha)
        far, beyond = side.zeta + start, integrate_tail(side, max(start, q - side.zeta))
    if q >= far:
        return beyond
    # x = q + width (e^t - 1): the integrand varies on the scale of the width, later of x.
    result = evaluate(q, standard, device="cpu")
    width = math.exp(result.logsf - result.logpdf)
    body = _integrate(
        lambda t: sf(q + width * np.expm1(t)) * np.exp(t), 0.5, math.log1p((far - q) / width)
    )
    return beyond + width * body


def _integrate(function: Callable[[Any], Any], step: float, last: float) -> float:
    """Integrate a positive function from 0 to `last`, or to where it has decayed."""
    total, t = 0.0, 0.0
    while t < last:
        half = 0.5 * min(step, last - t)
        piece = half * float(function(t + half * (1.0 + _NODES)) @ _WEIGHTS)
        total, t = total + piece, t + 2.0 * half
        if piece <= 1e-18 * total:
            break
    return total
