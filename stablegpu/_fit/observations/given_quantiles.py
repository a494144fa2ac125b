"""Fits to quantiles that are given without the data, by generalized least squares."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from hetero import validation
from stablegpu._fit.limits import ALPHA_RANGE, BETA_RANGE
from stablegpu._parameters import PARAMETERS, Parameters
from stablegpu.distributions.stable import Stable

_INSIDE = 1e-9  # distance of parameters from their bounds during the search
_AT_ONE = 1e-8  # distance of alpha from 1 within which S1's location would lose half of its digits
_COUNTS = 1000.0  # observations that are assumed for starting values


def fit_quantiles(
    quantiles: Mapping[float, float],
    n: int | None,
    parameterization: str,
    fixed: Mapping[str, Any] | None,
    device: Any,
    fit: Callable[..., Any],
) -> Any:
    """Fit a distribution to quantiles by their probabilities; `fit` is `stablegpu.fit`.

    With e_i = f(q_i) (x_i - q_i), where q_i are the quantiles of the distribution and f its density
    there, the asymptotic covariance of order statistics is that of a Brownian bridge: increments of
    e between neighbouring probabilities are independent, up to their sum. The starting values are
    those of the interval likelihood.
    """
    from scipy.optimize import least_squares

    p, x = _check(quantiles, n, fixed)
    shares = np.diff(p, prepend=0.0, append=1.0)
    start = fit(
        lower=np.concatenate([[-math.inf], x]),
        upper=np.concatenate([x, [math.inf]]),
        weights=_COUNTS * shares,
        parameterization=parameterization,
        fixed=fixed,
        device=device,
    )
    fixed_values = start.fixed
    free = [name for name in PARAMETERS if name not in fixed_values]
    # The search is in units of the start, where differences lose no digits. A fixed location stays
    # that of the caller's parameterization; where `fit` takes one in S1, it moves as in S0.
    in_s0 = start.distribution.to("S0")
    unit, centre, moves_in_s0 = in_s0.scale, in_s0.loc, "loc" in free
    form = "S0" if moves_in_s0 else parameterization
    z = (x - centre) / unit
    standard = {name: getattr(start, name) for name in PARAMETERS}
    standard["scale"] /= unit
    standard["loc"] = (standard["loc"] - centre) / unit

    def distribution_of(point: np.ndarray) -> Stable:
        values = standard | dict(zip(free, point.tolist(), strict=True))
        if "scale" in free:
            values["scale"] = math.exp(values["scale"])
        return Stable(Parameters.checked(**values, parameterization=form), "cpu")

    def residuals(point: np.ndarray) -> np.ndarray:
        distribution = distribution_of(point)
        q = distribution.ppf(p)
        errors = distribution.pdf(q) * (z - q)
        return np.diff(errors, prepend=0.0, append=0.0) / np.sqrt(shares)

    first = {"alpha": start.alpha, "beta": start.beta, "loc": 0.0, "scale": 0.0}
    bounds = {
        "alpha": ALPHA_RANGE,
        "beta": BETA_RANGE,
        "loc": (-10.0, 10.0),
        "scale": (-10.0, 10.0),
    }
    low, high = (np.array([bounds[name][k] for name in free]) for k in (0, 1))
    guess = np.clip([first[name] for name in free], low + 0.05, high - 0.05)
    solution = least_squares(residuals, guess, bounds=(low + _INSIDE, high - _INSIDE), xtol=1e-12)
    point = solution.x
    if "alpha" in free and moves_in_s0 and abs(point[0] - 1.0) < _AT_ONE:
        point[0] = 1.0
    found = distribution_of(point)
    best = Stable(
        Parameters.checked(
            found.alpha, found.beta, centre + unit * found.loc, unit * found.scale, form
        )
    )
    covariance, at_end = np.zeros((4, 4)), np.minimum(solution.x - low, high - solution.x) < 1e-6
    rows = [PARAMETERS.index(name) for name in free]
    inner = np.full((len(free), len(free)), np.nan)
    if n is not None:
        inside = ~at_end
        jacobian = solution.jac[:, inside]
        inner[np.ix_(inside, inside)] = np.linalg.pinv(jacobian.T @ jacobian) / n
    covariance[np.ix_(rows, rows)] = inner
    result = best.to(parameterization)
    units = np.array([1.0, 1.0, unit, unit])
    slope = _slope(best, result, unit, moves_in_s0) / units[:, None]
    covariance = slope @ np.nan_to_num(covariance) @ slope.T
    unknown = np.array([name in free and (n is None or bool(at_end[free.index(name)]))
                        for name in PARAMETERS])  # fmt: skip
    covariance[unknown] = covariance[:, unknown] = np.nan
    # Roots before units: squares of scales may leave the range of floats.
    errors = units * np.sqrt(np.diag(covariance))
    with np.errstate(over="ignore"):
        covariance = units[:, None] * covariance * units
    names = [name for name, is_at in zip(free, at_end, strict=True) if is_at]
    estimates = {name: getattr(result, name) for name in PARAMETERS} | fixed_values
    return type(start)(
        **{name: float(value) for name, value in estimates.items()},
        parameterization=parameterization,
        method="quantiles",
        size=p.size,
        message=f"at the boundary of the estimator's range: {', '.join(names)}" if names else "",
        status="converged" if solution.success else "exhausted",
        covariance=covariance,
        stderr=dict(zip(PARAMETERS, errors.tolist(), strict=True)),
        evaluations=int(solution.nfev),
        fixed={name: float(value) for name, value in fixed_values.items()},
        device=device,
        nobs=math.nan if n is None else float(n),
    )


def _check(
    quantiles: Mapping[float, float], n: int | None, fixed: Mapping[str, Any] | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return probabilities and quantiles in ascending order; raise an error for bad ones."""
    if not hasattr(quantiles, "items"):
        raise TypeError(
            "quantiles must be a dict or a series of quantiles by probabilities, such as "
            f"{{0.05: -1.9, 0.5: 0.1}}, got {validation.describe(quantiles)}"
        )
    pairs = sorted(
        (
            validation.check_finite("a probability of quantiles", p),
            validation.check_finite("a quantile", x),
        )
        for p, x in quantiles.items()
    )
    free = 4 - len(fixed or {})
    if not free:
        raise ValueError("fixed holds all parameters: nothing is left to fit to quantiles")
    if len(pairs) < free:
        raise ValueError(
            f"quantiles must hold at least as many as there are free parameters, {free}, got "
            f"{len(pairs)}: fix some with fixed="
        )
    p, x = np.array(pairs).T
    if not ((p > 0.0) & (p < 1.0)).all():
        raise ValueError(f"probabilities of quantiles must lie in (0, 1), got {p.tolist()}")
    if not (np.diff(p) > 0.0).all() or not (np.diff(x) > 0.0).all():
        raise ValueError(
            "quantiles must increase with their probabilities, which must differ, got "
            f"{x.tolist()} for {p.tolist()}"
        )
    if n is not None:
        validation.check_integer("n", n, len(pairs))
    return p, x


def _slope(best: Stable, result: Stable, unit: float, moves_in_s0: bool) -> np.ndarray:
    """Return derivatives of the result's parameters by the coordinates of the search."""
    slope = np.diag([1.0, 1.0, unit if moves_in_s0 else 1.0, best.scale])
    if moves_in_s0 and result.parameterization == "S1":
        step = 1e-6
        for k, name in enumerate(("alpha", "beta", "scale")):
            ends = []
            for sign in (-1.0, 1.0):
                values = {n: getattr(best, n) for n in PARAMETERS} | {"loc": 0.0}
                bound = {"alpha": 2.0, "beta": 1.0}.get(name, math.inf)
                values[name] = max(min(values[name] + sign * step * (1.0 if k < 2 else best.scale),
                                       bound), -bound)  # fmt: skip
                moved = Parameters.checked(**values, parameterization="S0").converted("S1")
                ends.append((values[name], moved.loc))
            column = k if k < 2 else 3
            rate = (ends[1][1] - ends[0][1]) / (ends[1][0] - ends[0][0])
            slope[2, column] = rate * slope[column, column]
    return slope
