"""Quantiles of distributions whose parameters differ from point to point."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hetero.arrays import as_real
from hetero.distributed.engines import Engine
from stablegpu._density.pointwise.evaluate import check_arguments, check_values, evaluate_by
from stablegpu._numerics.arrays_in_parts import require_host_array
from stablegpu._parameters import PARAMETERS, Parameters, tan_half_pi
from stablegpu._quantiles.quantile import quantile, quantile_in_parts

_CENTRED = 0.1  # distance of alpha from 1 within which S0 is searched, as for one distribution
_LARGEST = 600.0  # of asinh(x); quantiles beyond, perhaps beyond floats, are searched singly
_LARGEST_LIGHT = 7.0  # of the light tail for alpha = 1, whose logarithm is -inf there
_MOST_STEPS = 90
_FREE_STEPS = 5  # after which a step must have half of the length of the one before
_NEAR = 1e-6  # relative length of steps that need not, because rounding may lengthen them
_DONE = 4e-16  # relative step; a Newton step before is then exact to rounding


def quantiles(
    arguments: tuple[Any, ...], parameterization: str, upper: bool, engine: Engine
) -> Any:
    """Return x with P(X <= x) = p, or P(X > x) = p if `upper`; all arguments broadcast.

    Newton's method for the logarithm of the nearer tail's probability over s = asinh(x), within a
    bracket, for all points at once. The derivative by s is nearly constant in heavy tails.
    """
    for name, values in zip(("p", *PARAMETERS), arguments, strict=True):
        require_host_array(name, values)
    p, *parameters = arguments
    p = check_values("p", as_real("p", p))
    named, shape = check_arguments((p, *parameters), parameterization)
    flat = [np.broadcast_to(v, shape).reshape(-1) for v in named.values()]
    p, alpha, beta, loc, scale = flat
    if all(named[name].size == 1 for name in PARAMETERS):
        if not p.size:
            return p.reshape(shape)
        one = Parameters.checked(
            *(float(alpha[0]), float(beta[0]), float(loc[0]), float(scale[0])), parameterization
        )
        if engine.is_single:
            values = quantile(p, one, upper=upper, device=engine.local)
        else:
            values = quantile_in_parts(p, one, engine, upper=upper)
        return np.asarray(values).reshape(shape)[()]
    in_s0 = np.abs(alpha - 1.0) < _CENTRED
    result = np.full(p.size, np.nan)
    inside = (p > 0.0) & (p < 1.0)
    for chosen, form in ((inside & in_s0, "S0"), (inside & ~in_s0, "S1")):
        if chosen.any():
            result[chosen] = _search(p[chosen], alpha[chosen], beta[chosen], form, upper, engine)
    missing = np.flatnonzero(np.isinf(result))
    with np.errstate(invalid="ignore"):
        result = _moved(result, alpha, beta, loc, scale, in_s0, parameterization)
    ends = np.flatnonzero((p == 0.0) | (p == 1.0))
    for k in ends:
        one = Parameters.checked(alpha[k], beta[k], loc[k], scale[k], parameterization)
        result[k] = one.support[int((p[k] == 1.0) != upper)]
    for k in missing:
        one = Parameters.checked(alpha[k], beta[k], loc[k], scale[k], parameterization)
        result[k] = quantile(p[k : k + 1], one, upper=upper, device=engine.local)[0]
    return result.reshape(shape)[()]


def _search(
    p: np.ndarray, alpha: np.ndarray, beta: np.ndarray, form: str, upper: bool, engine: Engine
) -> np.ndarray:
    """Return quantiles of standard distributions in one parameterization; +-inf: not found."""
    names = ("logpdf", "logcdf", "logsf")
    at_zero = evaluate_by(engine, (np.zeros(p.size), alpha, beta, 0.0, 1.0), form, names)
    below = at_zero["logsf"] if upper else at_zero["logcdf"]
    with np.errstate(divide="ignore"):
        log_p, log_rest = np.log(p), np.log1p(-p)
    # Searched is the tail beyond x on the side of zero where x lies.
    is_right = (log_p < below) if upper else (log_p > below)
    target = np.where(is_right, log_p if upper else log_rest, log_rest if upper else log_p)
    sign = np.where(is_right, 1.0, -1.0)
    low, s = np.zeros(p.size), np.full(p.size, 0.5)
    is_light = (alpha == 1.0) & (beta == -sign)
    high = np.where(is_light, _LARGEST_LIGHT, _LARGEST)
    active, last = np.arange(p.size), np.full(p.size, np.inf)
    for number in range(_MOST_STEPS):
        a, side, t = active, sign[active], s[active]
        x = side * np.sinh(t)
        values = evaluate_by(engine, (x, alpha[a], beta[a], 0.0, 1.0), form, names)
        tail = np.where(side > 0.0, values["logsf"], values["logcdf"])
        excess = tail - target[a]
        low[a] = np.where(excess > 0.0, t, low[a])
        high[a] = np.where(excess > 0.0, high[a], t)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            rate = np.exp(values["logpdf"] - tail) * np.cosh(t)  # minus the derivative by s
            new = t + excess / rate
            # Far out in a steep peak at zero: the logarithm of s is searched.
            by_log = t * np.exp(np.clip(excess / (rate * t), -3.0, 3.0))
        new = np.where(np.isfinite(new) & (new > low[a]) & (new < high[a]), new, by_log)
        middle = 0.5 * (low[a] + high[a])
        middle = np.where(
            (low[a] > 0.0) & (high[a] > 4.0 * low[a]), np.sqrt(low[a] * high[a]), middle
        )
        bad = ~((new > low[a]) & (new < high[a]))
        # Next to alpha = 2 Newton's steps may go to and fro between the body and the tail.
        length = np.abs(new - t)
        bad |= (number >= _FREE_STEPS) & (length > 0.5 * last[a]) & (length > _NEAR * t)
        new = np.where(bad, np.where(low[a] > 0.0, middle, 0.125 * high[a]), new)
        s[a], last[a] = new, np.abs(new - t)
        is_done = (np.abs(new - t) <= _DONE * t) | (excess == 0.0) | (new == 0.0)
        s[a] = np.where(excess == 0.0, t, new)
        active = a[~is_done]
        if not active.size:
            break
    # Those at the bound, and those that no step has enclosed closely enough.
    is_open = (high == _LARGEST) & (s > 0.99 * _LARGEST)
    is_open[active[high[active] - low[active] > _NEAR * s[active]]] = True
    return sign * np.where(is_open, np.inf, np.sinh(s))


def _moved(
    x: np.ndarray,
    alpha: np.ndarray,
    beta: np.ndarray,
    loc: np.ndarray,
    scale: np.ndarray,
    in_s0: np.ndarray,
    parameterization: str,
) -> np.ndarray:
    """Return standardized variables, S0's where `in_s0`, as those of the given parameters."""
    moves = in_s0 == (parameterization == "S1")
    shift = np.zeros(x.size)
    for k in np.flatnonzero(moves):
        if alpha[k] == 1.0:
            shift[k] = beta[k] * 2.0 / math.pi * math.log(scale[k])
        else:
            shift[k] = (1.0 if in_s0[k] else -1.0) * beta[k] * tan_half_pi(float(alpha[k]))
    return loc + scale * (x + shift)
