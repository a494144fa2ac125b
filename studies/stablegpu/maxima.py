"""Whether a search finds larger likelihoods than `stablegpu.fit` and `stablegpu.regress`.

No paper's figure: data of all kinds that `fit` takes, and linear models, against Nelder-Mead from
20 starts, of which the best three are polished. Quadrature, which shares no nodes with the fits,
judges what a fit and a search have reached.
`--size` sets the number of data sets of each kind. Each core compares one set at a time.
"""

from __future__ import annotations

import math
import multiprocessing
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from scipy.optimize import minimize

import stablegpu
from stablegpu import stable
from stablegpu._distribution import log_interval_probability
from studies.study import Study

STARTS, POLISHED, LARGEST_ALLOWED = 20, 3, 1e-6

ROUGH = {"xatol": 1e-3, "fatol": 1e-3, "maxfev": 300}
FINE = {"xatol": 1e-8, "fatol": 1e-10, "maxiter": 3000, "maxfev": 3000}
"""Options of SciPy's Nelder-Mead for all starts, and for the best ones."""

IMPOSSIBLE = 1e300
"""Cost of a point with no likelihood."""


def run(study: Study) -> dict:
    """Return by how much the search was better, at most, by kind of data."""
    sets = 1 if study.quick else study.size or (30 if study.device.kind == "cuda" else 4)
    tasks = [
        (kind, seed, 1 if study.quick else STARTS, str(study.device))
        for kind in KINDS
        for seed in range(sets)
    ]
    if study.quick:
        gains = list(map(compute_gain, tasks))
    else:
        context = multiprocessing.get_context("spawn")
        with context.Pool(initializer=numba.set_num_threads, initargs=(1,)) as pool:
            gains = pool.map(compute_gain, tasks, chunksize=1)
    worst: dict[str, float] = {}
    rows = []
    for k, kind in enumerate(KINDS):
        part = gains[k * sets : (k + 1) * sets]
        worst[kind] = float(max(part))
        count = sum(bool(gain > LARGEST_ALLOWED) for gain in part)
        rows.append((kind, sets, worst[kind], count))
    heads = ("data", "sets", "largest gain of the search", "gains above 1e-6")
    study.table("Fits against Nelder-Mead", heads, rows)
    return worst


def compute_gain(task: tuple[str, int, int, str]) -> float:
    """Return the gain of the search over one fit: kind of data, seed, starts, device."""
    kind, seed, starts, device = task
    return KINDS[kind](np.random.default_rng(1000 + seed), starts, device)


def gain_of(
    cost: Callable[[np.ndarray, str | None], float],
    best: np.ndarray,
    rng: np.random.Generator,
    starts: int,
    *,
    has_beta: bool = True,
) -> float:
    """Return by how much searches from several starts lower the cost of the fit.

    The cost takes a point and an evaluator of densities. The first element of a point is alpha, and
    if it `has_beta`, the second one is beta.

    Raises
    ------
    RuntimeError
        The likelihood of the fit, or of all that the searches reach, is zero or not finite.
    """
    free = [(-np.inf, np.inf)] * (best.size - 1 - has_beta)
    low, high = np.array([(0.1, 2.0), *[(-1.0, 1.0)] * has_beta, *free]).T

    def search(start: np.ndarray, options: dict) -> Any:
        bounds = list(zip(low, high, strict=True))
        return minimize(
            cost, start, args=(None,), method="Nelder-Mead", bounds=bounds, options=options
        )

    found = []
    for k in range(starts):
        start = best + (0.02 if k == 0 else 0.5) * rng.standard_normal(best.size)
        start[0] = rng.uniform(0.4, 1.95) if k else start[0]
        found.append(search(np.clip(start, low, high), ROUGH))
    found.sort(key=lambda result: result.fun)
    polished = [search(result.x, FINE).x for result in found[:POLISHED]]
    reached, lowest = cost(best, "quadrature"), min(cost(x, "quadrature") for x in polished)
    if not max(reached, lowest) < IMPOSSIBLE:
        raise RuntimeError(f"cost {reached:g} of the fit, {lowest:g} of the search at {best}")
    return reached - lowest


def distribution_at(point: np.ndarray, evaluator: str | None) -> Any:
    """Return the distribution at alpha, beta, S0's location and log scale; None if out of range."""
    alpha, beta, loc, log_scale = point[:4]
    if not (0.1 <= alpha <= 2.0 and -1.0 <= beta <= 1.0 and abs(log_scale) < 50.0):
        return None
    return stable(
        *(alpha, beta, loc, math.exp(log_scale)),
        parameterization="S0", evaluator=evaluator, device="cpu",
    )  # fmt: skip


def against_search(
    result: stablegpu.FitResult, rng: np.random.Generator, starts: int, lower: float | None = None
) -> float:
    """Return the gain of a search over a fit of one data set, whatever its observations are."""
    ends, x = result.intervals, np.asarray(result.data)
    weights = np.ones(x.size) if result.weights is None else np.asarray(result.weights)
    if ends is not None:  # equal intervals count once
        pairs = np.stack([ends.lower, ends.upper], axis=1)
        pairs, same = np.unique(pairs, axis=0, return_inverse=True)
        weights = np.bincount(same.reshape(-1), weights)
    least = result.smallest_alpha

    def cost(point: np.ndarray, evaluator: str | None) -> float:
        full = point if "beta" not in result.fixed else np.insert(point, 1, result.fixed["beta"])
        distribution = distribution_at(full, evaluator)
        if distribution is None or full[0] < least:
            return IMPOSSIBLE
        with np.errstate(all="ignore"):
            if ends is None:
                logs = distribution.logpdf(x)
            else:
                logs = log_interval_probability(distribution, *pairs.T)
                if ends.truncation is not None:
                    logs = logs - distribution.logsf(ends.truncation)
            total = float((weights * logs).sum())
        return -total if math.isfinite(total) else IMPOSSIBLE

    d = result.distribution.to("S0")
    best = np.array([d.alpha, d.beta, d.loc, math.log(d.scale)])
    has_beta = "beta" not in result.fixed
    return gain_of(cost, best if has_beta else np.delete(best, 1), rng, starts, has_beta=has_beta)


def draw(rng: np.random.Generator, size: int | None = None) -> np.ndarray:
    """Return a sample of a random distribution, between 60 and 400 observations."""
    size = int(rng.integers(60, 400)) if size is None else size
    alpha, beta = rng.uniform(0.6, 1.98), rng.uniform(-1.0, 1.0)
    return np.asarray(stable(alpha, beta, device="cpu").rvs(size, rng=int(rng.integers(1 << 30))))


def exact(rng: np.random.Generator, starts: int, device: str) -> float:
    """Compare a fit of exact data."""
    return against_search(stablegpu.fit(draw(rng), device=device), rng, starts)


def few(rng: np.random.Generator, starts: int, device: str) -> float:
    """Compare a fit of few data."""
    data = draw(rng, int(rng.integers(5, 20)))
    return against_search(stablegpu.fit(data, device=device), rng, starts)


def with_ties(rng: np.random.Generator, starts: int, device: str) -> float:
    """Compare a fit of data of which a tenth is equal."""
    data = draw(rng)
    data[: data.size // 10] = np.median(data)
    return against_search(stablegpu.fit(data, device=device), rng, starts)


def two_clusters(rng: np.random.Generator, starts: int, device: str) -> float:
    """Compare a fit of two normal clusters."""
    data = np.concatenate([rng.normal(0.0, 1.0, 80), rng.normal(6.0, 0.3, 60)])
    return against_search(stablegpu.fit(data, device=device), rng, starts)


def one_sided(rng: np.random.Generator, starts: int, device: str) -> float:
    """Compare a fit with beta fixed at 1 or -1."""
    result = stablegpu.fit(draw(rng), fixed={"beta": float(rng.choice([-1.0, 1.0]))}, device=device)
    return against_search(result, rng, starts)


def rounded(rng: np.random.Generator, starts: int, device: str) -> float:
    """Compare a fit of rounded data."""
    step = float(rng.choice([0.1, 0.5, 1.0]))
    data = np.round(draw(rng) / step) * step
    return against_search(stablegpu.fit(data, rounding=step, device=device), rng, starts)


def censored(rng: np.random.Generator, starts: int, device: str) -> float:
    """Compare a fit of data that are censored at both quantiles."""
    data = draw(rng)
    low, high = np.quantile(data, [0.1, 0.85])
    lower = np.where(data < low, -math.inf, np.minimum(data, high))
    upper = np.where(data > high, math.inf, np.maximum(data, low))
    return against_search(stablegpu.fit(lower=lower, upper=upper, device=device), rng, starts)


def truncated(rng: np.random.Generator, starts: int, device: str) -> float:
    """Compare a fit of data above their lowest decile."""
    data = draw(rng, 400)
    low = float(np.quantile(data, 0.1))
    result = stablegpu.fit(data[data > low], truncation=low, device=device)
    return against_search(result, rng, starts)


def regression(rng: np.random.Generator, starts: int, device: str) -> float:
    """Compare a linear model."""
    x = rng.standard_normal((200, 2))
    y = x @ [1.0, -2.0] + draw(rng, 200)
    model = stablegpu.regress(y, x, device=device)

    def cost(point: np.ndarray, evaluator: str | None) -> float:
        distribution = distribution_at(point, evaluator)
        if distribution is None:
            return IMPOSSIBLE
        total = float(distribution.logpdf(y - x @ point[4:]).sum())
        return -total if math.isfinite(total) else IMPOSSIBLE

    point = [model.alpha, model.beta, model.intercept, math.log(float(model.scale))]
    return gain_of(cost, np.array([*point, *model.coefficients], float), rng, starts)


KINDS = {
    "exact": exact,
    "5 to 20 observations": few,
    "a tenth equal": with_ties,
    "two clusters": two_clusters,
    "beta = 1 or -1": one_sided,
    "rounded": rounded,
    "censored": censored,
    "truncated": truncated,
    "linear model": regression,
}
"""Comparisons by the kind of data."""
