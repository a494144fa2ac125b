"""Kernels of bulge chasing on a GPU: a persistent one, and one for each step."""

from typing import NamedTuple

from numba import complex64, complex128, float32, float64, int32, uint64

from hetero.codegen import compile_source
from hetero.cuda.driver import cuda
from hetero.intrinsics import warp
from hetero.jit import kernel
from sbth._gpu.arithmetic import arithmetic_of
from sbth._gpu.flags import SPINS, store_release, wait_for_progress
from sbth._reduction.bulge_chasing import cuda_source as text
from sbth._reduction.bulge_chasing.schedule_formulas import (
    block_extents,
    last_task,
    required_progress,
)


class Thread(NamedTuple):
    """A thread of a block: its part of the tiles (see `cuda_source`). All uint64.

    Attributes
    ----------
    number, lane : in the block and in its warp
    row : its row of both tiles
    column : the first of its columns
    cell : index of its first element of A in shared memory
    across : index of the mirror image of that element
    """

    number: int
    lane: int
    row: int
    column: int
    cell: int
    across: int


class Pair(NamedTuple):
    """A pair of blocks: the sweep that works on it, and the result of `block_extents`."""

    sweep: int
    c0: int
    m: int
    rows: int


def _make_kernels(tile: int, dtype) -> tuple:
    """Make the kernels (chase, step) for tiles of `tile` rows.

    chase(work, sizes, progress, control, reflectors): blocks draw sweeps by a ticket and wait for
    the preceding sweep. step(work, sizes, number, first_sweep, carried, reflectors): a block runs
    one task of a step, and reflections stay in memory between the steps. `sizes` are the leading
    dimension, the order and the bandwidth, as 64-bit integers, which launch fastest.
    """
    arithmetic, real = arithmetic_of(dtype)
    columns = text.choose_tile(tile)[1]
    names = {
        **text.shared_layout(tile, columns)[0],
        **{"cuda": cuda, "U": uint64, "T": dtype, "R": real},
        **{"square": arithmetic.square, "reflect": arithmetic.reflect},
        **{"shuffle": arithmetic.shuffle, "shuffle_xor": arithmetic.shuffle_xor},
        "real_shuffle_xor": warp.shuffle_xor,
    }
    device = kernel(device=True)
    start_sweep = device(compile_source("start_sweep", text.sweep_source(tile), names))
    run_task = device(compile_source("run_task", text.task_source(tile, columns), names))
    bounds = text.thread_count(tile, columns), 1
    vector = text.shared_layout(tile, columns)[0]["V"]

    @device
    def this_thread():
        """Return the Thread that runs this."""
        t = uint64(cuda.threadIdx.x)
        r, j0 = t % uint64(tile), t // uint64(tile) * uint64(columns)
        cell, across = j0 * uint64(tile + 1) + r, r * uint64(tile + 1) + j0
        return Thread(t, t % uint64(32), r, j0, cell, across)

    @kernel(launch_bounds=bounds)
    def chase(work, sizes, progress, control, reflectors):
        """Reduce a matrix: each block of threads draws one sweep after the other."""
        ld, n, d = int32(sizes[0]), int32(sizes[1]), int32(sizes[2])
        shared, slot = cuda.shared.array(0, dtype), cuda.shared.array(1, int32)
        thread, tau = this_thread(), real(0)
        is_first = thread.number == uint64(0)
        while True:
            if is_first:
                slot[0] = cuda.atomic.add(control, 0, 1)
            cuda.syncthreads()
            s = slot[0]
            cuda.syncthreads()
            if s >= n - 2:
                return
            for k in range(last_task(s, n, d) + 1):
                if is_first:
                    done = required_progress(s, k, n, d)
                    failed = 0
                    if s > 0:
                        failed = wait_for_progress(progress, s - 1, done, control, SPINS)
                    slot[0] = failed
                cuda.syncthreads()
                if slot[0] != 0:
                    return
                c0, m, rows = block_extents(s, k, n, d)
                if k == 0:
                    tau = start_sweep(shared, work, ld, s, m, thread)
                pair = Pair(s, c0, m, rows)
                tau = run_task(shared, work, ld, n, reflectors, thread, pair, tau)
                if is_first:
                    store_release(progress, s, int32(k + 1))

    @kernel(launch_bounds=bounds)
    def step(work, sizes, number, first_sweep, carried, reflectors):
        """Run task `number` - 2 s of each sweep s from `first_sweep` on, one for each block.

        `carried` holds what a task leaves to the next one of its sweep: the reflection's vector
        in a row of the first array, and its factor tau in the second.
        """
        ld, n, d = int32(sizes[0]), int32(sizes[1]), int32(sizes[2])
        state, taus = carried
        shared, thread, tau = cuda.shared.array(0, dtype), this_thread(), real(0)
        t = thread.number
        s = first_sweep + int32(cuda.blockIdx.x)
        k = number - 2 * s
        slot = s % taus.size
        c0, m, rows = block_extents(s, k, n, d)
        if k == 0:
            tau = start_sweep(shared, work, ld, s, m, thread)
        else:
            tau = taus[slot]
            if t < uint64(tile):
                shared[uint64(vector) + t] = state[slot, t]
        cuda.syncthreads()
        pair = Pair(s, c0, m, rows)
        tau = run_task(shared, work, ld, n, reflectors, thread, pair, tau)
        if t < uint64(tile):
            state[slot, t] = shared[uint64(vector) + t]
        if t == uint64(0):
            taus[slot] = tau

    return chase, step


KERNELS = {
    f"{name}_{tile}_{dtype}": kernel
    for tile in text.TILES
    for dtype in (float32, float64, complex64, complex128)
    for name, kernel in zip(("chase", "step"), _make_kernels(tile, dtype), strict=True)
}
"""The kernels by name, number of rows of a tile, and dtype."""
