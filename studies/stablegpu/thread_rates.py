"""Rates over tolerance and threads, and the fraction of Amdahl's law.

As Royuela-del-Val et al. (2017), figure 4 and table 3. The cores should have no other work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from hetero.cpu.threads import threads, use_threads
from stablegpu.evaluators import Interpolation, Quadrature
from studies.stablegpu.rates import PAIRS, columns, prepare, select_records, time_function
from studies.study import Study

TOLERANCES = tuple(10.0**-k for k in (2, 4, 6, 8, 10, 12))
EVALUATORS: dict[str, Callable[[float], Quadrature | Interpolation]] = {
    "quadrature": lambda tolerance: Quadrature(tolerance=tolerance),
    "polynomials": lambda tolerance: Interpolation(tolerance=tolerance),
}
POINTS = {"quadrature": 2000, "polynomials": 2_000_000}
"""Points of a call, by its evaluator."""


def run(study: Study) -> dict:
    """Measure the rates, fit the fractions, and draw a figure."""
    if study.device.kind != "cpu":
        raise ValueError("stablegpu-threads measures threads of a CPU: use --device cpu")
    most = threads()
    counts = sorted({*(2**k for k in range(most.bit_length()) if 2**k <= most), most})
    evaluators = list(EVALUATORS)[: 1 if study.quick else 2]
    records, fractions = [], []
    for evaluator in evaluators:
        for alpha, beta in PAIRS[:1] if study.quick else PAIRS:
            for name in ("pdf",) if study.quick else ("pdf", "cdf"):
                what = {"alpha": alpha, "beta": beta, "function": name, "evaluator": evaluator}
                rates = list(_rates(what, counts, study))
                records += rates
                fractions.append(what | {"fraction": amdahl(rates)})
    _draw(records, evaluators, study)
    title = f"Parallel fraction by Amdahl's law, threads {counts}"
    study.table(title, list(fractions[0]), [list(f.values()) for f in fractions])
    return {"rates": records, "fractions": fractions}


def _rates(what: dict, counts: list[int], study: Study) -> Iterator[dict]:
    """Yield the rates of a function of a distribution over threads and tolerances."""
    evaluator = what["evaluator"]
    points = POINTS[evaluator] // (10 if study.quick else 1)
    for count in counts:
        for tolerance in TOLERANCES[::4] if study.quick else TOLERANCES:
            chosen = EVALUATORS[evaluator](tolerance)
            distribution = prepare(what["alpha"], what["beta"], chosen, study.device)
            with use_threads(count):
                timing = time_function(distribution, what["function"], points, study.device)
            yield what | {
                **{"threads": count, "tolerance": tolerance},
                **{"rate": timing.rate(points), "spread": timing.spread},
            }


def _draw(records: list[dict], evaluators: list[str], study: Study) -> None:
    """Draw rates over the tolerance, a line for each function and number of threads."""
    figure = study.figure((10, 4.5))
    axes = figure.subplots(1, 2)
    for axis, evaluator in zip(axes, evaluators, strict=False):
        of_one = select_records(records, evaluator=evaluator)
        keys = ("function", "alpha", "threads")
        for line in dict.fromkeys(tuple(r[key] for key in keys) for r in of_one):
            function, alpha, count = line
            rates = select_records(of_one, **dict(zip(keys, line, strict=True)))
            axis.loglog(
                *columns(rates, "tolerance", "rate"),
                marker=".",
                label=f"{function}, alpha {alpha}, {count} threads",
            )
        axis.set(title=evaluator, xlabel="tolerance", ylabel="points/s")
        axis.grid(alpha=0.3)
        axis.legend(fontsize=6)
    study.save(figure, "rate-threads.png")


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
