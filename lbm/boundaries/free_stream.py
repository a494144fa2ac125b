"""Faces at which the domain meets an undisturbed stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lbm.boundaries.condition import NOWHERE
from lbm.boundaries.walls import MovingWall

EQUILIBRIUM = 2.0
"""First number of the rows of `Links.wall_types` of faces that return an equilibrium. A step of
populations takes them for outlets, and `lbm._coupled.open_faces.free_streams` replaces what it
returns; one of moments returns the equilibrium by itself."""


@dataclass(frozen=True)
class FreeStream(MovingWall):
    """A face beyond which fluid of density 1 moves with a velocity, undisturbed.

    Every population that enters is that of the equilibrium of the stream, whatever leaves. So the
    face may stand upstream, downstream and beside a body: what leaves is forgotten, and nothing
    that happens in the domain is amplified. Of a plane wave of sound 28 % come back, of one that
    meets the face at an angle less. The face holds the flow near the velocity of the stream: it
    must stand where a body changes that little, three widths of the body before and beside it.

    Parameters
    ----------
    velocity : three floats, or function
        Velocity of the stream in cells/step, or a function as for a `MovingWall`. Synthetic eddies
        need a `VelocityInlet`.
    """

    name: ClassVar[str] = "free-stream"
    rank: ClassVar[int] = 0
    is_open: ClassVar[bool] = True
    is_equilibrium: ClassVar[bool] = True
    has_friction: ClassVar[bool] = False
    may_be_solid: ClassVar[bool] = False
    may_be_interpolated: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if hasattr(self.velocity, "fluctuations") or hasattr(self.velocity, "intensity"):
            raise ValueError(
                "the velocity of a FreeStream must be three numbers or a function, not synthetic "
                "eddies: use VelocityInlet for a turbulent inlet"
            )
        super().__post_init__()

    def parameters(self, points: np.ndarray = NOWHERE, t: float = 0.0) -> np.ndarray:
        """Return rows with the velocity at points and a time; see `Condition.parameters`."""
        rows = super().parameters(points, t)
        rows[:, 0] = EQUILIBRIUM
        return rows

    def reference_return(
        self, f: np.ndarray, w: float, c: np.ndarray, u: np.ndarray, velocity_or_rho: Any
    ) -> np.ndarray:
        """Return the equilibrium of the stream with the velocity -c."""
        stream = np.stack([np.broadcast_to(v, f.shape) for v in velocity_or_rho])
        cu, square = np.tensordot(c, stream, 1), (stream**2).sum(axis=0)
        return w * (1 - 3 * cu + 4.5 * cu**2 - 1.5 * square)
