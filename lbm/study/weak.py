"""Weak scaling: each rank or device has a box of the same size (figures 16.5 to 16.8)."""

from __future__ import annotations

from hetero.measurement.studies import Study
from lbm.study.scaling import run_scaling


def run(study: Study) -> dict:
    """Measure steps on 1, 2, 4, ... boxes and compare them with the model."""
    return run_scaling(study, weak=True)
