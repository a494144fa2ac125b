"""Weak scaling: each rank or device has a box of the same size (figures 16.5 to 16.8)."""

from __future__ import annotations

from studies.lbm.scaling import run_scaling
from studies.study import Study


def run(study: Study) -> dict:
    """Measure steps on 1, 2, 4, ... boxes and compare them with the model."""
    return run_scaling(study, weak=True)
