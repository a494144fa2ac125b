"""Checkpoints: the state of a flow in one file.

Format, version 1: the line `LBM-D3Q19 1`, the length of the header as 8 bytes (little endian), a
header in JSON, the populations, 32 bytes of BLAKE2b of all that stands before. Populations are
f_q - w_q as the next step will read them, in slabs of `slab` planes z; a slab is an array
[q, z, y, x] of little-endian float32 or float64. The order does not depend on the memory pattern
or the device, so that a run may go on with others; the precision must be the same. The file is
written beside its target and then renamed: a crash leaves the old one as it was.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import numpy as np

from lbm.errors import CheckpointError
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
    """Write the state of `simulation` to `path`, atomically."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    head = _header(simulation)
    text = json.dumps(head).encode()
    digest = hashlib.blake2b(digest_size=_DIGEST)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            for piece in (MAGIC, len(text).to_bytes(8, "little"), text, *_slabs(simulation, head)):
                digest.update(piece)
                file.write(piece)
            file.write(digest.digest())
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return path


def _slabs(simulation, head):
    for z0, z1 in _ranges(head):
        yield np.ascontiguousarray(simulation._read("gather", Q, z0, z1)).data.cast("B")


def _ranges(head):
    nz = head["shape"][2]
    return [(z, min(z + head["slab"], nz)) for z in range(0, nz, head["slab"])]


def restore(simulation, path):
    """Give `simulation` the state in `path`.

    Raises
    ------
    CheckpointError
        When the file is damaged or belongs to another shape, precision, geometry, collision or
        force. The simulation is unchanged then.
    """
    path = Path(path)
    data = _verified(path)
    size = int.from_bytes(data[len(MAGIC) : len(MAGIC) + 8], "little")
    begin = len(MAGIC) + 8
    head = json.loads(bytes(data[begin : begin + size]))
    for key, mine in _header(simulation).items():
        if key not in ("steps", "slab") and head.get(key) != mine:
            raise CheckpointError(
                f"{path} was written with {key}={head.get(key)!r}, this simulation has {mine!r}"
            )
    nx, ny, nz = head["shape"]
    T = np.dtype(simulation.problem.precision.compute).newbyteorder("<")
    if len(data) - _DIGEST - begin - size != Q * nx * ny * nz * T.itemsize:
        raise CheckpointError(f"{path} is too short or too long for its shape")
    at = begin + size
    for z0, z1 in _ranges(head):
        count = Q * (z1 - z0) * ny * nx
        slab = np.frombuffer(data, T, count, at).reshape(Q, z1 - z0, ny, nx)
        simulation._domain.put("scatter", head["steps"], z0, slab)
        at += count * T.itemsize
    simulation.steps, simulation._fields = head["steps"], None
    return simulation


def _verified(path: Path):
    """The file's bytes, if its beginning and its checksum are right."""
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
