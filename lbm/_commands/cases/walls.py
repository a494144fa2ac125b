"""The faces and the solids of a case file."""

from __future__ import annotations

import contextlib
import importlib
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from lbm._commands.cases.reader import Reader, read_array
from lbm._io.tables import Table
from lbm.boundaries import CONDITIONS, FACES, WALLS, Condition, NoSlip, Solid
from lbm.boundaries.motion import Motion, Rotation, Translation
from lbm.geometry.meshes import read_mesh
from lbm.geometry.shapes import Box, Cylinder, Sphere

FACE_TYPES = tuple(CONDITIONS)
SOLID_TYPES = tuple(name for name, condition in CONDITIONS.items() if condition.may_be_solid)

Cells = np.ndarray | Callable[..., np.ndarray]


def read_boundaries(case: Table, reader: Reader) -> dict[str, Condition | Solid]:
    """Read [boundaries] and [solids] as the argument `boundaries` of a simulation."""
    boundaries: dict[str, Condition | Solid] = {}
    faces = case.table("boundaries", {})
    for key in (*"xyz", *FACES):
        if key in faces:
            boundaries[key] = read_condition(faces, key, FACE_TYPES, reader)
    faces.finish()
    for name, table in case.tables("solids"):
        if name in (*"xyz", *FACES):
            raise table.error("shape", "belongs to a solid with the name of a face: rename it")
        if not name.isprintable() or set(name) & set(',"'):
            raise case.error("solids", f"has the name {name!r}, which is in headings of columns: "
                             "use no commas, quotes or control characters")  # fmt: skip
        boundaries[name] = _read_solid(table, reader)
    return boundaries


def read_condition(table: Table, key: str, types: tuple[str, ...], reader: Reader) -> Condition:
    """Read a condition: the name of its type, or a table with its type and fields."""
    if isinstance(table.take(key), dict):
        inner = table.table(key)
        return reader.read(inner, _read_type(inner, "type", types))
    kind = _read_type(table, key, types)
    if kind.prescribes:
        number = "velocity = [x, y, z]" if kind.prescribes == "velocity" else "rho = 1.0"
        raise table.error(key, f"needs a number: {{ type = {table.take(key)!r}, {number} }}")
    return kind()


def _read_type(table: Table, key: str, types: tuple[str, ...]) -> type[Condition]:
    """Read the type of a condition; "module:Class" imports one from outside of the package."""
    module, _, name = str(table.take(key)).partition(":")
    if not name:
        return CONDITIONS[table.choice(key, types)]
    try:
        kind = getattr(importlib.import_module(module), name)
    except Exception as error:  # the module is a user's
        raise table.error(key, f"cannot be imported: {type(error).__name__}: {error}") from error
    if not (isinstance(kind, type) and issubclass(kind, Condition)):
        raise table.error(key, f"must name a class that derives from lbm.Condition, got {kind!r}")
    return kind


def _read_solid(table: Table, reader: Reader) -> Solid:
    """Read a solid: its shape, condition, wall and motion."""
    read = _SHAPES[table.choice("shape", tuple(_SHAPES))]
    condition: Condition = NoSlip()
    if "condition" in table:
        condition = read_condition(table, "condition", SOLID_TYPES, reader)
    wall = table.choice("wall", WALLS, WALLS[0])
    motion = _read_motion(table, reader) if "motion" in table else None
    cells = reader.read(table, read) if isinstance(read, type) else read(table, reader)
    table.finish()
    try:
        return Solid(cells, condition, wall, motion)
    except TypeError:
        raise table.error("wall", f"= {wall!r} needs a shape whose surface is known: {_KNOWN}"
                          ) from None  # fmt: skip
    except ValueError as error:
        raise table.error("condition", f"does not suit: {error}") from None


def _read_motion(table: Table, reader: Reader) -> tuple[Motion, ...]:
    """Read the motion of a solid: a velocity or an oscillation, and a rotation."""
    if table.take("shape") in _STAIRCASES:
        raise table.error("motion", f"needs a shape whose surface is known: {_KNOWN}")
    motion, scales = table.table("motion"), reader.scales
    motions: list[Motion] = []
    try:
        if "amplitude" in motion:
            amplitude = np.array(scales.position(motion.vector("amplitude")))
            turn = 2.0 * np.pi / scales.duration(motion.positive("period"))
            motions.append(Translation(lambda t: tuple(amplitude * np.sin(turn * t))))
        elif "velocity" in motion or "angular_velocity" not in motion:
            motions.append(Translation(scales.velocity(motion.vector("velocity"))))
        if "angular_velocity" in motion:
            spin = scales.rate(motion.vector("angular_velocity"))
            centre = scales.position(motion.vector("centre"))
            motions.append(Rotation(centre, spin, float(np.linalg.norm(spin))))
    except ValueError as error:
        if str(error).startswith(table.file):
            raise
        raise table.error("motion", f"cannot be used: {error}") from None
    motion.finish()
    return tuple(motions)


# ---- shapes: functions of the centres x, y, z, so that no rank needs all cells --------------


def _box(table: Table, reader: Reader) -> Cells:
    first_corner, last_corner = table.vector("from"), table.vector("to")
    if not all(a < b for a, b in zip(first_corner, last_corner, strict=True)):
        raise table.error("to", f"must lie above from={list(first_corner)} on every axis, "
                          f"got {list(last_corner)}")  # fmt: skip
    return Box(reader.scales.position(first_corner), reader.scales.position(last_corner))


def _heights(table: Table, reader: Reader) -> Cells:
    """Return the cells below a surface, whose heights are in a file."""
    surface = np.array(read_array(table, "file"), float) / reader.scales.cell
    nx, _, nz = reader.shape
    if surface.shape != (nx, nz) or not np.isfinite(surface).all():
        raise table.error("file", f"must hold finite heights of shape {(nx, nz)}, for the columns "
                          f"[x, z], got an array of shape {surface.shape}")  # fmt: skip

    def cells(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        # Centres are at 0.5, 1.5, ...
        return y < surface[x.astype(int), z.astype(int)]

    return cells


def _mask(table: Table, reader: Reader) -> Cells:
    mask, shape = read_array(table, "file"), reader.shape
    if mask.shape != shape or mask.dtype != bool:
        raise table.error("file", f"must hold booleans of shape {shape}, got {mask.dtype} of "
                          f"shape {mask.shape}")  # fmt: skip
    return mask


def _mesh(table: Table, reader: Reader) -> Cells:
    """Return the body whose surface is in a file of triangles."""
    path, scales = Path(table.file).parent / table.text("file"), reader.scales
    if ("length" in table) == ("unit" in table):
        raise table.error("length", f"(of the body, in {scales.length_name}) or unit (that of the "
                          "file, as 0.001 for mm) is needed, and only one of them")  # fmt: skip
    arguments: dict[str, Any] = {}
    if "length" in table:
        arguments["length"] = scales.length(table.positive("length"))
    else:
        arguments["dx"] = 1.0 / scales.length(table.positive("unit"))
    if "centre" in table and "corner" in table:
        raise table.error("corner", "and centre are both there: remove one of them")
    for key in ("centre", "corner"):
        if key in table:
            arguments[key] = scales.position(table.vector(key))
    arguments["rotation"] = table.vector("rotation", (0.0, 0.0, 0.0))
    weld = table.positive("weld", 0.0, or_zero=True)
    repair = table.boolean("repair", False)
    arguments["minimum_thickness"] = table.integer("minimum_thickness", 0)
    with _naming_mesh(table):
        try:
            mesh = read_mesh(path, weld, repair=repair)
        except OSError as error:
            raise table.error("file", f"names {path}: {error.strerror or error}") from None
        return mesh.place(**arguments)


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


_SHAPES: dict[str, Any] = {
    "sphere": Sphere,
    "cylinder": Cylinder,
    "box": _box,
    "heights": _heights,
    "mask": _mask,
    "mesh": _mesh,
}

"""Shapes: dataclasses, or functions (table, reader) that read them."""

_STAIRCASES = "heights", "mask"
"""Shapes whose surface is known only by the cells that it covers."""

_KNOWN = ", ".join(repr(name) for name in _SHAPES if name not in _STAIRCASES)
