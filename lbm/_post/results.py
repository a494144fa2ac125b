"""Results of the present state of a flow: methods of `Simulation`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lbm._coupled.flow import Flow
from lbm._post import forces
from lbm._post.stability import require_stable
from lbm._post.wall_shear import wall_shear
from lbm._post.wall_stress import WallShear


class FlowWithResults(Flow):
    """A flow of which forces, stresses on walls and stability are known."""

    def require_stable(self) -> None:
        """Raise UnstableError if a cell is not finite, too fast, or far from density 1."""
        require_stable(self)

    def force_on(self, name: str) -> np.ndarray:
        """Return the force of the fluid on the solid `name` in the last step (momentum exchange).

        Three floats in density times cells^4/step^2, without the pressure of density 1, which
        cancels on a closed body (Ladd 1994, Mei et al. 2002). Raises ValueError at step 0.
        """
        return forces.force_on(self, name)

    def torque_on(self, name: str, centre: Sequence[float]) -> np.ndarray:
        """Return the torque on the solid `name` about `centre` (cells); see `force_on`.

        A body that passes through a periodic face is taken in one piece, at the image that is
        nearest to the centre.
        """
        return forces.torque_on(self, name, centre)

    def wall_shear(self, name: str) -> WallShear:
        """Return the viscous shear stress on a face or a solid, and y+, beside it on this rank.

        The wall must be `NoSlip` or `MovingWall`. The stress of a parabolic profile along a face is
        exact; that on curved walls is of first order if they are interpolated (1 % in a pipe of 12
        cells across), and useless if they are staircases. docs/packages/lbm.md has the measured
        errors. All ranks must call this.
        """
        return wall_shear(self, name)
