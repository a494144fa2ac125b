"""The format of checkpoints.

A file consists of the line `LBM-D3Q19 1`, which names the lattice and the version of the format, 1,
the length of the header as 8 bytes (little endian), a header in JSON, the populations, a table of
the BLAKE2b digests (32 bytes each) of their slabs, the number of slabs as 8 bytes, and the digest
of everything but the populations. The populations are f_q - w_q as the next step will read them, in
slabs of `slab` layers z; a slab is an array [q, z, y, x] of little-endian float32 or float64.
Behind its populations are `companion_rows` more numbers of each cell, such as the targets of
sponges. Their order does not depend on the streaming pattern, the devices or the ranks, so that a
run may continue with others; the precision must be the same. Since each slab has its own digest,
ranks write and check slabs at the same time.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lbm._coupled.flow import Flow
from lbm._kernels.problem import Problem
from lbm.boundaries import Condition
from lbm.errors import CheckpointError
from lbm.geometry.wall_links import Links
from lbm.lattices import LATTICES, Lattice

FIRST_LINE_BYTES = len(b"LBM-D3Q19 1\n")
"""Size of the first line of a checkpoint: the names of all lattices have the same length."""

DIGEST_BYTES = 32
"""Size of a BLAKE2b digest."""

_DISTANCE_STEPS = 2.0**20
"""Parts of a link in which a wall may stand: those that differ by less count as the same."""

_SLAB_CELLS = 1 << 17
"""Cells of a slab, unless a layer has more: 10 MB of float32. Ranks hold a few copies of a slab
while they write or read it, which must be little beside their part of a domain."""


class Layout(NamedTuple):
    """Positions of the parts of a checkpoint.

    Attributes
    ----------
    lattice : the lattice
    header : the fields of the header
    begin : position of the first slab in bytes
    dtype : of the populations
    """

    lattice: Lattice
    header: dict[str, Any]
    begin: int
    dtype: np.dtype

    @property
    def layers(self) -> list[tuple[int, int]]:
        """Layers (z0, z1) of each slab."""
        nz, thickness = self.header["shape"][2], self.header["slab"]
        return [(z, min(z + thickness, nz)) for z in range(0, nz, thickness)]

    @property
    def rows(self) -> int:
        """Numbers of a cell: its populations, and those of companions."""
        return self.lattice.size + int(self.header["companion_rows"])

    @property
    def layer_bytes(self) -> int:
        """Size of what is kept of a layer."""
        nx, ny, _ = self.header["shape"]
        return self.rows * nx * ny * self.dtype.itemsize

    def position(self, k: int) -> int:
        """Position of slab number k, or, for the number of slabs, of the table of digests."""
        z = self.layers[k][0] if k < len(self.layers) else self.header["shape"][2]
        return self.begin + z * self.layer_bytes

    @property
    def size(self) -> int:
        """Size of the file."""
        return self.position(len(self.layers)) + (len(self.layers) + 1) * DIGEST_BYTES + 8


def first_line(lattice: Lattice) -> bytes:
    """Return the first line of the checkpoints of a lattice, with the version of the format."""
    return f"LBM-{lattice.name} 1\n".encode()


def make_header(flow: Flow, steps: int) -> dict[str, Any]:
    """Return the header of a checkpoint of a flow after a number of steps."""
    p, shape = flow.problem, flow.shape
    return {
        "shape": list(shape),
        "steps": steps,
        "precision": p.precision.storage_name,
        "walls": hash_walls(flow),
        "boundaries": describe_walls(flow),
        "collision": repr(p.collision),
        "force": list(p.force),
        "companions": [text for c in flow.companions if (text := c.describe(steps))],
        "companion_rows": sum(c.rows for c in flow.companions),
        "slab": max(1, _SLAB_CELLS // (shape[0] * shape[1])),
    }


def describe_walls(flow: Flow) -> list[str]:
    """Return faces and solids in words, which say what differs where the hash does."""
    sizes = {n: flow.domain.ranks.sum(k) for n, k in flow.problem.links.solid_sizes.items()}
    conditions = flow.enclosure.conditions
    walls = {name: f"{name}: {_describe_condition(c)}" for name, c in conditions.items()}
    for name, solid in flow.solids.items():
        walls[name] += f", {sizes[name]} cells, wall={solid.wall!r}"
    return list(walls.values())


def _describe_condition(condition: Condition) -> str:
    """Return a condition with its numbers; of functions their types."""
    values = {field.name: getattr(condition, field.name) for field in fields(condition)}
    listed = (
        f"{k}={v if isinstance(v, float | tuple) else type(v).__name__}" for k, v in values.items()
    )
    return f"{type(condition).__name__}({', '.join(listed)})"


def describe_differences(path: Path, header: dict[str, Any], expected: dict[str, Any]) -> str:
    """Return what differs in the header of a checkpoint from that of a flow; "" if nothing does."""
    lists = {"walls": "boundaries", "companions": "companions"}
    skipped = {"steps", "slab", "boundaries"}  # the hash of walls counts, and these describe it
    if header["companions"] != expected["companions"]:
        skipped.add("companion_rows")
    differences = []
    for key in expected:
        theirs, ours = header[key], expected[key]
        if key in skipped or theirs == ours:
            continue
        if key in lists:
            theirs, ours = header[lists[key]], expected[lists[key]]
            theirs, ours = (
                [x for x in theirs if x not in ours],
                [x for x in ours if x not in theirs],
            )
        if not theirs and not ours:
            theirs, ours = "those of this file", "others: cells of solids or velocities differ"
        name = "bodies, sponges, scalars and outlets" if key.startswith("companion") else key
        differences.append(f"{name}={theirs!r}, but this simulation has {ours!r}")
    return f"{path} was written with " + "; and with ".join(differences) if differences else ""


def hash_walls(flow: Flow) -> str:
    """Return a hash of the walls around each cell, the same for any number of ranks.

    A cell contributes a hash of its position and of its walls; the sum does not depend on order.
    """
    links = flow.problem.links
    z, y, x = np.nonzero(links.classes)
    x0, y0, z0 = flow.region.start
    nx, ny, _ = flow.shape
    position = ((z + z0) * ny + (y + y0)) * nx + (x + x0)
    # Values that change with time differ between the saved step and the first one: they count as
    # "varying", which infinity says.
    types = np.where(links.is_varying[:, None], np.inf, links.wall_types)
    walls = np.array([_hash_class(links, types, c) for c in range(len(links.masks))], np.uint64)
    mixed = _mix(position.astype(np.uint64) ^ walls[links.classes[z, y, x]])
    hash_of_rank = int(mixed.sum(dtype=np.uint64)) + _hash_cut_links(flow)
    total = flow.domain.ranks.gather_all(hash_of_rank)
    return f"{sum(total) % (1 << 64):016x}"


def _hash_cut_links(flow: Flow) -> int:
    """Return the sum of the hashes of links that interpolated walls cut, and of where they do."""
    links = flow.problem.links.cut
    if links is None:
        return 0
    z, y, x = (links.cells + np.array(flow.region.start[::-1])).T
    nx, ny, _ = flow.shape
    cell = (z * ny + y) * nx + x
    position = (cell * links.lattice.size + links.q).astype(np.uint64)
    distance = np.rint(links.distance * _DISTANCE_STEPS).astype(np.uint64)
    return int(_mix(position ^ _mix(distance + np.uint64(1))).sum(dtype=np.uint64))


def _hash_class(links: Links, types: np.ndarray, c: int) -> int:
    """Return a hash of all that walls around cells of a class do; `types` are those of walls."""
    digest = hashlib.blake2b(links.masks[c].tobytes(), digest_size=8)
    digest.update(links.wall_rows[c, :, 1].astype(np.uint8).tobytes())
    digest.update(types[links.wall_rows[c, :, 0]].tobytes())
    digest.update(bytes([c == 1]))
    return int.from_bytes(digest.digest(), "little")


def _mix(x: np.ndarray) -> np.ndarray:
    """Return well mixed words (the finalizer of SplitMix64, Steele et al. 2014)."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    return x


def first_not_finite(slab: np.ndarray, z0: int) -> tuple[int, int, int] | None:
    """Return the cell (x, y, z) of the first population [q, z, y, x] that is NaN or infinite."""
    finite = np.isfinite(slab)
    if finite.all():
        return None
    _, z, y, x = np.unravel_index(int(finite.argmin()), slab.shape)
    return int(x), int(y), int(z) + z0


def digest_of(*chunks: Any) -> bytes:
    """Return the BLAKE2b digest of some bytes."""
    digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
    for chunk in chunks:
        digest.update(chunk)
    return digest.digest()


def read_layout(path: Path, data: memoryview, problem: Problem, dtype: np.dtype) -> Layout:
    """Return the layout of a file, if its size and the digests of its ends are right.

    `problem` is that of the flow that is to be restored, and `dtype` that of its populations.
    """
    start, precision = FIRST_LINE_BYTES + 8, problem.precision.storage_name
    _require_lattice(path, bytes(data[:FIRST_LINE_BYTES]), problem.lattice)
    begin = start + int.from_bytes(data[start - 8 : start], "little")
    if begin > len(data):
        raise CheckpointError(f"{path} is damaged or cut: its header does not fit into it")
    text = bytes(data[start:begin])
    count = int.from_bytes(data[-DIGEST_BYTES - 8 : -DIGEST_BYTES], "little")
    table = data[max(begin, len(data) - DIGEST_BYTES * (count + 1) - 8) : -DIGEST_BYTES]
    if digest_of(data[:begin], table) != bytes(data[-DIGEST_BYTES:]):
        raise CheckpointError(f"{path} is damaged: its checksum does not match")
    header = parse_header(path, text)
    if header["precision"] != precision:
        raise CheckpointError(
            f"{path} was written with precision={header['precision']!r}, but this simulation has "
            f"{precision!r}"
        )
    layout = Layout(problem.lattice, header, begin, dtype)
    if layout.size != len(data):
        raise CheckpointError(f"{path} is too short or too long for its shape")
    return layout


def _require_lattice(path: Path, line: bytes, lattice: Lattice) -> None:
    """Raise CheckpointError if a file does not begin with the first line of this lattice."""
    if line == first_line(lattice):
        return
    for other in LATTICES.values():
        if line == first_line(other):
            raise CheckpointError(
                f"{path} was written with lattice={other.name!r}, but this simulation has "
                f"{lattice.name!r}: restore it with the other one (--lattice {other.name})"
            )
    raise CheckpointError(
        f"{path} is not a checkpoint that can be read: it does not begin with "
        f"{first_line(lattice)!r}"
    )


def read_slab(path: Path, data: memoryview, layout: Layout, k: int) -> np.ndarray:
    """Return slab number k, if its digest is right."""
    begin, end = layout.position(k), layout.position(k + 1)
    table = layout.position(len(layout.layers)) + k * DIGEST_BYTES
    if digest_of(data[begin:end]) != bytes(data[table : table + DIGEST_BYTES]):
        raise CheckpointError(f"{path} is damaged: the checksum of slab {k} does not match")
    (z0, z1), (nx, ny, _) = layout.layers[k], layout.header["shape"]
    return np.frombuffer(data[begin:end], layout.dtype).reshape(layout.rows, z1 - z0, ny, nx)


def parse_header(path: Path, text: bytes) -> dict[str, Any]:
    """Return the header, if all its fields are present and valid."""
    try:
        header = json.loads(text)
    except ValueError as error:
        raise CheckpointError(f"{path} has a header that is not valid JSON: {error}") from None
    if not isinstance(header, dict):
        raise CheckpointError(f"{path} has a header that is not a JSON object")
    for key, (is_valid, description) in _FIELDS.items():
        if key not in header:
            raise CheckpointError(f"{path} has no {key!r} in its header")
        if not is_valid(header[key]):
            raise CheckpointError(
                f"{path} has {key}={header[key]!r} in its header, not {description}"
            )
    return header


_Field = tuple[Callable[[Any], bool], str]


def _is_integer(value: object, least: int) -> bool:
    return isinstance(value, int) and type(value) is int and least <= value < 1 << 63


def _is_three(value: object, is_valid: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and len(value) == 3 and all(map(is_valid, value))


_TEXT: _Field = (lambda value: isinstance(value, str)), "a string"
_FIELDS: dict[str, _Field] = {
    "shape": (lambda v: _is_three(v, lambda n: _is_integer(n, 1)), "three positive integers"),
    "steps": (lambda v: _is_integer(v, 0), "an integer of at least 0"),
    "slab": (lambda v: _is_integer(v, 1), "an integer of at least 1"),
    "force": (lambda v: _is_three(v, lambda x: type(x) in (int, float)), "three numbers"),
    "companions": (lambda v: isinstance(v, list), "a list"),
    "companion_rows": (lambda v: _is_integer(v, 0), "an integer of at least 0"),
    "precision": _TEXT,
    "walls": _TEXT,
    "boundaries": ((lambda v: isinstance(v, list)), "a list"),
    "collision": _TEXT,
}
"""Fields of a header: a function that validates each, and a description of valid values."""
