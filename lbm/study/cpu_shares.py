"""Update rate over the CPU's share of the rows (Riesinger 2017, figure 16.4)."""

from __future__ import annotations

from hetero.errors import DeviceUnavailableError
from hetero.measurement.studies import Study
from lbm._domain.domains import make_domain
from lbm.study.rates import FACES, cavity_problems, draw_curves, measure_rate

SHARES = (0.0, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Shares of the rows for the CPU."""


def run(study: Study) -> dict:
    """Measure the domains with each share of the rows on the CPU."""
    if study.device.kind != "cuda":
        raise DeviceUnavailableError(
            str(study.device), "this study needs a CPU beside a GPU", "pass --device cuda"
        )
    rows = []
    for shape, precision, problem in cavity_problems(study, ("float32",)):
        for rows_on_cpu in dict.fromkeys(round(share * shape[1]) for share in SHARES):
            ratio = rows_on_cpu / shape[1]
            domain = make_domain(problem, study.device, FACES, ratio)
            rows.append((shape, precision, ratio, measure_rate(domain, study.device)))
    label = "share of rows on the CPU"
    study.table(
        "Two devices (Riesinger 2017, figure 16.4)", ["domain", "precision", label, "GLUPS"], rows
    )
    return {"picture": str(draw_curves(study, rows, label, "figure-16.4.png"))}
