"""The reader of case files: tables become dataclasses, by the fields of these.

A field is read from the key of its name, or of `key` in its metadata. Its quantity, the `quantity`
of its metadata or else its name, says how: QUANTITIES has those with a unit or a form of their own.
All others are numbers as they stand, integers or booleans by their annotations; `choices` in the
metadata are the texts that a field may have, and `required` fields have no default in a file.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from lbm._commands.cases.scales import Scales
from lbm._io.tables import REQUIRED, Table
from lbm.boundaries.prescribed import Function
from lbm.boundaries.synthetic_eddies import SyntheticEddies
from lbm.lattices.extent import Triple


@dataclasses.dataclass(frozen=True)
class Reader:
    """Reads tables of a case whose shape and units are known."""

    shape: Triple
    scales: Scales

    def read(self, table: Table, kind: type, note: str = "", **given: Any) -> Any:
        """Return an instance of a dataclass from the keys of a table.

        `given` are values of fields that are read elsewhere, and `note` stands behind the name of
        the table in errors. Keys that no field has are errors.
        """
        values = dict(given)
        for field in dataclasses.fields(kind):
            if field.name not in given:
                values.update(self._read_field(table, field))
        table.finish()
        try:
            return kind(**values)
        except (TypeError, ValueError) as error:
            if str(error).startswith(table.file):
                raise
            raise ValueError(f"{table.file}: {table.name}{note}: {error}") from None

    def _read_field(self, table: Table, field: dataclasses.Field) -> dict[str, Any]:
        """Return the value of a field by its name; nothing where its default counts."""
        key, quantity = field.metadata.get("key", field.name), field.metadata.get("quantity")
        read = self.QUANTITIES.get(quantity or field.name)
        is_needed = field.default is field.default_factory is dataclasses.MISSING
        is_needed |= field.metadata.get("required", False)
        present = [name in table for name in self.KEYS.get(quantity or field.name, (key,))]
        if not (any(present) or is_needed):
            return {}
        if read is not None:
            value = read(self, table, key)
        elif "choices" in field.metadata:
            value = table.choice(key, tuple(field.metadata["choices"]))
        elif field.type in ("int", "bool"):
            value = table.integer(key) if field.type == "int" else table.boolean(key)
        else:
            value = table.number(key)
        return {field.name: value}

    # ---- quantities --------------------------------------------------------------------------

    def read_density(self, table: Table, key: str = "rho") -> float:
        """Read `rho`, or with units `pressure`, as a density."""
        if "pressure" not in table:
            return table.positive("rho", 1.0)
        if "rho" in table:
            raise table.error("rho", "and pressure are the same: remove one of them")
        if self.scales.units is None:
            raise table.error("pressure", "is in Pa and needs [units]: use rho = 1 + 3 p instead")
        return 1.0 + self.scales.units.to_lattice(pressure=table.number("pressure"))

    def read_inflow(self, table: Table, key: str) -> Any:
        """Read the velocity of an inlet, with `turbulence` as the mean of synthetic eddies."""
        mean = read_velocity(table, self.shape, self.scales)
        if "turbulence" not in table:
            return mean
        return self.read(table.table("turbulence"), SyntheticEddies, mean=mean)

    def read_lengths(self, table: Table, key: str) -> Any:
        """Read one length, or one for each axis."""
        if isinstance(table.take(key), int | float):
            return self.scales.length(table.positive(key))
        return self.scales.position(table.vector(key))

    def read_stresses(self, table: Table, key: str) -> np.ndarray:
        """Read Reynolds stresses, in the square of the unit of speeds, as rows."""
        rows = table.take(key)
        try:
            stresses = np.array(rows, float)
        except (TypeError, ValueError):
            stresses = np.empty(0)
        if stresses.shape != (3, 3):
            raise table.error(key, f"must hold three rows of three numbers, got {rows!r}")
        return stresses * self.scales.speed(1.0) ** 2

    def read_start(self, table: Table, key: str) -> Any:
        """Read initial values: a number, or an array in a file."""
        if not isinstance(table.take(key), str):
            return table.number(key)
        return read_array(table, key, self.shape)

    QUANTITIES: ClassVar[dict[str, Callable[[Reader, Table, str], Any]]] = {
        "rho": read_density,
        "velocity": lambda r, table, key: read_velocity(table, r.shape, r.scales),
        "inflow": read_inflow,
        "lengths": read_lengths,
        "stresses": read_stresses,
        "start": read_start,
        "constant velocity": lambda r, table, key: r.scales.velocity(table.vector(key)),
        "force": lambda r, table, key: r.scales.force(table.vector(key)),
        "flux": lambda r, table, key: r.scales.speed(table.number(key)),
        "speed": lambda r, table, key: r.scales.speed(table.positive(key)),
        "diffusivity": lambda r, table, key: r.scales.diffusivity(table.positive(key)),
        "duration": lambda r, table, key: r.scales.duration(table.positive(key)),
        "length": lambda r, table, key: r.scales.length(table.positive(key)),
        "position": lambda r, table, key: r.scales.position(table.vector(key)),
        "point": lambda r, table, key: r.scales.position(table.vector(key, length=2)),
    }
    """Functions (reader, table, key) that read a quantity."""

    KEYS: ClassVar[dict[str, tuple[str, ...]]] = {
        "rho": ("rho", "pressure"),
        "velocity": ("velocity", "angular_velocity"),
        "inflow": ("velocity", "angular_velocity"),
    }
    """Keys from which a quantity is read, if not from that of its field."""


def read_array(table: Table, key: str, shape: tuple[int, ...] | None = None) -> np.ndarray:
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
    if shape is not None and array.shape != shape:
        raise table.error(key, f"must have the shape {shape}, got {array.shape}")
    return array


ACROSS = "x", "y", "z", "xy", "xz", "yz"
"""Axes along which a velocity may be a parabola."""


def read_velocity(
    table: Table, shape: Triple, scales: Scales
) -> tuple[float, float, float] | Function:
    """Read `velocity` and what makes it a function of position and time.

    `angular_velocity` about `centre` adds the velocity of a rotating body; `parabola` lets the
    velocity fall from its value in the middle of the domain to 0 at its sides along these axes;
    `ramp` is the time in which it grows from 0.
    """
    rotates = "angular_velocity" in table
    velocity = scales.velocity(table.vector("velocity", (0.0, 0.0, 0.0) if rotates else REQUIRED))
    axes = table.choice("parabola", ACROSS, None) if "parabola" in table else ""
    ramp = scales.duration(table.positive("ramp", 0.0))
    if not (rotates or axes or ramp):
        return velocity
    centre, spin = np.zeros(3), np.zeros(3)
    if rotates:
        centre = np.array(scales.position(table.vector("centre")))
        spin = np.array(scales.rate(table.vector("angular_velocity")))

    def velocity_at(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> Any:
        position = {"x": x, "y": y, "z": z}
        share = 1.0
        for axis in axes:
            n = shape["xyz".index(axis)]
            share = share * (4.0 * position[axis] * (n - position[axis]) / n**2)
        rx, ry, rz = x - centre[0], y - centre[1], z - centre[2]
        wx, wy, wz = spin
        return (
            share * velocity[0] + (wy * rz - wz * ry),
            share * velocity[1] + (wz * rx - wx * rz),
            share * velocity[2] + (wx * ry - wy * rx),
        )

    if not ramp:
        return velocity_at

    def at_time(x: np.ndarray, y: np.ndarray, z: np.ndarray, t: float) -> Any:
        grown = math.sin(0.5 * math.pi * min(1.0, t / ramp)) ** 2
        return tuple(grown * c for c in velocity_at(x, y, z))

    return at_time
