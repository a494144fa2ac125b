"""Checkpoints: the state of a flow in one file, which all ranks write and read together.

`checkpoint_format` describes the file. It is written beside its target and then renamed: a crash
leaves the old file as it was, and partial files of killed processes (`NAME.*.part.*`) are removed
when the checkpoint is written again.
"""

from __future__ import annotations

import contextlib
import json
import logging
import mmap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from hetero.data_files.atomic_files import name_file_in_errors, replace_atomically
from lbm._coupled.flow import Flow
from lbm._io.checkpoint_format import (
    DIGEST_BYTES,
    FIRST_LINE_BYTES,
    Layout,
    describe_differences,
    digest_of,
    first_line,
    first_not_finite,
    make_header,
    read_layout,
    read_slab,
)
from lbm._parallel.ranks.communication import Ranks
from lbm.errors import CheckpointError, UnstableError

LOGGER = logging.getLogger(__name__)


def save(flow: Flow, path: str | Path) -> Path:
    """Write the state of `flow` to `path`, atomically.

    Each slab is collected and written by one of the ranks. While it writes, a rank needs memory for
    its share of a slab, or, in turn, for a few copies of a slab.

    Raises
    ------
    UnstableError
        If the state is not finite. A file that exists already stays as it is.
    """
    path, ranks = Path(path), flow.domain.ranks
    ranks.require_same_call("save")
    header = make_header(flow, flow.steps)
    text = json.dumps(header).encode()
    start = first_line(flow.problem.lattice) + len(text).to_bytes(8, "little") + text
    layout = Layout(flow.problem.lattice, header, len(start), _dtype(flow))
    with _shared_file(path, ranks) as part:
        with ranks.agreeing():
            digests = _write_slabs(flow, part, layout, start)
        for theirs in ranks.gather_all(digests):
            digests |= theirs
        with ranks.agreeing():
            if ranks.rank == 0:
                table = b"".join(digests[k] for k in range(len(layout.layers)))
                table += len(layout.layers).to_bytes(8, "little")
                with part.open("ab") as file:
                    file.write(table + digest_of(start, table))
    LOGGER.info("saved step %d to %s", flow.steps, path)
    return path


def _write_slabs(flow: Flow, part: Path, layout: Layout, start: bytes) -> dict[int, bytes]:
    """Write the first bytes of a file and the slabs of this rank, and return their digests.

    A rank that cannot write goes on sending its cells, for which the others wait, and raises its
    error at the end.
    """
    ranks, digests, errors = flow.domain.ranks, {}, _FirstError()
    with contextlib.ExitStack() as stack:
        with errors:
            file = stack.enter_context(part.open("r+b"))
            if ranks.rank == 0:
                file.write(start)
        for k in range(len(layout.layers)):
            slab = _collect_slab(flow, layout, k, writer=k % ranks.size)
            if slab is None or errors.first is not None:
                continue
            with errors:
                _refuse_unstable(flow, slab, layout.layers[k][0])
                data = np.ascontiguousarray(slab, layout.dtype).data.cast("B")
                if ranks.size > 1:
                    file.seek(layout.position(k))
                file.write(data)
                digests[k] = digest_of(data)
        if errors.first is not None:
            raise errors.first
        file.flush()  # what is buffered must be in the file before rank 0 renames it
    return digests


class _FirstError:
    """Suppresses the errors of `with` blocks and keeps the first of them."""

    def __init__(self) -> None:
        self.first: Exception | None = None

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, Exception):
            return False
        self.first = self.first or error
        return True


def _refuse_unstable(flow: Flow, slab: np.ndarray, z0: int) -> None:
    """Raise UnstableError if a slab of populations from layer z0 on is not finite."""
    if (cell := first_not_finite(slab, z0)) is not None:
        raise UnstableError(
            f"the state of step {flow.steps} is not finite in cell {cell} and was not saved",
            flow.steps,
            cell,
        )


def _dtype(flow: Flow) -> np.dtype:
    return np.dtype(flow.problem.precision.compute).newbyteorder("<")


@contextlib.contextmanager
def _shared_file(path: Path, ranks: Ranks) -> Iterator[Path]:
    """Yield the path of an empty file that replaces `path`, the same on all ranks."""
    with contextlib.ExitStack() as stack:
        part = path
        with ranks.agreeing():
            if ranks.rank == 0:
                part = stack.enter_context(replace_atomically(path))
        with name_file_in_errors(path):
            yield ranks.broadcast(part)


def _collect_slab(flow: Flow, layout: Layout, k: int, writer: int) -> np.ndarray | None:
    """Return the populations of slab k on the rank `writer`, and None on the others."""
    z0, z1 = layout.layers[k]
    piece = _read_piece(flow, z0, z1)
    if flow.domain.ranks.size == 1:
        assert piece is not None
        return piece[1]
    pieces = flow.domain.ranks.communicator.gather(piece, writer)
    if flow.domain.ranks.rank != writer:
        return None
    nx, ny, _ = flow.shape
    slab = np.empty((layout.rows, z1 - z0, ny, nx), layout.dtype)
    for slices, values in filter(None, pieces):
        slab[slices] = values
    return slab


def _read_piece(flow: Flow, z0: int, z1: int) -> tuple[tuple, np.ndarray] | None:
    """Return where this rank's populations belong in the layers z0 to z1, and the populations."""
    (x, y, z), (x1, y1, top) = flow.region
    first, last = max(z0, z), min(z1, top)
    if first >= last:
        return None
    values = flow.domain.read_to_host(flow.steps, first - z, last - z, populations=True)
    if flow.companions:
        others = [c.read_rows(flow.steps, first - z, last - z) for c in flow.companions]
        values = np.concatenate([values, *others])
    slices = slice(None), slice(first - z0, last - z0), slice(y, y1), slice(x, x1)
    return slices, values


def restore(flow: Flow, path: str | Path) -> None:
    """Restore the state of `flow` from `path`.

    Each rank reads the slabs that hold its cells, one after the other.

    Raises
    ------
    ValueError
        If ranks read different checkpoints: their cells would belong to different states.
    CheckpointError
        If the file is damaged, if it belongs to another lattice, shape, precision, geometry,
        collision or force, or if its state is not finite. The simulation is unchanged then.
    """
    path, ranks = Path(path), flow.domain.ranks
    ranks.require_same_call("restore")
    with ranks.agreeing():
        data = _open(path)
        layout = read_layout(path, data, flow.problem, _dtype(flow))
    ranks.require_same(
        {
            "steps of the checkpoint": layout.header["steps"],
            "digest of the checkpoint": bytes(data[-DIGEST_BYTES:]).hex(),
        }
    )
    expected = make_header(flow, layout.header["steps"])
    if differences := describe_differences(path, layout.header, expected):
        raise CheckpointError(differences)
    with ranks.agreeing():  # check all slabs before an error could leave a mixed state
        _for_each_slab(flow, path, data, layout, _require_finite)
    _for_each_slab(flow, path, data, layout, _write_piece)
    flow.mark_changed(layout.header["steps"])
    LOGGER.info("restored step %d from %s", flow.steps, path)


def _open(path: Path) -> memoryview:
    """Return the bytes of a file, if it can be a checkpoint."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: give the path of a checkpoint in it")
    if not path.is_file():
        raise FileNotFoundError(f"the checkpoint {path} does not exist")
    if path.stat().st_size <= FIRST_LINE_BYTES + 8 + DIGEST_BYTES:
        raise CheckpointError(f"{path} is not a checkpoint: it has {path.stat().st_size} bytes")
    with path.open("rb") as file:
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


_SlabUse = Callable[["Flow", Path, int, int, np.ndarray], None]


def _for_each_slab(flow: Flow, path: Path, data: memoryview, layout: Layout, use: _SlabUse) -> None:
    """Call `use` with the step, the first layer and the populations of slabs of this rank."""
    z, top = flow.region.start[2], flow.region.stop[2]
    for k, (z0, z1) in enumerate(layout.layers):
        if max(z0, z) < min(z1, top):
            use(flow, path, layout.header["steps"], z0, read_slab(path, data, layout, k))
            _release_pages(data)


def _release_pages(data: memoryview) -> None:
    """Give back the memory that holds the parts of a file which were read, where possible."""
    if hasattr(mmap, "MADV_DONTNEED"):
        mapped: Any = data.obj
        mapped.madvise(mmap.MADV_DONTNEED)


def _require_finite(flow: Flow, path: Path, steps: int, z0: int, slab: np.ndarray) -> None:
    if (cell := first_not_finite(slab, z0)) is not None:
        raise CheckpointError(f"{path} holds a state that is not finite in cell {cell}")


def _write_piece(flow: Flow, path: Path, steps: int, z0: int, slab: np.ndarray) -> None:
    """Write those cells of a slab that belong to this rank."""
    (x, y, z), (x1, y1, top) = flow.region
    first, last = max(z0, z), min(z0 + slab.shape[1], top)
    values = slab[:, first - z0 : last - z0, y:y1, x:x1]
    row = flow.problem.lattice.size
    flow.domain.write(steps, first - z, values[:row], populations=True)
    for companion in flow.companions:
        companion.write_rows(steps, first - z, values[row : row + companion.rows])
        row += companion.rows
