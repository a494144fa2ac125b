"""The faces and the solids of a case file."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from lbm._cases.prescribed import read_inflow, read_velocity
from lbm._cases.scales import Scales
from lbm._io.tables import Table
from lbm.boundaries import CONDITIONS, FACES, WALLS, Condition, NoSlip, Solid
from lbm.geometry.meshes import read_mesh
from lbm.geometry.shapes import Box, Cylinder, Sphere
from lbm.lattices.extent import Triple

FACE_TYPES = tuple(CONDITIONS)
SOLID_TYPES = tuple(name for name, condition in CONDITIONS.items() if condition.may_be_solid)

Cells = np.ndarray | Callable[..., np.ndarray]


def read_boundaries(case: Table, shape: Triple, scales: Scales) -> dict[str, Condition | Solid]:
    """Read [boundaries] and [solids] as the argument `boundaries` of a simulation."""
    boundaries: dict[str, Condition | Solid] = {}
    faces = case.table("boundaries", {})
    for key in (*"xyz", *FACES):
        if key in faces:
            boundaries[key] = read_condition(faces, key, FACE_TYPES, shape, scales)
    faces.finish()
    for name, table in case.tables("solids"):
        if name in (*"xyz", *FACES):
            raise table.error("shape", "belongs to a solid with the name of a face: rename it")
        if not name.isprintable() or set(name) & set(',"'):
            raise case.error("solids", f"has the name {name!r}, which is in headings of columns: "
                             "use no commas, quotes or control characters")  # fmt: skip
        boundaries[name] = _read_solid(table, shape, scales)
    return boundaries


def read_condition(
    table: Table, key: str, types: tuple[str, ...], shape: Triple, scales: Scales
) -> Condition:
    """Read a condition: the name of its type, or a table with its type and fields."""
    if not isinstance(table.take(key), dict):
        kind = _read_type(table, key, types)
        if kind.prescribes:
            number = "velocity = [x, y, z]" if kind.prescribes == "velocity" else "rho = 1.0"
            name = table.take(key)
            raise table.error(key, f"needs a number: {{ type = {name!r}, {number} }}")
        return kind()
    inner = table.table(key)
    kind = _read_type(inner, "type", types)
    try:
        condition = kind(**dict(_read_fields(inner, kind, shape, scales)))
    except ValueError as error:
        if str(error).startswith(table.file):
            raise
        raise ValueError(f"{table.file}: {inner.name}: {error}") from None
    inner.finish()
    return condition


def _read_type(table: Table, key: str, types: tuple[str, ...]) -> type[Condition]:
    """Read the type of a condition; "module:Class" imports one from outside of the package."""
    module, _, name = str(table.take(key)).partition(":")
    if not name:
        return CONDITIONS[table.choice(key, types)]
    try:
        kind = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise table.error(key, f"cannot be imported: {error}") from None
    if not (isinstance(kind, type) and issubclass(kind, Condition)):
        raise table.error(key, f"must name a class that derives from lbm.Condition, got {kind!r}")
    return kind


def _read_fields(
    table: Table, kind: type[Condition], shape: Triple, scales: Scales
) -> Iterator[tuple[str, Any]]:
    """Yield the names and values of the fields of a condition that a table has, or that it needs.

    Their quantities are in the metadata of the fields, and otherwise their names; others are
    numbers as they stand.
    """
    for field in dataclasses.fields(kind):
        quantity = field.metadata.get("quantity", field.name)
        if quantity == "velocity":
            read = read_inflow if kind.is_open else read_velocity
            yield field.name, read(table, shape, scales)
        elif quantity == "rho":
            yield field.name, read_density(table, scales)
        elif field.name in table or field.default is dataclasses.MISSING:
            value = table.number(field.name)
            if quantity == "duration":
                value = scales.duration(table.positive(field.name))
            yield field.name, value


def read_density(table: Table, scales: Scales) -> float:
    """Read `rho`, or with units `pressure`, as a density."""
    if "pressure" in table:
        if "rho" in table:
            raise table.error("rho", "and pressure are the same: remove one of them")
        if scales.units is None:
            raise table.error("pressure", "is in Pa and needs [units]: use rho = 1 + 3 p instead")
        return 1.0 + scales.units.to_lattice(pressure=table.number("pressure"))
    return table.positive("rho", 1.0)


def _read_solid(table: Table, shape: Triple, scales: Scales) -> Solid:
    cells = _SHAPES[table.choice("shape", tuple(_SHAPES))](table, shape, scales)
    condition: Any = NoSlip()
    if "condition" in table:
        condition = read_condition(table, "condition", SOLID_TYPES, shape, scales)
    wall = table.choice("wall", WALLS, WALLS[0])
    table.finish()
    try:
        return Solid(cells, condition, wall)
    except TypeError:
        known = ", ".join(repr(name) for name in _SHAPES if name not in _STAIRCASES)
        raise table.error("wall", f"= {wall!r} needs a shape whose surface is known: {known}"
                          ) from None  # fmt: skip
    except ValueError as error:
        raise table.error("condition", f"does not suit: {error}") from None


# ---- shapes: functions of the centres x, y, z, so that no rank needs all cells --------------


def _sphere(table: Table, shape: Triple, scales: Scales) -> Cells:
    centre = scales.position(table.vector("centre"))
    return Sphere(centre, scales.length(table.positive("radius")))


def _cylinder(table: Table, shape: Triple, scales: Scales) -> Cells:
    axis = table.choice("axis", ("x", "y", "z"), "z")
    centre = scales.position(table.vector("centre", length=2))
    return Cylinder(centre, scales.length(table.positive("radius")), axis)


def _box(table: Table, shape: Triple, scales: Scales) -> Cells:
    first_corner, last_corner = table.vector("from"), table.vector("to")
    if not all(a < b for a, b in zip(first_corner, last_corner, strict=True)):
        raise table.error("to", f"must lie above from={list(first_corner)} on every axis, "
                          f"got {list(last_corner)}")  # fmt: skip
    return Box(scales.position(first_corner), scales.position(last_corner))


def _heights(table: Table, shape: Triple, scales: Scales) -> Cells:
    """Return the cells below a surface, whose heights are in a file."""
    surface = np.array(read_array(table, "file"), float) / scales.cell
    nx, _, nz = shape
    if surface.shape != (nx, nz) or not np.isfinite(surface).all():
        raise table.error("file", f"must hold finite heights of shape {(nx, nz)}, for the columns "
                          f"[x, z], got an array of shape {surface.shape}")  # fmt: skip

    def cells(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        # Centres are at 0.5, 1.5, ...
        below: np.ndarray = y < surface[x.astype(int), z.astype(int)]
        return below

    return cells


def _mask(table: Table, shape: Triple, scales: Scales) -> Cells:
    mask = read_array(table, "file")
    if mask.shape != shape or mask.dtype != bool:
        raise table.error("file", f"must hold booleans of shape {shape}, got {mask.dtype} of "
                          f"shape {mask.shape}")  # fmt: skip
    return mask


def _mesh(table: Table, shape: Triple, scales: Scales) -> Cells:
    """Return the body whose surface is in a file of triangles."""
    path = Path(table.file).parent / table.text("file")
    if ("length" in table) == ("unit" in table):
        raise table.error("length", f"(of the body, in {scales.length_name}) or unit (that of the "
                          "file, as 0.001 for mm) is needed, and only one of them")  # fmt: skip
    size = {key: scales.length(table.positive(key)) for key in ("length", "unit") if key in table}
    if "centre" in table and "corner" in table:
        raise table.error("corner", "and centre are both there: remove one of them")
    place = {
        key: scales.position(table.vector(key)) for key in ("centre", "corner") if key in table
    }
    rotation = table.vector("rotation", (0.0, 0.0, 0.0))
    weld = table.positive("weld", 0.0, or_zero=True)
    with _naming_mesh(table):
        try:
            mesh = read_mesh(path, weld)
        except OSError as error:
            raise table.error("file", f"names {path}: {error.strerror or error}") from None
        return mesh.place(
            length=size.get("length"),
            dx=1.0 / size["unit"] if "unit" in size else None,
            centre=place.get("centre"),
            corner=place.get("corner"),
            rotation=rotation,
        )


@contextlib.contextmanager
def _naming_mesh(table: Table) -> Iterator[None]:
    """Name the table of a mesh in the warnings and in the ValueError of a block."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        except ValueError as error:
            if str(error).startswith(table.file):
                raise
            raise table.error("file", f"cannot be used: {error}") from None
    for warning in caught:
        warnings.warn(f"{table.file}: {table.name}: {warning.message}", stacklevel=4)


_SHAPES: dict[str, Callable[[Table, Triple, Scales], Cells]] = {
    "sphere": _sphere,
    "cylinder": _cylinder,
    "box": _box,
    "heights": _heights,
    "mask": _mask,
    "mesh": _mesh,
}

_STAIRCASES = "heights", "mask"
"""Shapes whose surface is known only by the cells that it covers."""


def read_array(table: Table, key: str) -> np.ndarray:
    """Return the array of an .npy file, whose path is relative to the folder of the case file."""
    path = Path(table.file).parent / table.text(key)
    if path.suffix != ".npy":
        raise table.error(key, f"must name an .npy file, got {str(path)!r}")
    try:
        array: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        raise table.error(key, f"names {path}: {error.strerror or error}") from None
    except (ValueError, EOFError) as error:
        raise table.error(key, f"names {path}, which cannot be read: {error}") from None
    return array
