"""Files for ParaView, written by pyevtk."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from hetero.errors import within


def write_vtk(simulation, path, *, spacing: float = 1.0) -> Path:
    """Write `path`.vti: cell data `rho`, `u` (three components) and `fluid`.

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
    stem = path.with_suffix("") if path.suffix == ".vti" else path
    stem.parent.mkdir(parents=True, exist_ok=True)
    # rho and u are Fortran-ordered views: x runs fastest, as VTK wants it.
    data = {
        "rho": simulation.rho,
        "u": tuple(np.asfortranarray(c) for c in simulation.u),
        "fluid": np.asfortranarray(simulation.fluid.astype(np.uint8)),
    }
    return Path(imageToVTK(str(stem), spacing=(spacing,) * 3, cellData=data))
