"""VTK files for ParaView, written by pyevtk: one image, or one for each rank and an index."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hetero.atomic_files import replace_atomically
from hetero.validation import check_in_range

if TYPE_CHECKING:
    from lbm._model.extent import Extent
    from lbm.simulation import Simulation


def require_pyevtk() -> None:
    """Raise ImportError with the remedy if pyevtk is missing: before a long run, not after it."""
    if importlib.util.find_spec("pyevtk") is None:
        raise ImportError("VTK files need pyevtk: pip install 'heterokit[io]'")


def write_vtk(simulation: Simulation, path: str | Path, *, spacing: float = 1.0) -> Path:
    """Write `path`.vti, atomically: cell data `rho`, `drho`, `u` (three components) and `fluid`.

    `drho` is rho - 1 with all digits; a third of it is the pressure relative to density 1. With
    several ranks each writes its cells to `path`.RANK.vti, and `path`.pvti joins them.

    Parameters
    ----------
    simulation : Simulation
    path : str or Path
        With or without a suffix.
    spacing : float
        Edge of a cell, for example `units.dx`.

    Returns
    -------
    Path
        Path of the file to open: .vti, or .pvti with several ranks.
    """
    require_pyevtk()
    from pyevtk import vtk

    spacing = check_in_range("spacing", spacing, 0.0, np.inf, closed="neither")
    path, ranks = Path(path), simulation.domain.ranks
    ranks.require_same_call("write_vtk")
    if path.suffix not in (".vti", ".pvti"):
        path = path.with_name(path.name + ".vti")
    # rho and u are Fortran-ordered views: x varies fastest, as VTK requires.
    data = {
        "rho": simulation.rho,
        "drho": simulation.drho,
        "u": tuple(np.asfortranarray(c) for c in simulation.u),
        "fluid": np.asfortranarray(simulation.fluid.astype(np.uint8)),
    }
    if ranks.size == 1:
        path = path.with_suffix(".vti")
        _write_image(vtk, path, simulation.region, spacing, data)
        return path
    piece = path.with_suffix(f".{ranks.rank:0{len(str(ranks.size - 1))}}.vti")
    with ranks.agreeing():
        _write_image(vtk, piece, simulation.region, spacing, data)
    pieces = ranks.gather((piece.name, simulation.region))
    path = path.with_suffix(".pvti")
    with ranks.agreeing():  # the index is complete when the call returns
        if pieces is not None:
            _write_index(vtk, path, simulation, spacing, data, pieces)
    return path


def _write_image(vtk: Any, path: Path, region: Extent, spacing: float, data: dict) -> None:
    """Write the cells of a region of the domain as a file of its own."""
    from pyevtk import hl

    with replace_atomically(path) as part:
        file = vtk.VtkFile(str(part.with_suffix("")), vtk.VtkImageData)
        file.openGrid(region.start, region.stop, (0.0,) * 3, (spacing,) * 3)
        file.openPiece(region.start, region.stop)
        hl._addDataToFile(file, data, None)
        file.closePiece()
        file.closeGrid()
        hl._appendDataToFile(file, data, None)
        file.save()


def _write_index(
    vtk: Any,
    path: Path,
    simulation: Simulation,
    spacing: float,
    data: dict,
    pieces: list[tuple[str, Extent]],
) -> None:
    """Write the file that joins the images of all ranks."""
    with replace_atomically(path) as part:
        file = vtk.VtkParallelFile(str(part.with_suffix("")), vtk.VtkPImageData)
        file.openGrid((0, 0, 0), simulation.shape, (0.0,) * 3, (spacing,) * 3)
        file.openData("Cell", scalars="rho", vectors="u")
        for name, array in data.items():
            first, count = (array[0], 3) if isinstance(array, tuple) else (array, 1)
            file.addHeader(name, dtype=first.dtype, ncomp=count)
        file.closeData("Cell")
        for name, region in pieces:
            file.addPiece(region.start, region.stop, source=name)
        file.closeGrid()
        file.save()
