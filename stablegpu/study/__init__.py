"""The papers' experiments on this machine: `python -m stablegpu study [NAME ...]`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hetero.measurement import studies as measurement_studies

STUDIES = {
    "accuracy": "stablegpu.study.accuracy",
    "random": "stablegpu.study.random_points",
    "rate": "stablegpu.study.rates",
    "map": "stablegpu.study.error_maps",
    "special": "stablegpu.study.special_functions",
    "fit": "stablegpu.study.fits",
}
"""Modules of the studies, by name."""


@dataclass
class Study(measurement_studies.Study):
    """Options of the studies of stable distributions.

    These are the options of `hetero.measurement.studies.Study`, and those of the true values.

    Attributes
    ----------
    processes : int
        Number of processes that compute true values.
    """

    processes: int = 1

    @property
    def cache(self) -> Path:
        """Folder in which true values are kept for the next run."""
        return self.out / "cache"
