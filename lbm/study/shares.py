"""GLUPS over the CPU's share of the rows, figure 16.4."""

from __future__ import annotations

from hetero.errors import DeviceUnavailableError
from hetero.study import Study
from lbm.study.measure import domains, draw, glups

SHARES = (0.0, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.2, 0.5, 1.0)


def run(study: Study) -> dict:
    if study.device.kind != "cuda":
        raise DeviceUnavailableError("shares of two devices need a GPU: pass --device cuda")
    rows = [
        (shape, precision, share, glups(shape, study.device, precision, ratio=share))
        for shape, precision in domains(study)
        for share in SHARES
    ]
    label = "share of rows on the CPU"
    study.table("Two devices (figure 16.4)", ["domain", "precision", label, "GLUPS"], rows)
    return {"picture": str(draw(study, rows, label, "figure-16.4.png"))}
