"""Rates by batch size, parameters, tolerance and threads; time and bytes of the kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hetero import Device
from hetero.cpu.threads import threads, use_threads
from hetero.measurement.benchmarking import Timing, benchmark
from hetero.measurement.machine_limits import limits
from hetero.measurement.profiling import profile
from stablegpu.distribution import Stable, stable
from stablegpu.evaluators import Interpolation, Quadrature
from studies.stablegpu.evaluators import OURS, handles
from studies.study import Study

PAIRS = ((0.75, 0.5), (1.5, 0.5))
FUNCTIONS = ("pdf", "cdf", "pdf_cdf", "ppf")
_LONG = 0.1  # seconds: a batch that takes longer is the last


def run(study: Study) -> dict:
    """Run all four studies; each but the last draws a figure."""
    result: dict[str, Any] = {
        "over batch size": _batches(study),
        "over parameters": _parameters(study),
    }
    if study.device.kind == "cpu":
        result["over tolerance and threads"] = _threads(study)
    return result | {"kernels": _kernels(study)}


def _arguments(name: str, size: int, device: Device) -> tuple[Any, Any]:
    """Return points (probabilities for ppf) and output arrays in the device's memory."""
    low, high = (0.01, 0.99) if name == "ppf" else (-20.0, 20.0)
    x = np.random.default_rng(1).uniform(low, high, size)
    out = [np.empty(size) for _ in range(2 if name == "pdf_cdf" else 1)]
    if device.kind == "cuda":
        from hetero.cuda.driver import cuda

        x, out = cuda.to_device(x), [cuda.device_array(size) for _ in out]
    return x, tuple(out) if name == "pdf_cdf" else out[0]


def _timed(distribution: Stable, name: str, size: int, device: Device) -> Timing:
    x, out = _arguments(name, size, device)
    call = getattr(distribution, name)
    return benchmark(lambda: call(x, out=out), repeats=5, min_time=2e-3, device=device)


def _prepare(alpha: float, beta: float, evaluator: Any, device: Device) -> Stable:
    return stable(alpha, beta, evaluator=evaluator, device=device)


def _batches(study: Study) -> list[dict]:
    """Measure rates over batch size.

    As Julian-Moreno et al. (2016), figures 7, 9, 11, 12 and tables 3, 5, 6, 8.
    """
    sizes = (1, 100) if study.quick else tuple(10**k for k in range(8))
    records = []
    for alpha, beta in PAIRS[:1] if study.quick else PAIRS:
        for name in FUNCTIONS[:1] if study.quick else FUNCTIONS:
            for evaluator in OURS:
                distribution = _prepare(alpha, beta, evaluator, study.device)
                for size in sizes:
                    timing = _timed(distribution, name, size, study.device)
                    records.append(
                        {"alpha": alpha, "beta": beta, "function": name, "evaluator": evaluator}
                        | {"points": size, "rate": timing.rate(size), "spread": timing.spread}
                    )
                    if timing.median > _LONG:
                        break
    names = list(dict.fromkeys(r["function"] for r in records))
    figure = study.figure((10, 7))
    axes = figure.subplots(2, 2, sharex=True, sharey=True).ravel()
    for axis, title in zip(axes, names, strict=False):
        for k, evaluator in enumerate(OURS):
            for (alpha, _), style in zip(PAIRS, ("-", "--"), strict=True):
                chosen = _chosen(records, alpha=alpha, function=title, evaluator=evaluator)
                axis.loglog(
                    *_columns(chosen, "points", "rate"),
                    style,
                    marker="o",
                    ms=3,
                    color=f"C{k}",
                    label=f"{evaluator}, alpha {alpha}",
                )
        axis.set(title=title, xlabel="points in a call", ylabel="points/s")
        axis.grid(alpha=0.3)
    axes[0].legend(fontsize=7)
    study.save(figure, "rate-batch.png")
    thousand = [r for r in records if r["points"] in (100 if study.quick else 1000, max(sizes))]
    keys = ("alpha", "beta", "function", "evaluator", "points", "rate", "spread")
    study.table("Points/s", keys, [[r[k] for k in keys] for r in thousand])
    return records


def _parameters(study: Study) -> list[dict]:
    """Measure rates over alpha and beta at 500 points (nodes and polynomials: more).

    As Julian-Moreno et al. (2016), figures 8 and 10.
    """
    sizes = dict(zip(OURS, (500, 200_000, 2_000_000), strict=True))
    alphas = (0.5, 1.5) if study.quick else np.arange(0.1, 2.01, 0.1).round(2).tolist()
    records = []
    figure = study.figure((11, 4))
    axes = figure.subplots(1, len(OURS))
    for axis, evaluator in zip(axes, OURS, strict=True):
        size = 100 if study.quick else sizes[evaluator]
        for beta in (0.0,) if study.quick else (0.0, 0.5, 1.0):
            for alpha in alphas:
                if not handles(alpha, evaluator):
                    continue
                for name in ("pdf",) if study.quick else ("pdf", "cdf"):
                    distribution = _prepare(alpha, beta, evaluator, study.device)
                    rate = _timed(distribution, name, size, study.device).rate(size)
                    records.append(
                        {"alpha": alpha, "beta": beta, "function": name}
                        | {"evaluator": evaluator, "points": size, "rate": rate}
                    )
            for name, style in (("pdf", "-"), ("cdf", ":")):
                chosen = _chosen(records, beta=beta, function=name, evaluator=evaluator)
                if chosen:
                    axis.semilogy(
                        *_columns(chosen, "alpha", "rate"),
                        style,
                        marker=".",
                        label=f"{name}, beta {beta:g}",
                    )
        axis.set(title=f"{evaluator}, {size:,} points", xlabel="alpha", ylabel="points/s")
        axis.grid(alpha=0.3)
    axes[0].legend(fontsize=7)
    study.save(figure, "rate-parameters.png")
    return records


def _threads(study: Study) -> dict:
    """Measure the rate over tolerance by threads, and the fraction in Amdahl's formula.

    See Royuela-del-Val et al. (2017), figure 4 and table 3.
    """
    most = threads()
    counts = sorted({*(2**k for k in range(most.bit_length()) if 2**k <= most), most})
    powers = (2, 10) if study.quick else (2, 4, 6, 8, 10, 12)
    settings: dict[str, Callable[[int], Quadrature | Interpolation]] = {
        "quadrature": lambda k: Quadrature(tolerance=10.0**-k),
        "polynomials": lambda k: Interpolation(tolerance=10.0**-k),
    }
    size = {"quadrature": 200 if study.quick else 2000, "polynomials": 2_000_000}
    records, fractions = [], []
    figure = study.figure((10, 4.5))
    axes = figure.subplots(1, 2)
    for axis, evaluator in zip(axes, list(settings)[: 1 if study.quick else 2], strict=False):
        for alpha, beta in PAIRS[:1] if study.quick else PAIRS:
            for name in ("pdf",) if study.quick else ("pdf", "cdf"):
                for count in counts:
                    for k in powers:
                        distribution = _prepare(alpha, beta, settings[evaluator](k), study.device)
                        with use_threads(count):
                            timing = _timed(distribution, name, size[evaluator], study.device)
                        records.append(
                            {"alpha": alpha, "beta": beta, "function": name, "threads": count}
                            | {"evaluator": evaluator, "tolerance": 10.0**-k}
                            | {"rate": timing.rate(size[evaluator])}
                        )
                    chosen = _chosen(
                        records, alpha=alpha, function=name, threads=count, evaluator=evaluator
                    )
                    axis.loglog(
                        *_columns(chosen, "tolerance", "rate"),
                        marker=".",
                        label=f"{name}, alpha {alpha}, {count} threads",
                    )
                chosen = _chosen(records, alpha=alpha, function=name, evaluator=evaluator)
                fractions.append({"alpha": alpha, "beta": beta, "function": name})
                fractions[-1] |= {"evaluator": evaluator, "fraction": amdahl(chosen)}
        axis.set(title=evaluator, xlabel="tolerance", ylabel="points/s")
        axis.grid(alpha=0.3)
        axis.legend(fontsize=6)
    study.save(figure, "rate-threads.png")
    keys = ("alpha", "beta", "function", "evaluator", "fraction")
    title = f"Parallel fraction by Amdahl's law, threads {counts}"
    study.table(title, keys, [[f[k] for k in keys] for f in fractions])
    return {"rates": records, "fractions": fractions}


def amdahl(records: list[dict]) -> float | None:
    """Return p of gain(N) = 1 / (1 - p + p/N), by least squares on 1/gain.

    None if there is only one thread count.

    Parameters
    ----------
    records : dicts with threads, rate and tolerance; the gain is taken at equal tolerance
    """
    alone = {r["tolerance"]: r["rate"] for r in records if r["threads"] == 1}
    many = [r for r in records if r["threads"] > 1]
    if not many:
        return None
    saved = np.array([1.0 - 1.0 / r["threads"] for r in many])
    gained = np.array([1.0 - alone[r["tolerance"]] / r["rate"] for r in many])
    return float(saved @ gained / (saved @ saved))


def _kernels(study: Study) -> list[dict]:
    """Measure the time of the kernels alone and their share of the memory's rate.

    As Julian-Moreno et al. (2016), table 10.
    """
    limit = limits(study.device).copy
    sizes = (100,) if study.quick else (500, 100_000)
    records = []
    for evaluator in OURS:
        distribution = _prepare(1.5, 0.5, evaluator, study.device)
        for size in sizes:
            x, out = _arguments("pdf_cdf", size, study.device)
            distribution.pdf_cdf(x, out=out)
            with profile() as regions:
                distribution.pdf_cdf(x, out=out)
            region = regions.children["stable density"]
            seconds = region.gpu if study.device.kind == "cuda" else region.wall
            moved = 24 * size / seconds  # a point read, two results written
            records.append(
                {"evaluator": evaluator, "points": size, "ms": seconds * 1e3}
                | {"GB/s": moved / 1e9, "share of copy": moved / limit}
            )
    rows = [list(r.values()) for r in records]
    study.table("pdf and cdf, alpha 1.5: time on the device", list(records[0]), rows)
    return records


def _chosen(records: list[dict], **requested: Any) -> list[dict]:
    return [r for r in records if all(r[key] == value for key, value in requested.items())]


def _columns(records: list[dict], *names: str) -> list[list]:
    return [[r[name] for r in records] for name in names]
