"""Strong scaling: a domain of one size on more and more boxes (figures 16.9 to 16.12)."""

from __future__ import annotations

from studies.lbm.scaling import run_scaling
from studies.study import Study


def run(study: Study) -> dict:
    """Measure steps on 1, 2, 4, ... boxes and compare them with the model."""
    return run_scaling(study, weak=False)
