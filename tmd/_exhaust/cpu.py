"""Loops over arguments of binary32 on the CPU: calls of a C function, and comparisons."""

from __future__ import annotations

import numba
import numpy as np

from hetero.jit import parallel, serial
from tmd._exhaust.c_calls import call_float, call_half, call_int
from tmd._exhaust.chunks import CHUNK, Chunks, Judged
from tmd._exhaust.formulas import is_wrong, number_at, results_at
from tmd._exhaust.segments import Table

EXAMPLES = 32
"""Wrong results of a chunk that are recorded."""


@parallel
def call_all(starts, address, set_mode, modes, returned):
    """Call a C function at CHUNK arguments from each start on, in all modes.

    `address` and `set_mode` (uint64) are those of `float function(float)` and of fesetround,
    `modes` (int32) the numbers of fenv.h; `returned` is float32 (modes, CHUNK times the starts).
    """
    for i in numba.prange(starts.size):
        for m in range(modes.size):
            # The mode holds in this thread until it is set back.
            call_int(set_mode, modes[m])
            for k in range(CHUNK):
                x = number_at(starts[i], k)
                returned[m, i * CHUNK + k] = call_float(address, x)
        call_int(set_mode, np.int32(0))


@serial
def call_all_halves(address, set_mode, mode, returned):
    """Store the bits of a function of binary16 for all 2^16 arguments, under a rounding mode."""
    call_int(set_mode, mode)
    for bits in range(returned.size):
        returned[bits] = call_half(address, np.uint16(bits))
    call_int(set_mode, np.int32(0))


def upload(table: Table) -> tuple[np.ndarray, ...]:
    """Return rules, numbers, phases, frequencies and quarters of a table."""
    return table.arrays


def make_arguments(starts: np.ndarray) -> np.ndarray:
    """Return CHUNK numbers with consecutive bits from each start on, as one flat array."""
    bits: np.ndarray = np.add.outer(starts, np.arange(CHUNK, dtype=np.uint32))
    return bits.ravel().view(np.float32)


@parallel
def _judge_all(table, chunks, returned, columns, outcomes, undecided, examples):
    """Compare chunk by chunk.

    `outcomes` (chunks, 2 + 2 modes) are the numbers of undecided arguments, of examples, and of
    wrong results by mode: near numbers, near midpoints.
    """
    ids, starts, counts = chunks
    for i in numba.prange(ids.size):
        for k in range(counts[i]):
            bits = starts[i] + np.uint32(k)
            results = results_at(table, ids[i], bits)
            if not results[0]:
                undecided[i, outcomes[i, 0]] = bits
                outcomes[i, 0] += 1
                continue
            for m in range(columns.size):
                y = float(returned[m, i * CHUNK + k])
                if is_wrong(results, columns[m], y):
                    outcomes[i, 2 + 2 * m + (1 if results[5] else 0)] += 1
                    if outcomes[i, 1] < EXAMPLES:
                        row = examples[i, outcomes[i, 1]]
                        row[0], row[1], row[2] = m, bits, y
                        outcomes[i, 1] += 1


def judge_returned(
    table: tuple[np.ndarray, ...], chunks: Chunks, returned: np.ndarray, columns: np.ndarray
) -> Judged:
    """Compare float32 results (modes, CHUNK times the chunks) with the proven ones."""
    size = chunks.starts.size
    outcomes = np.zeros((size, 2 + 2 * columns.size), np.int64)
    examples = np.empty((size, EXAMPLES, 3))
    undecided = np.empty((size, CHUNK), np.uint32)
    _judge_all(table, chunks, returned, columns, outcomes, undecided, examples)
    return Judged(
        outcomes[:, 2:].sum(axis=0).reshape(-1, 2),
        undecided[np.arange(CHUNK) < outcomes[:, :1]],
        examples[np.arange(EXAMPLES) < outcomes[:, 1:2]],
    )
