"""stablegpu: times of fits, their likelihoods against searches, and their errors against bounds.

The last two are not speeds: the quality of a fit is as much a result as its time.
"""

from __future__ import annotations

import collections
from functools import partial
from typing import Any

import numpy as np

import hetero
import stablegpu
from benchmarks.measurements import Measurement, empty
from stablegpu._parameters import PARAMETERS

ALPHAS = (0.3, 0.75, 1.02, 1.5, 1.9)
"""Values of alpha at which single fits are timed."""

SHAPES = [(alpha, beta) for alpha in (0.5, 0.8, 1.0, 1.3, 1.5, 1.8) for beta in (0.0, 0.5)]
"""Pairs (alpha, beta) at which errors are compared with the bound."""

SIZE = 1000
"""Observations in a sample."""

PUBLISHED = {
    "libstable, published (mean)": 11291.476,
    "GPU grid, K40, published (mean)": 20.07744,
}
"""Milliseconds of a maximum-likelihood fit of 1000 observations, the mean over a grid of parameters
with alpha >= 0.6 (Julian-Moreno et al. 2016, table 9). libstable ran on a Xeon E5-2630 v2."""


def run(device: hetero.Device, quick: bool) -> list[Measurement]:
    """Measure all figures of the suite."""
    gpu = device.kind == "cuda"
    figures = [one(device, alpha) for alpha in (ALPHAS[3:4] if quick else ALPHAS)]
    figures += many(device, 20 if quick else 100_000 if gpu else 200)
    figures += large(device, 20_000 if quick else 100_000_000 if gpu else 1_000_000)
    figures += against_searches(device, *((3, 2) if quick else (200, 8) if gpu else (10, 4)))
    replicas = 50 if quick else 2000 if gpu else 400
    for alpha, beta in SHAPES[:1] if quick else SHAPES:
        figures += against_the_bound(device, alpha, beta, replicas)
    for beta in () if quick else (0.0, 0.5):  # 1000 observations are still few for alpha 1.8
        figures += against_the_bound(device, 1.8, beta, replicas, 4 * SIZE)
    return figures


# ---- times -------------------------------------------------------------------------------------


def one(device: hetero.Device, alpha: float) -> Measurement:
    """Time a single fit, on one core of a CPU."""
    x = stablegpu.stable(alpha, 0.3, parameterization="S0").rvs(SIZE, rng=1)
    with hetero.use_threads(1):
        timing = hetero.benchmark(lambda: stablegpu.fit(x, device=device), device=device)
    return Measurement(
        f"maximum-likelihood fit of {SIZE:,} observations, alpha {alpha}",
        timing.median * 1e3,
        "ms",
        peers=PUBLISHED,
        note="NumPy in" if device.kind == "cuda" else "one thread",
        timing=timing.as_dict(),
    )


def many(device: hetero.Device, sets: int) -> list[Measurement]:
    """Time fits of many samples at once, drawn from four distributions on the device."""
    shares = [sets // 4] * 3 + [sets - 3 * (sets // 4)]
    data = empty(device, sets * SIZE)
    first = 0
    for alpha, share in zip((1.5, 0.7, 1.0, 1.8), shares, strict=True):
        distribution = stablegpu.stable(alpha, 0.3, parameterization="S0", device=device)
        last = first + share * SIZE
        distribution.rvs(out=data[first:last], rng=1)
        first = last
    rows, figures = data.reshape((sets, SIZE)), []
    for method in ("ml", "mcculloch", "koutrouvelis"):
        call = partial(stablegpu.fit, rows, method=method, device=device)
        timing = hetero.benchmark(call, repeats=5, device=device)
        figures.append(
            Measurement(
                f"{sets:,} fits of {SIZE:,} observations, {method}",
                timing.median,
                "s",
                note="alpha 1.5, 0.7, 1 and 1.8; data on the device, results on the host",
                timing=timing.as_dict(),
            )
        )
    return figures


def large(device: hetero.Device, size: int) -> list[Measurement]:
    """Time fits of one large sample by three methods."""
    distribution = stablegpu.stable(1.6, 0.3, device=device)
    x = distribution.rvs(out=empty(device, size), rng=1)
    figures = []
    for method in ("ml", "mcculloch", "koutrouvelis"):
        call = partial(stablegpu.fit, x, method=method, device=device)
        timing = hetero.benchmark(call, repeats=5, device=device)
        note = "data on the device"
        figures.append(
            Measurement(
                f"fit of {size:,} observations, {method}",
                timing.median,
                "s",
                note=note,
                timing=timing.as_dict(),
            )
        )
    return figures


# ---- likelihoods -------------------------------------------------------------------------------


def distributions(count: int) -> list:
    """Return random distributions: alpha in (0.2, 2), beta in (-1, 1)."""
    rng = np.random.default_rng(7)
    pairs = [(rng.uniform(0.2, 2.0), rng.uniform(-1.0, 1.0)) for _ in range(count)]
    return [stablegpu.stable(*pair, 0.5, 2.0, parameterization="S0") for pair in pairs]


def problems(count: int) -> np.ndarray:
    """Draw a sample from each of the `distributions`, a row each."""
    return np.array([d.rvs(SIZE, rng=k) for k, d in enumerate(distributions(count))])


def against_searches(device: hetero.Device, count: int, points: int) -> list[Measurement]:
    """Measure how far the log-likelihood of "ml" is above that of every other method."""
    rows = problems(count)
    options: dict[str, Any] = {"parameterization": "S0", "device": device}
    best = stablegpu.fit(rows, **options)
    statuses = dict(collections.Counter(best.status.tolist()))
    logliks = {
        f"contracting grid, {method}": stablegpu.fit(rows, method=method, **options).loglik
        for method in ("grid", "grid2")
    }
    for method in ("mcculloch", "koutrouvelis"):
        fits = stablegpu.fit(rows, method=method, **options)
        fixed = {name: getattr(fits, name) for name in PARAMETERS}
        logliks[method] = stablegpu.fit(rows, fixed=fixed, **options).loglik
    name = f"fine grid of {points}^4 distributions, 2.5 standard errors to each side"
    logliks[name] = _fine_grid(rows, best, points, options)
    return [
        Measurement(
            f"least gain of log-likelihood by maximum likelihood over: {name}",
            float(np.nanmin(best.loglik - loglik)),
            "",
            note=f"{count} random samples of {SIZE:,}; mean gain "
            f"{np.nanmean(best.loglik - loglik):.3g}; statuses {statuses}",
        )
        for name, loglik in logliks.items()
    ]


def _fine_grid(
    rows: np.ndarray, best: stablegpu.FitResults, points: int, options: dict[str, Any]
) -> np.ndarray:
    """Return the largest log-likelihood on a grid around each estimate."""
    offsets = np.linspace(-2.5, 2.5, points)
    corners = np.stack(np.meshgrid(*[offsets] * 4), axis=-1).reshape(-1, 4)
    least = np.array([0.1, -1.0, -np.inf, 1e-300])
    most = np.array([2.0, 1.0, np.inf, np.inf])
    logliks = np.empty(len(rows))
    for k, row in enumerate(rows):
        centre = np.array([getattr(best, name)[k] for name in PARAMETERS])
        error = np.array([best.stderr[name][k] for name in PARAMETERS])
        error = np.where(np.isfinite(error), error, 0.02 * np.array([1.0, 1.0, *[centre[3]] * 2]))
        distributions = np.clip(centre + corners * error, least, most)
        distributions[:, 3] = np.maximum(distributions[:, 3], 0.05 * centre[3])
        fixed = {name: distributions[:, i] for i, name in enumerate(PARAMETERS)}
        same = np.broadcast_to(row, (len(distributions), SIZE))
        logliks[k] = np.nanmax(stablegpu.fit(same, fixed=fixed, **options).loglik)
    return logliks


# ---- errors ------------------------------------------------------------------------------------


def against_the_bound(
    device: hetero.Device, alpha: float, beta: float, replicas: int, size: int = SIZE
) -> list[Measurement]:
    """Compare variances with the Cramer-Rao bound, and the coverage of intervals with 95 %."""
    distribution = stablegpu.stable(alpha, beta, parameterization="S0")
    rows = distribution.rvs((replicas, size), rng=11)
    bound = np.diag(np.linalg.inv(size * stablegpu.fisher_information(alpha, beta)))
    true, figures = dict(zip(PARAMETERS, (alpha, beta, 0.0, 1.0), strict=True)), []
    options: dict[str, Any] = {"parameterization": "S0", "device": device}
    for method in ("ml", "koutrouvelis"):
        fits = stablegpu.fit(rows, method=method, **options)
        title = f"alpha {alpha}, beta {beta}, {replicas:,} samples of {size:,}, {method}"
        figures.append(_variances(fits, true, bound, title))
        if method == "ml":
            figures += _coverages(rows, fits, true, title, options)
    return figures


def _variances(
    fits: stablegpu.FitResults, true: dict[str, float], bound: np.ndarray, title: str
) -> Measurement:
    ratios: dict[str, float] = {}
    notes: dict[str, list[float]] = {
        "bias over the bound's root": [],
        "mean squared error bar over it": [],
    }
    for (name, value), least in zip(true.items(), bound, strict=True):
        values, error = getattr(fits, name), fits.stderr[name]
        ratios[name] = float(values.var() / least)
        notes["bias over the bound's root"].append((values.mean() - value) / np.sqrt(least))
        if np.isfinite(error).any():
            notes["mean squared error bar over it"].append(np.nanmean(error**2) / least)
    worst = max(ratios.values(), key=lambda r: abs(r - 1.0))
    note = "; ".join(f"{k}: {', '.join(f'{x:.3f}' for x in v)}" for k, v in notes.items() if v)
    return Measurement(
        f"variance over the Cramer-Rao bound, {title}", worst, "", peers=ratios, note=note
    )


def _coverages(
    rows: np.ndarray,
    fits: stablegpu.FitResults,
    true: dict[str, float],
    title: str,
    options: dict[str, Any],
) -> list[Measurement]:
    """Measure the coverage of Wald's intervals and of those by the profile likelihood.

    The profile is evaluated only at the true value, which its interval contains if the profile is
    at most 3.84/2 below its maximum.
    """
    wald, profile, ends = {}, {}, fits.interval(0.95)
    for name, value in true.items():
        low, high = ends[name]
        exists = np.isfinite(low)
        wald[name] = float(((low <= value) & (value <= high))[exists].mean())
        constrained = stablegpu.fit(rows, fixed={name: value}, **options)
        profile[name] = float((2.0 * (fits.loglik - constrained.loglik) < 3.841459).mean())
    return [
        Measurement(
            f"coverage of 95 % intervals by {kind}, {title}",
            max(covered.values(), key=lambda c: abs(c - 0.95)),
            "",
            peers=covered,
        )
        for kind, covered in (("standard errors", wald), ("profile", profile))
    ]
