"""Checkpoints: the state of a flow in one file.

Format, version 1: the line `LBM-D3Q19 1`, the length of the header as 8 bytes (little endian), a
header in JSON, the populations, 32 bytes of BLAKE2b of all that stands before. Populations are
f_q - w_q as the next step will read them, in slabs of `slab` planes z; a slab is an array
[q, z, y, x] of little-endian float32 or float64. The order does not depend on the memory pattern
or the device, so that a run may go on with others; the precision must be the same. The file is
written beside its target and then renamed: a crash leaves the old one as it was, and what a killed
process leaves (`NAME.*.part`) is removed when the checkpoint is written again.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from pathlib import Path

import numpy as np

from lbm.atomic_files import replacing
from lbm.errors import CheckpointError, UnstableError
from lbm.lattice import Q

MAGIC = b"LBM-D3Q19 1\n"
_DIGEST = 32
_CELLS = 1 << 22  # of a slab


def _fingerprint(problem) -> str:
    """Of the walls: a state belongs to its geometry."""
    digest = hashlib.blake2b(digest_size=16)
    for array in (problem.links.classes, problem.links.masks, problem.links.materials):
        digest.update(np.ascontiguousarray(array).data)
    digest.update(problem.links.kinds.tobytes())
    return digest.hexdigest()


def _header(simulation) -> dict:
    p = simulation.problem
    return {
        "shape": list(simulation.shape),
        "steps": simulation.steps,
        "precision": p.precision.name,
        "walls": _fingerprint(p),
        "collision": repr(p.collision),
        "force": list(p.force),
        "slab": max(1, _CELLS // (simulation.shape[0] * simulation.shape[1])),
    }


def save(simulation, path) -> Path:
    """Write the state of `simulation` to `path`, atomically.

    Raises
    ------
    UnstableError
        The state is not finite. A file that was there before stays as it is.
    """
    path = Path(path)
    head = _header(simulation)
    text = json.dumps(head).encode()
    digest = hashlib.blake2b(digest_size=_DIGEST)
    with replacing(path) as part, part.open("wb") as file:
        start = MAGIC, len(text).to_bytes(8, "little"), text
        for piece in itertools.chain(start, _slabs(simulation, head)):  # a slab at a time
            digest.update(piece)
            file.write(piece)
        file.write(digest.digest())
    return path


def _slabs(simulation, head):
    for z0, z1 in _ranges(head):
        slab = np.ascontiguousarray(simulation._read("gather", Q, z0, z1))
        if (cell := _first_not_finite(slab, z0)) is not None:
            raise UnstableError(
                f"the state of step {simulation.steps} is not finite in cell {cell}: it was not "
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


def _ranges(head):
    nz = head["shape"][2]
    return [(z, min(z + head["slab"], nz)) for z in range(0, nz, head["slab"])]


def restore(simulation, path):
    """Give `simulation` the state in `path`.

    Raises
    ------
    CheckpointError
        When the file is damaged or belongs to another shape, precision, geometry, collision or
        force, or holds a state that is not finite. The simulation is unchanged then.
    """
    path = Path(path)
    data = _verified(path)
    begin = len(MAGIC) + 8
    size = int.from_bytes(data[len(MAGIC) : begin], "little")
    head = _verified_header(path, bytes(data[begin : begin + size]))
    for key, mine in _header(simulation).items():
        if key not in ("steps", "slab") and head[key] != mine:
            raise CheckpointError(
                f"{path} was written with {key}={head[key]!r}, this simulation has {mine!r}"
            )
    nx, ny, nz = head["shape"]
    T = np.dtype(simulation.problem.precision.compute).newbyteorder("<")
    if len(data) - _DIGEST - begin - size != Q * nx * ny * nz * T.itemsize:
        raise CheckpointError(f"{path} is too short or too long for its shape")

    def slabs():
        at = begin + size
        for z0, z1 in _ranges(head):
            count = Q * (z1 - z0) * ny * nx
            yield z0, np.frombuffer(data, T, count, at).reshape(Q, z1 - z0, ny, nx)
            at += count * T.itemsize

    for z0, slab in slabs():  # all of them first: a simulation changes as a whole or not at all
        if (cell := _first_not_finite(slab, z0)) is not None:
            raise CheckpointError(f"{path} holds a state that is not finite in cell {cell}")
    for z0, slab in slabs():
        simulation._domain.put("scatter", head["steps"], z0, slab)
    simulation._state_changed(head["steps"])
    simulation._last_good.forget()
    return simulation


def _verified_header(path: Path, text: bytes) -> dict:
    """Return the header, if each of its fields is of its kind."""
    try:
        head = json.loads(text)
    except ValueError as error:
        raise CheckpointError(f"{path} has a header that is no JSON: {error}") from None
    if not isinstance(head, dict):
        raise CheckpointError(f"{path} has a header that is no JSON object")
    for key, (is_valid, words) in _FIELDS.items():
        if key not in head:
            raise CheckpointError(f"{path} has no {key!r} in its header")
        if not is_valid(head[key]):
            raise CheckpointError(f"{path} has {key}={head[key]!r} in its header, not {words}")
    return head


def _is_integer(value, least: int) -> bool:
    return type(value) is int and least <= value < 1 << 63


def _is_three(value, is_valid) -> bool:
    return isinstance(value, list) and len(value) == 3 and all(map(is_valid, value))


_TEXT = (lambda value: isinstance(value, str)), "a string"
_FIELDS = {
    "shape": (lambda v: _is_three(v, lambda n: _is_integer(n, 1)), "three positive integers"),
    "steps": (lambda v: _is_integer(v, 0), "an integer of at least 0"),
    "slab": (lambda v: _is_integer(v, 1), "an integer of at least 1"),
    "force": (lambda v: _is_three(v, lambda x: type(x) in (int, float)), "three numbers"),
    "precision": _TEXT,
    "walls": _TEXT,
    "collision": _TEXT,
}
"""What a header must hold."""


def _verified(path: Path):
    """The file's bytes, if its beginning and its checksum are right."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: give the path of a checkpoint in it")
    if not path.is_file():
        raise FileNotFoundError(f"there is no checkpoint {path}")
    if path.stat().st_size <= len(MAGIC) + 8 + _DIGEST:
        raise CheckpointError(f"{path} is no checkpoint: {path.stat().st_size} bytes")
    data = memoryview(np.memmap(path, np.uint8, "r"))
    if bytes(data[: len(MAGIC)]) != MAGIC:
        raise CheckpointError(f"{path} does not begin with {MAGIC!r}: no checkpoint of version 1")
    digest = hashlib.blake2b(data[:-_DIGEST], digest_size=_DIGEST).digest()
    if digest != bytes(data[-_DIGEST:]):
        raise CheckpointError(f"{path} is damaged: its checksum does not fit")
    return data
