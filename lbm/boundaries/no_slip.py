"""Walls at rest."""

from dataclasses import dataclass
from typing import ClassVar

from lbm.boundaries.condition import Condition


@dataclass(frozen=True)
class NoSlip(Condition):
    """A wall at rest: half-way bounce-back.

    Second order; exact for flat walls with TRT and the magic parameter 3/16.
    """

    name: ClassVar[str] = "no-slip"
    has_friction: ClassVar[bool] = True
    may_be_solid: ClassVar[bool] = True
    may_be_interpolated: ClassVar[bool] = True
