"""Files for ParaView, written by pyevtk."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from hetero.errors import within
from lbm.atomic_files import replacing


def write_vtk(simulation, path, *, spacing: float = 1.0) -> Path:
    """Write `path`.vti, atomically: cell data `rho`, `drho`, `u` (three components) and `fluid`.

    `drho` is rho - 1 with all digits; a third of it is the pressure above that of density 1.

    Parameters
    ----------
    simulation : Simulation
    path : str or Path
        With or without the suffix .vti.
    spacing : float
        Edge of a cell, say `units.dx`.

    Returns
    -------
    Path
        The file.
    """
    try:
        from pyevtk.hl import imageToVTK
    except ImportError:
        raise ImportError("VTK files need pyevtk: pip install 'stablegpu[io]'") from None
    spacing = within("spacing", spacing, 0.0, np.inf, closed="neither")
    path = Path(path)
    path = path if path.suffix == ".vti" else path.with_name(path.name + ".vti")
    # rho and u are Fortran-ordered views: x runs fastest, as VTK wants it.
    data = {
        "rho": simulation.rho,
        "drho": simulation.drho,
        "u": tuple(np.asfortranarray(c) for c in simulation.u),
        "fluid": np.asfortranarray(simulation.fluid.astype(np.uint8)),
    }
    with replacing(path) as part:
        imageToVTK(str(part.with_suffix("")), spacing=(spacing,) * 3, cellData=data)
    return path
