"""Strong scaling: a domain of one size on more and more boxes (figures 16.9 to 16.12)."""

from __future__ import annotations

from hetero.measurement.studies import Study
from lbm.study.scaling import run_scaling


def run(study: Study) -> dict:
    """Measure steps on 1, 2, 4, ... boxes and compare them with the model."""
    return run_scaling(study, weak=False)
