"""Options shared by the studies of stable distributions."""

from dataclasses import dataclass
from pathlib import Path

from hetero.measurement import studies as measurement_studies


@dataclass
class Study(measurement_studies.Study):
    """`hetero.measurement.studies.Study` with true values, which are kept in out/cache.

    Attributes
    ----------
    processes : of the oracle
    """

    processes: int = 1

    @property
    def cache(self) -> Path:
        return self.out / "cache"
