"""VTK files for ParaView, written by pyevtk."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hetero.atomic_files import replace_atomically
from hetero.validation import check_in_range

if TYPE_CHECKING:
    from lbm.simulation import Simulation


def write_vtk(simulation: Simulation, path: str | Path, *, spacing: float = 1.0) -> Path:
    """Write `path`.vti, atomically: cell data `rho`, `drho`, `u` (three components) and `fluid`.

    `drho` is rho - 1 with all digits; a third of it is the pressure relative to density 1.

    Parameters
    ----------
    simulation : Simulation
    path : str or Path
        With or without the suffix .vti.
    spacing : float
        Edge of a cell, for example `units.dx`.

    Returns
    -------
    Path
        Path of the file.
    """
    try:
        from pyevtk.hl import imageToVTK
    except ImportError:
        raise ImportError("VTK files need pyevtk: pip install 'heterokit[io]'") from None
    spacing = check_in_range("spacing", spacing, 0.0, np.inf, closed="neither")
    path = Path(path)
    path = path if path.suffix == ".vti" else path.with_name(path.name + ".vti")
    # rho and u are Fortran-ordered views: x varies fastest, as VTK requires.
    data = {
        "rho": simulation.rho,
        "drho": simulation.drho,
        "u": tuple(np.asfortranarray(c) for c in simulation.u),
        "fluid": np.asfortranarray(simulation.fluid.astype(np.uint8)),
    }
    with replace_atomically(path) as part:
        imageToVTK(str(part.with_suffix("")), spacing=(spacing,) * 3, cellData=data)
    return path
