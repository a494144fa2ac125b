"""Checkpoints: the state of a flow in one file.

Format, version 1: the line `LBM-D3Q19 1`, the length of the header as 8 bytes (little endian), a
header in JSON, the populations, and the BLAKE2b digest (32 bytes) of everything before it. The
populations are f_q - w_q as the next step will read them, in slabs of `slab` layers z; a slab is an
array [q, z, y, x] of little-endian float32 or float64. Their order does not depend on the streaming
pattern or the device, so that a run may continue with others; the precision must be the same. The
file is written beside its target and then renamed: a crash leaves the old file as it was, and
partial files of killed processes (`NAME.*.part`) are removed when the checkpoint is written again.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hetero.atomic_files import replace_atomically
from lbm._model.lattice import Q
from lbm.errors import CheckpointError, UnstableError

if TYPE_CHECKING:
    from lbm._model.problem import Problem
    from lbm.simulation import Simulation

MAGIC = b"LBM-D3Q19 1\n"
"""First line of a checkpoint, with the version of the format."""

_DIGEST_BYTES = 32
_SLAB_CELLS = 1 << 22  # 304 MiB of float32: large enough to write fast, small beside a domain


def _hash_walls(problem: Problem) -> str:
    """Hash of the wall tables, so that a checkpoint is only restored into the same geometry."""
    digest = hashlib.blake2b(digest_size=16)
    for array in (problem.links.classes, problem.links.masks, problem.links.wall_rows):
        digest.update(np.ascontiguousarray(array).data)
    digest.update(problem.links.wall_types.tobytes())
    return digest.hexdigest()


def _make_header(simulation: Simulation) -> dict[str, Any]:
    p = simulation.problem
    return {
        "shape": list(simulation.shape),
        "steps": simulation.steps,
        "precision": p.precision.name,
        "walls": _hash_walls(p),
        "collision": repr(p.collision),
        "force": list(p.force),
        "slab": max(1, _SLAB_CELLS // (simulation.shape[0] * simulation.shape[1])),
    }


def save(simulation: Simulation, path: str | Path) -> Path:
    """Write the state of `simulation` to `path`, atomically.

    Raises
    ------
    UnstableError
        If the state is not finite. A file that exists already stays as it is.
    """
    path = Path(path)
    header = _make_header(simulation)
    text = json.dumps(header).encode()
    digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    with replace_atomically(path) as part, part.open("wb") as file:
        start: tuple[bytes | memoryview, ...] = MAGIC, len(text).to_bytes(8, "little"), text
        for chunk in itertools.chain(start, _read_slabs(simulation, header)):
            digest.update(chunk)
            file.write(chunk)
        file.write(digest.digest())
    return path


def _read_slabs(simulation: Simulation, header: dict[str, Any]) -> Iterator[bytes | memoryview]:
    """Yield the populations slab by slab; raise UnstableError if they are not finite."""
    for z0, z1 in _slab_ranges(header):
        slab = np.ascontiguousarray(
            simulation.domain.read_to_host("read_populations", simulation.steps, z0, z1)
        )
        if (cell := _first_not_finite(slab, z0)) is not None:
            raise UnstableError(
                f"the state of step {simulation.steps} is not finite in cell {cell} and was not "
                "saved",
                simulation.steps,
                cell,
            )
        yield slab.data.cast("B")


def _first_not_finite(slab: np.ndarray, z0: int) -> tuple[int, int, int] | None:
    """Return the cell (x, y, z) of the first population [q, z, y, x] that is NaN or infinite."""
    finite = np.isfinite(slab)
    if finite.all():
        return None
    _, z, y, x = np.unravel_index(int(finite.argmin()), slab.shape)
    return int(x), int(y), int(z) + z0


def _slab_ranges(header: dict[str, Any]) -> list[tuple[int, int]]:
    nz, thickness = header["shape"][2], header["slab"]
    return [(z, min(z + thickness, nz)) for z in range(0, nz, thickness)]


def restore(simulation: Simulation, path: str | Path) -> None:
    """Restore the state of `simulation` from `path`.

    Raises
    ------
    CheckpointError
        If the file is damaged, if it belongs to another shape, precision, geometry, collision or
        force, or if its state is not finite. The simulation is unchanged then.
    """
    path = Path(path)
    data = _verify_file(path)
    begin = len(MAGIC) + 8
    size = int.from_bytes(data[len(MAGIC) : begin], "little")
    header = _parse_header(path, bytes(data[begin : begin + size]))
    for key, expected in _make_header(simulation).items():
        if key not in ("steps", "slab") and header[key] != expected:
            raise CheckpointError(
                f"{path} was written with {key}={header[key]!r}, but this simulation has "
                f"{expected!r}"
            )
    nx, ny, nz = header["shape"]
    T = np.dtype(simulation.problem.precision.compute).newbyteorder("<")
    if len(data) - _DIGEST_BYTES - begin - size != Q * nx * ny * nz * T.itemsize:
        raise CheckpointError(f"{path} is too short or too long for its shape")

    def slabs() -> Iterator[tuple[int, np.ndarray]]:
        offset = begin + size
        for z0, z1 in _slab_ranges(header):
            count = Q * (z1 - z0) * ny * nx
            yield z0, np.frombuffer(data, T, count, offset).reshape(Q, z1 - z0, ny, nx)
            offset += count * T.itemsize

    for z0, slab in slabs():  # check all slabs before an error could leave a mixed state
        if (cell := _first_not_finite(slab, z0)) is not None:
            raise CheckpointError(f"{path} holds a state that is not finite in cell {cell}")
    for z0, slab in slabs():
        simulation.domain.write("write_populations", header["steps"], z0, slab)
    simulation.mark_changed(header["steps"])


def _parse_header(path: Path, text: bytes) -> dict[str, Any]:
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
    "precision": _TEXT,
    "walls": _TEXT,
    "collision": _TEXT,
}
"""Fields of a header: a function that validates each, and a description of valid values."""


def _verify_file(path: Path) -> memoryview:
    """Return the bytes of a file, if its first line and its checksum are correct."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: give the path of a checkpoint in it")
    if not path.is_file():
        raise FileNotFoundError(f"the checkpoint {path} does not exist")
    if path.stat().st_size <= len(MAGIC) + 8 + _DIGEST_BYTES:
        raise CheckpointError(f"{path} is not a checkpoint: it has {path.stat().st_size} bytes")
    mapped: Any = np.memmap(path, np.uint8, "r")
    data = memoryview(mapped)
    if bytes(data[: len(MAGIC)]) != MAGIC:
        raise CheckpointError(
            f"{path} is not a checkpoint of version 1: it does not begin with {MAGIC!r}"
        )
    digest = hashlib.blake2b(data[:-_DIGEST_BYTES], digest_size=_DIGEST_BYTES).digest()
    if digest != bytes(data[-_DIGEST_BYTES:]):
        raise CheckpointError(f"{path} is damaged: its checksum does not match")
    return data
