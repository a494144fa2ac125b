"""Whether a search finds larger likelihoods than `stablegpu.fit` and `stablegpu.regress`.

No paper's figure: data of all kinds that `fit` takes, from 5 to 100,000 observations, and linear
models, against Nelder-Mead from 20 starts, of which the best are followed to the end. Densities and
probabilities of the search come from the characteristic function (`studies.stablegpu.inversion`).
`--size` sets the number of data sets of each kind, `--processes` how many are compared at a time,
and `--rows` a pattern for kinds and seeds, such as "rounded 1[3-9]$". An interrupted study goes on
where it was, unless files of the working tree have changed.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
import multiprocessing
import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
from scipy.optimize import minimize

import stablegpu
from hetero.measurement import environment
from stablegpu import stable
from studies.stablegpu.inversion import Inversion, end_of_half_lines
from studies.study import Study

STARTS, EVALUATIONS, LARGEST_ALLOWED = 20, 60, 1e-6

STAGES = ((150, 6, 0.3), (2000, 2, 0.05))
"""What follows after EVALUATIONS from each start: evaluations from some of the best points that are
apart, their number, and the size of the first simplex relative to that before."""

TOLERANCES = {"xatol": 1e-7, "fatol": 1e-9}

IMPOSSIBLE = 1e300
"""Cost of a point with no likelihood."""

BINNED = 3000
"""Observations above which a sample is gathered in bins."""

Cost = Callable[[np.ndarray], float]
Bounds = tuple[np.ndarray, np.ndarray]


def run(study: Study) -> dict:
    """Return by how much the search was better, at most, by kind of data."""
    sets, starts = (1, 2) if study.quick else (study.size or 50, STARTS)
    tasks = [
        (kind, seed, starts, str(study.device))
        for seed in range(sets)
        for kind in KINDS
        if re.search(study.rows, f"{kind} {seed}")
    ]
    rows = kept_rows(study) if not study.quick else {}
    missing = [task for task in tasks if task[:3] not in rows]
    study.cache.mkdir(parents=True, exist_ok=True)
    with kept_path(study).open("a", encoding="utf-8") as file:
        for task, row in compared(missing, 1 if study.quick else study.processes):
            rows[task[:3]] = row
            file.write(json.dumps([*task[:3], row]) + "\n")
            file.flush()
    worst: dict[str, float] = {}
    table, losses = [], []
    for kind in KINDS:
        part = {task[1]: rows[task[:3]] for task in tasks if task[0] == kind}
        if not part:
            continue
        gains = np.array([row["gain"] for row in part.values()])
        worst[kind] = float(gains.max())
        count = int((gains > LARGEST_ALLOWED).sum())
        seconds = float(np.mean([row["seconds"] for row in part.values()]))
        table.append((kind, len(part), worst[kind], count, seconds))
        losses += [
            (kind, seed, row["gain"], *(" ".join(f"{v:.6g}" for v in row[k]) for k in ENDS))
            for seed, row in part.items()
            if row["gain"] > LARGEST_ALLOWED
        ]
    heads = ("data", "sets", "largest gain of the search", "gains above 1e-6", "seconds of a set")
    study.table("Fits against Nelder-Mead", heads, table)
    if losses:
        study.table("Fits that were beaten", ("data", "seed", "gain", *ENDS), losses)
    return worst


ENDS = ("fit", "search")
"""Points that are kept: alpha, beta unless it is fixed, location, log scale, coefficients.

The location is that of S1 up to alpha = 1/2, where a spike must stay at a datum to the last digit
(`location_shift`)."""


def kept_path(study: Study) -> Path:
    """Return the file with the comparisons of this commit."""
    commit = (environment.commit() or "unknown").rstrip("+")
    return study.cache / f"maxima-{study.device.kind}-{commit[:12]}.jsonl"


def kept_rows(study: Study) -> dict[tuple, dict]:
    """Return the comparisons that an earlier run of the same sources has made."""
    path = kept_path(study)
    if (environment.commit() or "+").endswith("+"):
        path.unlink(missing_ok=True)
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {tuple(words[:3]): words[3] for words in map(json.loads, lines)}


def compared(tasks: list[tuple], processes: int) -> Iterator[tuple[tuple, dict]]:
    """Yield tasks with their comparisons, as they come."""
    if processes == 1:
        for task in tasks:
            yield compare(task)
        return
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # in the processes that follow
    context = multiprocessing.get_context("spawn")
    with context.Pool(processes, numba.set_num_threads, (1,)) as pool:
        yield from pool.imap_unordered(compare, tasks)


def compare(task: tuple[str, int, int, str]) -> tuple[tuple, dict]:
    """Compare the fit of one data set with a search: kind of data, seed, starts, device."""
    kind, seed, starts, device = task
    begin = time.perf_counter()
    with np.errstate(all="ignore"):
        row = KINDS[kind](np.random.default_rng(1000 + seed), starts, device)
    return task, row | {"seconds": time.perf_counter() - begin}


def search(
    cost: Cost, best: np.ndarray, bounds: Bounds, rng: np.random.Generator, starts: int
) -> dict[str, Any]:
    """Return by how much searches from several starts lower the cost of the fit.

    The first element of a point is alpha, the last ones are location, log scale and coefficients;
    beta may be among them.

    Raises
    ------
    RuntimeError
        The likelihood of the fit, or of all that the searches reach, is zero or not finite.
    """
    has_beta = np.isfinite(bounds[0][1])
    place = 1 + has_beta
    sizes = np.full(best.size, 0.3)
    sizes[place] *= math.exp(best[place + 1])

    def descend(start: np.ndarray, shares: float, evaluations: int, *, held: bool = False) -> Any:
        steps = np.diag(np.where(start + shares * sizes > bounds[1], -1.0, 1.0) * shares * sizes)
        steps[place] *= not held
        simplex = np.vstack([start, start + steps]).clip(*bounds)
        options = TOLERANCES | {"initial_simplex": simplex, "maxfev": evaluations}
        pairs = list(zip(*bounds, strict=True))
        return minimize(cost, start, method="Nelder-Mead", bounds=pairs, options=options)

    found = []
    for k in range(starts):
        start = best + (0.1 if k == 0 else 2.0) * sizes * rng.standard_normal(best.size)
        if k:
            start[0] = rng.uniform(max(0.3, bounds[0][0]), 1.98)
            start[1] = rng.uniform(-1.0, 1.0) if has_beta else start[1]
        found.append(descend(start.clip(*bounds), 1.0, EVALUATIONS))
    for evaluations, count, share in STAGES:
        found.sort(key=lambda result: result.fun)
        found = [descend(result.x, share, evaluations) for result in apart(found, sizes)[:count]]
    if best[0] < 0.5:  # a spike on a datum, which steps of the location would leave
        found.append(descend(best, 1.0, STAGES[-1][0], held=True))
    reached, lowest = cost(best), min(found, key=lambda result: result.fun)
    if not max(reached, lowest.fun) < IMPOSSIBLE:
        raise RuntimeError(f"cost {reached:g} of the fit, {lowest.fun:g} of the search at {best}")
    return {
        "gain": reached - lowest.fun, ENDS[0]: best.tolist(), ENDS[1]: lowest.x.tolist(),
    }  # fmt: skip


def apart(found: list, sizes: np.ndarray) -> list:
    """Return the results that are not next to a better one."""
    chosen: list = []
    for result in found:
        if all((np.abs(result.x - other.x) > 0.1 * sizes).any() for other in chosen):
            chosen.append(result)
    return chosen


def location_shift(alpha: float, beta: float) -> float:
    """Return S0's location less that of a search, in scales: the latter is S1's for small alpha."""
    return -end_of_half_lines(min(alpha, 0.5), beta)


def searched_location(distribution: stablegpu.Stable) -> float:
    """Return the location that searches vary."""
    if distribution.alpha <= 0.5:
        return float(distribution.to("S1").loc)
    shift = location_shift(distribution.alpha, distribution.beta)
    return float(distribution.to("S0").loc - distribution.scale * shift)


def standard_distribution(alpha: float, beta: float, z: np.ndarray) -> Inversion:
    """Return the standard distribution for points."""
    return Inversion(alpha, beta, float(np.abs(z[np.isfinite(z)]).max(initial=1.0)))


def log_likelihood(
    point: np.ndarray, x: np.ndarray, weights: np.ndarray | float, beta: float | None = None
) -> float:
    """Return the weighted sum of log densities; NaN or -inf where there is none."""
    alpha, beta, loc, log_scale = point[:4] if beta is None else np.insert(point, 1, beta)[:4]
    z = (x - loc) * math.exp(-log_scale) - location_shift(alpha, beta)
    logs = np.log(standard_distribution(alpha, beta, z).density(z)) - log_scale
    return float((weights * logs).sum())


def log_probability(
    point: np.ndarray, ends: np.ndarray, weights: np.ndarray, least: float | None
) -> float:
    """Return the log-likelihood of intervals, whose lower and upper ends are rows, above `least`.

    Intervals without width are exact observations.
    """
    alpha, beta, loc, log_scale = point[:4]
    shift = location_shift(alpha, beta)
    z = (ends - loc) * math.exp(-log_scale) - shift
    standard = standard_distribution(alpha, beta, z)
    exact = z[0] == z[1]
    values = np.empty(z.shape[1])
    values[exact] = standard.density(z[0, exact]) * math.exp(-log_scale)
    values[~exact] = standard.probability(*z[:, ~exact])
    total = float((weights * np.log(values)).sum())
    if least is not None:
        start = np.array([(least - loc) * math.exp(-log_scale) - shift])
        above = standard.probability(start, np.array([math.inf]))
        total -= float(weights.sum() * np.log(above[0]))
    return total


def binned(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return few points and weights that give the sum of any smooth function over a large sample.

    In each narrow bin of asinh x a polynomial through eight points stands for the function.
    """
    quartiles = np.quantile(x, [0.25, 0.5, 0.75])
    unit = 0.5 * (quartiles[2] - quartiles[0])
    u = np.sort(np.arcsinh((x - quartiles[1]) / unit))
    edges = np.concatenate(
        [np.arange(-40.0, -2.0, 0.25), np.linspace(-2, 2, 101), 2 + 0.25 * np.arange(1, 160)]
    )
    nodes = np.cos((np.arange(8) + 0.5) * (math.pi / 8.0))
    first = np.cos(np.outer(np.arange(8), np.arccos(nodes))) * (2.0 / 8.0)
    first[0] *= 0.5
    points, weights = [], []
    for low, high in itertools.pairwise(edges):
        part = u[np.searchsorted(u, low) : np.searchsorted(u, high)]
        if part.size:
            inner = (2.0 * part - low - high) / (high - low)
            sums = np.cos(np.outer(np.arange(8), np.arccos(inner.clip(-1.0, 1.0)))).sum(axis=1)
            points.append(0.5 * (low + high) + 0.5 * (high - low) * nodes)
            weights.append(sums @ first)
    return quartiles[1] + unit * np.sinh(np.concatenate(points)), np.concatenate(weights)


def guarded(likelihood: Callable[[np.ndarray], float]) -> Cost:
    """Return the cost that belongs to a log-likelihood."""

    def cost(point: np.ndarray) -> float:
        total = likelihood(point)
        return -total if math.isfinite(total) else IMPOSSIBLE

    return cost


def bounds_of(size: int, least_alpha: float, *, has_beta: bool = True) -> Bounds:
    """Return the least and the largest elements of points."""
    low = np.array([least_alpha, *[-1.0] * has_beta, *[-np.inf] * (size - 1 - has_beta)])
    high = np.array([2.0, *[1.0] * has_beta, *[np.inf] * (size - 1 - has_beta)])
    return low, high


def against_search(
    result: stablegpu.FitResult, rng: np.random.Generator, starts: int
) -> dict[str, Any]:
    """Return the gain of a search over a fit of one data set, whatever its observations are."""
    likelihood: Callable[[np.ndarray], float]
    if (ends := result.intervals) is not None:
        pairs, counts = np.unique(np.stack([ends.lower, ends.upper]), axis=1, return_counts=True)
        likelihood = functools.partial(
            log_probability, ends=pairs, weights=counts, least=ends.truncation
        )
    else:
        x, weights = np.unique(np.asarray(result.data), return_counts=True)
        if x.size > BINNED:
            x, weights = binned(np.asarray(result.data))
        likelihood = functools.partial(
            log_likelihood, x=x, weights=weights, beta=result.fixed.get("beta")
        )
    d = result.distribution
    best = np.array([d.alpha, d.beta, searched_location(d), math.log(d.scale)])
    has_beta = "beta" not in result.fixed
    best = best if has_beta else np.delete(best, 1)
    bounds = bounds_of(best.size, result.smallest_alpha, has_beta=has_beta)
    return search(guarded(likelihood), best, bounds, rng, starts)


def draw(rng: np.random.Generator, size: int | None = None) -> np.ndarray:
    """Return a sample of a random distribution, between 60 and 400 observations."""
    size = int(rng.integers(60, 400)) if size is None else size
    alpha, beta = rng.uniform(0.6, 1.98), rng.uniform(-1.0, 1.0)
    return np.asarray(stable(alpha, beta, device="cpu").rvs(size, rng=int(rng.integers(1 << 30))))


def exact(rng: np.random.Generator, starts: int, device: str) -> dict[str, Any]:
    """Compare a fit of exact data."""
    return against_search(stablegpu.fit(draw(rng), device=device), rng, starts)


def few(rng: np.random.Generator, starts: int, device: str) -> dict[str, Any]:
    """Compare a fit of few data."""
    data = draw(rng, int(rng.integers(5, 20)))
    return against_search(stablegpu.fit(data, device=device), rng, starts)


def many(rng: np.random.Generator, starts: int, device: str) -> dict[str, Any]:
    """Compare a fit of 1000 to 100,000 data."""
    data = draw(rng, round(10.0 ** rng.uniform(3.0, 5.0)))
    return against_search(stablegpu.fit(data, device=device), rng, starts)


def with_ties(rng: np.random.Generator, starts: int, device: str) -> dict[str, Any]:
    """Compare a fit of data of which a tenth is equal."""
    data = draw(rng)
    data[: data.size // 10] = np.median(data)
    return against_search(stablegpu.fit(data, device=device), rng, starts)


def two_clusters(rng: np.random.Generator, starts: int, device: str) -> dict[str, Any]:
    """Compare a fit of two normal clusters."""
    data = np.concatenate([rng.normal(0.0, 1.0, 80), rng.normal(6.0, 0.3, 60)])
    return against_search(stablegpu.fit(data, device=device), rng, starts)


def one_sided(rng: np.random.Generator, starts: int, device: str) -> dict[str, Any]:
    """Compare a fit with beta fixed at 1 or -1."""
    result = stablegpu.fit(draw(rng), fixed={"beta": float(rng.choice([-1.0, 1.0]))}, device=device)
    return against_search(result, rng, starts)


def rounded(rng: np.random.Generator, starts: int, device: str) -> dict[str, Any]:
    """Compare a fit of rounded data."""
    step = float(rng.choice([0.1, 0.5, 1.0]))
    data = np.round(draw(rng) / step) * step
    return against_search(stablegpu.fit(data, rounding=step, device=device), rng, starts)


def censored(rng: np.random.Generator, starts: int, device: str) -> dict[str, Any]:
    """Compare a fit of data that are censored at both quantiles."""
    data = draw(rng)
    low, high = np.quantile(data, [0.1, 0.85])
    lower = np.where(data < low, -math.inf, np.minimum(data, high))
    upper = np.where(data > high, math.inf, np.maximum(data, low))
    return against_search(stablegpu.fit(lower=lower, upper=upper, device=device), rng, starts)


def truncated(rng: np.random.Generator, starts: int, device: str) -> dict[str, Any]:
    """Compare a fit of data above their lowest decile."""
    data = draw(rng, 400)
    low = float(np.quantile(data, 0.1))
    result = stablegpu.fit(data[data > low], truncation=low, device=device)
    return against_search(result, rng, starts)


def regression(rng: np.random.Generator, starts: int, device: str) -> dict[str, Any]:
    """Compare a linear model."""
    x = rng.standard_normal((200, 2))
    y = x @ [1.0, -2.0] + draw(rng, 200)
    model = stablegpu.regress(y, x, device=device)
    shift = float(model.scale) * location_shift(float(model.alpha), float(model.beta))
    point = [model.alpha, model.beta, model.intercept - shift, math.log(float(model.scale))]
    best = np.array([*point, *model.coefficients], float)
    cost = guarded(lambda p: log_likelihood(p, y - x @ p[4:], 1.0))
    return search(cost, best, bounds_of(best.size, 0.1), rng, starts)


KINDS = {
    "exact": exact,
    "5 to 20 observations": few,
    "1000 to 100,000 observations": many,
    "a tenth equal": with_ties,
    "two clusters": two_clusters,
    "beta = 1 or -1": one_sided,
    "rounded": rounded,
    "censored": censored,
    "truncated": truncated,
    "linear model": regression,
}
"""Comparisons by the kind of data."""
