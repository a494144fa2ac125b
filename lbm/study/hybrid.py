"""A GPU and the CPU of its machine on one box (Riesinger 2017, figure 16.4 and table 16.1)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hetero.devices import Device
from hetero.errors import DeviceUnavailableError
from hetero.measurement.machine_limits import limits
from hetero.measurement.studies import Study
from lbm._domain.domains import make_domain
from lbm._model.precision import PRECISIONS
from lbm._performance.measurement import measure_machine
from lbm._performance.model import best_ratio, predict_step
from lbm.decomposition import Decomposition
from lbm.study.rates import FACES, cavity_problem, draw_curves, measure_rate

SHARES = (0.0, 0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.1, 0.2, 1.0)
"""Shares of the rows for the CPU."""

SHAPES = ((512, 512, 128),)
"""The domain of Riesinger (2017, table 16.1)."""


def run(study: Study) -> dict:
    """Measure the domains with each share of the rows on the CPU, and predict the best one."""
    if study.device.kind != "cuda":
        raise DeviceUnavailableError(
            str(study.device), "this study needs a CPU beside a GPU", "pass --device cuda"
        )
    rows, summary = [], []
    for shape in ((16, 12, 8),) if study.quick else SHAPES:
        first = cavity_problem(shape)
        for name in ("float32",) if study.quick else ("float32", "float64"):
            problem = replace(first, precision=PRECISIONS[name])
            machine = measure_machine(problem, [study.device], links=False)
            predicted = best_ratio(machine, shape)
            measured = {}
            for share in sorted({*SHARES, predicted}):
                ratio = round(share * shape[1]) / shape[1]
                if ratio in measured:
                    continue
                measured[ratio] = measure_rate(
                    make_domain(problem, study.device, FACES, ratio), study.device
                )
                step = predict_step(machine, shape, Decomposition((1, 1, 1)), ratio=ratio).step
                glups = problem.cells / step / 1e9
                error = glups / measured[ratio] - 1
                rows.append((shape, name, ratio, measured[ratio], glups, error))
            summary.append(_summarize(study, shape, name, measured, predicted))
    label = "share of rows on the CPU"
    heads = ["domain", "precision", label, "GLUPS", "predicted GLUPS", "error of the prediction"]
    study.table("A GPU and the CPU (Riesinger 2017, figure 16.4)", heads, rows)
    heads = [
        "domain", "precision", "best share", "gain over the GPU alone", "gain by bandwidth",
        "gain over the CPU alone", "predicted best share", "its rate over the best rate",
    ]  # fmt: skip
    study.table("Gain of the CPU beside a GPU (Riesinger 2017, table 16.1)", heads, summary)
    return {"picture": str(draw_curves(study, rows, label, "figure-16.4.png"))}


def _summarize(
    study: Study, shape: Any, precision: str, measured: dict[float, float], predicted: float
) -> list[Any]:
    """Return a row of table 16.1, and how good the predicted share is."""
    best = max(measured, key=lambda ratio: measured[ratio])
    chosen = round(predicted * shape[1]) / shape[1]
    bandwidth = limits(Device("cpu")).copy / limits(study.device).copy
    return [
        shape, precision, best, measured[best] / measured[0.0] - 1, bandwidth,
        measured[best] / measured[1.0] - 1, chosen, measured[chosen] / measured[best],
    ]  # fmt: skip
