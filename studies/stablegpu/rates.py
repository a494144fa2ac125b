"""Rates by batch size and parameters; time and bytes of the kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from hetero import Device
from hetero.measurement.benchmarking import Timing, benchmark
from hetero.measurement.machine_limits import limits
from hetero.measurement.profiling import profile
from stablegpu.distributions.stable import Stable, stable
from studies.stablegpu.evaluators import OURS, handles
from studies.study import Study

PAIRS = ((0.75, 0.5), (1.5, 0.5))
FUNCTIONS = ("pdf", "cdf", "pdf_cdf", "ppf")
_LONG = 0.1  # seconds: a batch that takes longer is the last


def run(study: Study) -> dict:
    """Run all three studies; each but the last draws a figure."""
    return {
        "over batch size": _batches(study),
        "over parameters": _parameters(study),
        "kernels": _kernels(study),
    }


def _arguments(name: str, size: int, device: Device) -> tuple[Any, Any]:
    """Return points (probabilities for ppf) and output arrays in the device's memory."""
    low, high = (0.01, 0.99) if name == "ppf" else (-20.0, 20.0)
    x = np.random.default_rng(1).uniform(low, high, size)
    out = [np.empty(size) for _ in range(2 if name == "pdf_cdf" else 1)]
    if device.kind == "cuda":
        from hetero.cuda.driver import cuda

        x, out = cuda.to_device(x), [cuda.device_array(size) for _ in out]
    return x, tuple(out) if name == "pdf_cdf" else out[0]


def time_function(distribution: Stable, name: str, size: int, device: Device) -> Timing:
    """Measure a function of a distribution at `size` points in the device's memory."""
    x, out = _arguments(name, size, device)
    call = getattr(distribution, name)
    return benchmark(lambda: call(x, out=out), repeats=5, min_time=2e-3, device=device)


def prepare(alpha: float, beta: float, evaluator: Any, device: Device) -> Stable:
    """Return the distribution with this evaluator."""
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
                distribution = prepare(alpha, beta, evaluator, study.device)
                for size in sizes:
                    timing = time_function(distribution, name, size, study.device)
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
                chosen = select_records(records, alpha=alpha, function=title, evaluator=evaluator)
                axis.loglog(
                    *columns(chosen, "points", "rate"),
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
                    distribution = prepare(alpha, beta, evaluator, study.device)
                    rate = time_function(distribution, name, size, study.device).rate(size)
                    records.append(
                        {"alpha": alpha, "beta": beta, "function": name}
                        | {"evaluator": evaluator, "points": size, "rate": rate}
                    )
            for name, style in (("pdf", "-"), ("cdf", ":")):
                chosen = select_records(records, beta=beta, function=name, evaluator=evaluator)
                if chosen:
                    axis.semilogy(
                        *columns(chosen, "alpha", "rate"),
                        style,
                        marker=".",
                        label=f"{name}, beta {beta:g}",
                    )
        axis.set(title=f"{evaluator}, {size:,} points", xlabel="alpha", ylabel="points/s")
        axis.grid(alpha=0.3)
    axes[0].legend(fontsize=7)
    study.save(figure, "rate-parameters.png")
    return records


def _kernels(study: Study) -> list[dict]:
    """Measure the time of the kernels alone and their share of the memory's rate.

    As Julian-Moreno et al. (2016), table 10.
    """
    limit = limits(study.device).copy
    sizes = (100,) if study.quick else (500, 100_000)
    records = []
    for evaluator in OURS:
        distribution = prepare(1.5, 0.5, evaluator, study.device)
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


def select_records(records: list[dict], **requested: Any) -> list[dict]:
    """Return the records that have the requested values."""
    return [r for r in records if all(r[key] == value for key, value in requested.items())]


def columns(records: list[dict], *names: str) -> list[list]:
    """Return a list of the records' values for each name."""
    return [[r[name] for r in records] for name in names]
