"""GLUPS over the CPU's share of the rows, figure 16.4."""

from __future__ import annotations

from hetero.errors import DeviceUnavailableError
from hetero.study import Study
from lbm.parts import place
from lbm.study.measure import FACES, draw, problems, rate

SHARES = (0.0, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1.0)


def run(study: Study) -> dict:
    if study.device.kind != "cuda":
        raise DeviceUnavailableError(
            str(study.device), "shares are those of a CPU beside a GPU", "pass --device cuda"
        )
    rows = []
    for shape, precision, problem in problems(study, ("float32",)):
        for cut in dict.fromkeys(round(share * shape[1]) for share in SHARES):
            found = rate(place(problem, study.device, FACES, cut), study.device)
            rows.append((shape, precision, cut / shape[1], found))
    label = "share of rows on the CPU"
    study.table("Two devices (figure 16.4)", ["domain", "precision", label, "GLUPS"], rows)
    return {"picture": str(draw(study, rows, label, "figure-16.4.png"))}
