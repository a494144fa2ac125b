"""VTK files for ParaView, written by pyevtk: one image, or one for each rank and an index."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hetero.data_files.atomic_files import replace_atomically
from hetero.validation import describe
from lbm._coupled.flow import Flow
from lbm._io.fields import Fields, collect_fields, require_finite, require_options
from lbm.lattices.extent import Extent
from lbm.units import Units


def require_pyevtk() -> None:
    """Raise ImportError with the remedy if pyevtk is missing: before a long run, not after it."""
    if importlib.util.find_spec("pyevtk") is None:
        raise ImportError("VTK files need pyevtk: pip install 'heterokit[io]'")


def write_vtk(
    flow: Flow, path: str | Path, *, units: Units | None = None, derived: Sequence[str] = ()
) -> Path:
    """Write the fields of all cells as a VTK image; see `Simulation.write_vtk`."""
    require_pyevtk()
    path, ranks = Path(path), flow.domain.ranks
    ranks.require_same_call("write_vtk", {"derived": describe(derived)})
    if path.suffix not in (".vti", ".pvti"):
        path = path.with_name(path.name + ".vti")
    with ranks.agreeing():
        require_options(units, derived)
        require_finite(flow)
    image = _collect_arrays(flow, units, derived)
    if ranks.size == 1:
        path = path.with_suffix(".vti")
        _write_image(path, flow.region, image)
        return path
    piece = path.with_suffix(f".{ranks.rank:0{len(str(ranks.size - 1))}}.vti")
    with ranks.agreeing():
        _write_image(piece, flow.region, image)
    pieces = ranks.gather((piece.name, flow.region))
    path = path.with_suffix(".pvti")
    with ranks.agreeing():  # the index is complete when the call returns
        if pieces is not None:
            _write_index(path, flow.shape, image, pieces)
    return path


def write_series(path: Path, files: Sequence[tuple[Path, float]]) -> None:
    """Write a .pvd file that lists images and their times, which ParaView opens as one series."""
    from pyevtk import vtk

    with replace_atomically(path) as part:
        group = vtk.VtkGroup(str(part.with_suffix("")))
        for file, time in files:
            group.addFile(str(file), time)
        group.save()


def _collect_arrays(flow: Flow, units: Units | None, derived: Sequence[str]) -> Fields:
    """Return the fields of this rank in the order of VTK, in which x varies fastest; vectors are
    tuples of three arrays."""
    collected, arrays = collect_fields(flow, units, derived), dict[str, Any]()
    for name, field in collected.fields.items():
        values = field.values.astype(np.uint8) if field.values.dtype == bool else field.values
        is_vector = values.ndim == 4
        arrays[name] = (
            tuple(map(np.asfortranarray, values)) if is_vector else np.asfortranarray(values)
        )
    return collected._replace(fields=arrays)


def _write_image(path: Path, region: Extent, image: Fields) -> None:
    """Write the cells of a region of the domain as a file of its own."""
    from pyevtk import vtk

    with replace_atomically(path) as part:
        file = vtk.VtkFile(str(part.with_suffix("")), vtk.VtkImageData)
        file.openGrid(region.start, region.stop, (0.0,) * 3, (image.spacing,) * 3)
        _add_time(file, image.time)
        file.openPiece(region.start, region.stop)
        file.openData("Cell", scalars=next(iter(image.fields)), vectors="u")
        for name, values in image.fields.items():
            file.addData(name, values)
        file.closeData("Cell")
        file.closePiece()
        file.closeGrid()
        for values in image.fields.values():
            file.appendData(values)
        file.save()


def _add_time(file: Any, time: float) -> None:
    """Add the time where VTK looks for it.

    An array that pyevtk's `addData` describes would have no tuples for VTK.
    """
    file.openData("Field")
    file.xml.openElement("DataArray").addAttributes(
        type="Float64", Name="TimeValue", NumberOfTuples=1, format="ascii"
    )
    file.xml.addText(repr(time)).closeElement("DataArray")
    file.closeData("Field")


def _write_index(
    path: Path, shape: tuple[int, int, int], image: Fields, pieces: list[tuple[str, Extent]]
) -> None:
    """Write the file that joins the images of all ranks."""
    from pyevtk import vtk

    with replace_atomically(path) as part:
        file = vtk.VtkParallelFile(str(part.with_suffix("")), vtk.VtkPImageData)
        file.openGrid((0, 0, 0), shape, (0.0,) * 3, (image.spacing,) * 3)
        # VTK reads no arrays from <CellData>, which pyevtk writes for "Cell" here, too.
        file.openData("PCell", scalars=next(iter(image.fields)), vectors="u")
        for name, values in image.fields.items():
            first, count = (values[0], 3) if isinstance(values, tuple) else (values, 1)
            kind = vtk.np_to_vtk[first.dtype.name].name
            file.xml.openElement("PDataArray")
            file.xml.addAttributes(type=kind, Name=name, NumberOfComponents=count)
            file.xml.closeElement()
        file.closeData("PCell")
        for name, region in pieces:
            file.addPiece(region.start, region.stop, source=name)
        file.closeGrid()
        file.save()
