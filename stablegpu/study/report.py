"""Options shared by the studies of stable distributions."""

from dataclasses import dataclass
from pathlib import Path

from hetero import study


@dataclass
class Study(study.Study):
    """`hetero.study.Study` with true values, which are kept in out/cache.

    Attributes
    ----------
    processes : of the oracle
    """

    processes: int = 1

    @property
    def cache(self) -> Path:
        return self.out / "cache"
