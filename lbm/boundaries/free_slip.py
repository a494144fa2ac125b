"""Faces without friction."""

from dataclasses import dataclass
from typing import ClassVar

from lbm.boundaries.condition import Condition


@dataclass(frozen=True)
class FreeSlip(Condition):
    """A flat face without friction: it mirrors populations within a cell.

    There is no shear and no loss of mass, exactly. Only faces of the domain can be free-slip: a
    solid would need the normal of its surface. Populations bounce back at corners where their
    mirror image meets another wall.
    """

    name: ClassVar[str] = "free-slip"
    rank: ClassVar[int] = 4
    mirrors: ClassVar[bool] = True
