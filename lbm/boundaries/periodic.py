"""Periodic faces."""

from dataclasses import dataclass
from typing import ClassVar

from lbm.boundaries.condition import Condition


@dataclass(frozen=True)
class Periodic(Condition):
    """A periodic face: populations that leave through it enter through the opposite one."""

    name: ClassVar[str] = "periodic"
    is_periodic: ClassVar[bool] = True
