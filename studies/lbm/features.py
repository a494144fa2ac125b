"""Weak scaling of other operators, lattices and inlets than those of the lid-driven cavity.

Riesinger (2017, figures 16.5 to 16.8) measures the cavity, as `studies.lbm.weak` does; this study
shows what more arithmetic, more messages and an inlet with synthetic eddies change.
"""

from __future__ import annotations

from studies.lbm.scaling import run_features
from studies.study import Study


def run(study: Study) -> dict:
    """Measure steps on one box, and on 2, 4, ... boxes by ranks and in one process."""
    return run_features(study)
