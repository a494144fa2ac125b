"""Comparisons of results of binary32 on a GPU: a block for each chunk, a thread an argument."""

from __future__ import annotations

import numpy as np

from hetero.arrays import Array
from hetero.cuda import launch
from hetero.cuda.driver import cuda
from hetero.jit import kernel
from tmd._exhaust.chunks import CHUNK, Chunks, Judged
from tmd._exhaust.formulas import is_wrong, number_at, results_at
from tmd._exhaust.segments import Table

_THREADS = 256

MOST_UNDECIDED, MOST_EXAMPLES = 1 << 20, 1 << 12
"""Arguments of a call that are listed; an error is raised if more are undecided."""


@kernel
def fill_arguments(starts, arguments):
    """Store CHUNK numbers with consecutive bits from each start on: a block for each start."""
    i = cuda.blockIdx.x
    for k in range(cuda.threadIdx.x, CHUNK, cuda.blockDim.x):
        arguments[i * CHUNK + k] = number_at(starts[i], k)


@kernel
def judge_all(table, chunks, returned, columns, outcomes, undecided, examples):
    """Compare the results of a chunk in a block.

    `outcomes` (2 + 2 modes) are the numbers of undecided arguments, of examples, and of wrong
    results by mode: near numbers, near midpoints.
    """
    i = cuda.blockIdx.x
    ids, starts, counts = chunks
    for k in range(cuda.threadIdx.x, counts[i], cuda.blockDim.x):
        bits = starts[i] + np.uint32(k)
        results = results_at(table, ids[i], bits)
        if not results[0]:
            slot = cuda.atomic.add(outcomes, 0, 1)
            if slot < undecided.size:
                undecided[slot] = bits
            continue
        for m in range(columns.size):
            y = float(returned[m, i * CHUNK + k])
            if is_wrong(results, columns[m], y):
                cuda.atomic.add(outcomes, 2 + 2 * m + (1 if results[5] else 0), 1)
                slot = cuda.atomic.add(outcomes, 1, 1)
                if slot < examples.shape[0]:
                    examples[slot, 0], examples[slot, 1], examples[slot, 2] = m, bits, y


def upload(table: Table) -> tuple[Array, ...]:
    """Return rules, numbers, phases, frequencies and quarters of a table on the device."""
    return tuple(map(cuda.to_device, table.arrays))


def make_arguments(starts: np.ndarray) -> Array:
    """Return CHUNK numbers with consecutive bits from each start on, as one flat array."""
    arguments = cuda.device_array(starts.size * CHUNK, np.float32)
    launch.launch(fill_arguments, starts.size, _THREADS, 0, (cuda.to_device(starts), arguments))
    return arguments


def judge_returned(
    table: tuple[Array, ...], chunks: Chunks, returned: Array, columns: np.ndarray
) -> Judged:
    """Compare float32 results (modes, CHUNK times the chunks) with the proven ones."""
    outcomes = cuda.to_device(np.zeros(2 + 2 * columns.size, np.int64))
    undecided = cuda.device_array(MOST_UNDECIDED, np.uint32)
    examples = cuda.device_array((MOST_EXAMPLES, 3), np.float64)
    lists, columns = Chunks(*map(cuda.to_device, chunks)), cuda.to_device(columns)
    arguments = table, lists, returned, columns, outcomes, undecided, examples
    launch.launch(judge_all, chunks.starts.size, _THREADS, 0, arguments)
    counted = outcomes.copy_to_host()
    if counted[0] > MOST_UNDECIDED:
        raise ArithmeticError(f"float64 leaves {counted[0]} arguments of a call undecided")
    listed = min(counted[1], MOST_EXAMPLES)
    return Judged(
        counted[2:].reshape(-1, 2),
        np.sort(undecided[: counted[0]].copy_to_host()) if counted[0] else np.empty(0, np.uint32),
        examples[:listed].copy_to_host() if listed else np.empty((0, 3)),
    )
