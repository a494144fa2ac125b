"""Value at risk and expected shortfall."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from hetero import Device, validation
from hetero.arrays import as_real
from stablegpu._density.choose import evaluate
from stablegpu._density.half_line import half_lines
from stablegpu._density.tail_series import integrate_tail
from stablegpu._parameters import Parameters
from stablegpu._quantiles.quantile import quantile

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from stablegpu.distribution import Stable

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)

_FAR = 1e5
"""Reciprocal of the ratio of the tail series' terms from which on the series is used."""


def value_at_risk(
    distribution: Stable | Parameters,
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
    distribution: Stable | Parameters, level: ArrayLike, *, of: str = "returns"
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
