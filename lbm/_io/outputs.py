"""Results, files, datasets and pictures of a flow: methods of `Simulation`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from hetero.validation import check_path
from lbm._coupled.flow import Flow
from lbm._post import forces
from lbm._post.stability import LastGoodState, require_stable
from lbm._post.wall_shear import wall_shear
from lbm._post.wall_stress import WallShear
from lbm.units import Units


class FlowWithOutputs(Flow):
    """A flow whose forces and stresses are known, and which is written to files and drawn."""

    _last_good: LastGoodState

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

    def save(self, path: str | Path) -> Path:
        """Write a checkpoint atomically and return its path."""
        from lbm._io.checkpoint import save

        return save(self, check_path("path", path))

    def restore(self, path: str | Path) -> Self:
        """Restore the state from a checkpoint of the same problem, bit for bit."""
        from lbm._io.checkpoint import restore

        restore(self, check_path("path", path))
        self._last_good.discard()
        return self

    def write_vtk(
        self, path: str | Path, *, units: Units | None = None, derived: Sequence[str] = ()
    ) -> Path:
        """Write the fields of all cells for ParaView and return the path of the file to open.

        The file is written atomically: `path`.vti, or with several ranks a .vti for each of them
        and `path`.pvti, which joins them. It holds cell data and the time of the state.

        Parameters
        ----------
        path : str or Path
            With or without a suffix.
        units : Units, optional
            Write SI units: `pressure` (Pa, relative to density 1), `u` (m/s), lengths in m, time
            in s. By default lattice units: `rho`, `drho` (rho - 1 with all digits), `u`, lengths
            in cells, time in steps. `fluid` is 0 in solid cells.
        derived : sequence of {"vorticity", "q", "strain", "wall_shear"}
            Also write the vorticity or the rate of strain (1/s or 1/step) or the Q criterion (1/s^2
            or 1/step^2), by central differences, which are one-sided beside walls; or the stress
            `wall_shear` (Pa or lattice units) and `y_plus` in the cells beside walls, see
            `wall_shear`.

        Raises
        ------
        UnstableError
            If a cell is not finite. A file that exists already stays as it is.
        """
        from lbm._io.vtk import write_vtk

        return write_vtk(self, check_path("path", path), units=units, derived=derived)

    def to_xarray(self, *, units: Units | None = None, derived: Sequence[str] = ()) -> Any:
        """Return the fields of this rank's cells as an `xarray.Dataset`.

        Its dimensions are x, y, z (the centres of the cells) and, of vectors, `component`; `time`
        is a coordinate, and every variable has the attributes `units` and `long_name`. The
        variables, `units` and `derived` are those of `write_vtk`. Needs the package xarray.
        """
        from lbm._io.fields import make_dataset

        return make_dataset(self, units, derived)

    def plot(
        self,
        axis: str = "z",
        index: int | None = None,
        field: str = "speed",
        ax: Any = None,
        *,
        units: Units | None = None,
    ) -> Any:
        """Draw a layer of cells and return the matplotlib figure; None on ranks other than 0.

        Parameters
        ----------
        axis : {"x", "y", "z"}
            Axis across the layer.
        index : int, optional
            Number of the layer along the axis, by default that in the middle.
        field : {"speed", "ux", "uy", "uz", "rho", "drho"}, or the name of a scalar
            What the colours show. Solids are grey.
        ax : matplotlib axes, optional
            Where to draw, by default in a new figure.
        units : Units, optional
            Draw in SI: lengths in m, speeds in m/s, "rho" in kg/m^3, "drho" as a pressure in Pa.
        """
        from lbm._io.plot import plot_slice

        return plot_slice(self, axis, index, field, ax, units)
