"""The solver's fused kernels on the GPU: words, noise, process, sums and coarse steps.

One kernel computes random words, normal numbers, process, sums and coarse steps.

The fine steps of a coarse step are cut into up to 32 stretches of equal length. Each runs from
O = 0 (the first from the true value), and stretches are joined in pairs by a triangular matrix. A
path has one thread, or 2, 4, .. 32, which share its stretches; no bit depends on how many. All
threads of a path then take the coarse step alike.
"""

# ruff: noqa: RUF005 - Numba joins tuples by +.

from __future__ import annotations

import functools
import math

import numpy as np
from numba import float32, float64, int64, uint32

from hetero.cpu.interruptible import ranges
from hetero.cuda import launch
from hetero.cuda.driver import cuda
from hetero.intrinsics.warp import FULL_MASK
from hetero.jit import kernel
from rode._intrinsics.tuple_algebra import replace_component
from rode._solver.formulas import stage_formulas as stage
from rode._solver.formulas.excited_formulas import make_excited_step
from rode._solver.formulas.stretch_formulas import make_join, make_walk_stretches
from rode._solver.kernel_arguments import STEP_WORK, part_of

THREADS = 128
"""Number of threads in a block."""


def integrate(spec, run, arrays, stop, stream=0):
    """Advance every path by `run.coarse_steps` coarse steps.

    A launch takes a fraction of a second, so that Python can answer signals between two of them. If
    `stop` is set, the call returns after the launch that is running.
    """
    paths = arrays.o.size
    grid, kernel = launch.blocks_for(paths * run.threads_per_path, THREADS), compiled(spec)
    for begin, end in ranges(
        run.coarse_steps, first=_first_launch(run, paths, launch.multiprocessors())
    ):
        if stop[0]:
            return
        part = part_of(run, begin, end - begin)
        launch.launch(kernel, grid, THREADS, stream, (part, arrays))
        if end - begin < run.coarse_steps:  # the time of this launch sizes the next
            cuda.synchronize()


def _first_launch(run, paths: int, multiprocessors: int) -> int:
    """Return a number of coarse steps that any GPU takes in less than half a second.

    One thread takes some 0.1 us for a fine step, a multiprocessor at least 2e8 of them a second.
    """
    work = run.fine_steps + STEP_WORK
    return max(
        1, min((multiprocessors << 25) // (paths * work), (run.threads_per_path << 20) // work)
    )


@functools.cache
def compiled(spec):
    """Return the kernel of a solver.

    Its arguments are a RunParameters and a RunArrays (`_solver.kernel_arguments`).
    """
    kinds = {
        "path": _make_path_step,
        "exact": _make_exact_step,
        "separable": _make_separable_step,
        "excited": _make_excited_step,
    }
    take_coarse_step = kinds[spec.kind](spec)
    read_parameters, initialize = (
        stage.make_read_parameters(spec.parameters),
        stage.make_initialize(spec),
    )
    record, number_at = stage.make_record(spec), stage.make_number_at(spec)

    @kernel
    def integrate_paths(run, arrays):
        """Integrate each path by `run.threads_per_path` threads, which follow one another."""
        paths_o, paths_x, parameters = arrays.o, arrays.x, arrays.parameters
        thread = cuda.grid(1)
        number, lane = int64(thread // run.threads_per_path), uint32(thread % run.threads_per_path)
        writes = number < paths_o.size and lane == 0
        number = min(number, int64(paths_o.size - 1))  # threads without work take part in shuffles
        path = uint32(run.counter.first_path + uint32(number))
        p = read_parameters(parameters, number, run.h)
        o, x = initialize(run, path, number, arrays)
        row, until = run.saving.row, run.saving.until
        if writes and run.done == 0:
            record(run, run.t, row, True, number, x, o, p, arrays)
        for n in range(run.coarse_steps):
            words = number_at(run, arrays, n, path, number)
            o, x = take_coarse_step(run, arrays, n, words, lane, number, o, x, p)
            row, until, due = stage.next_save(run, row, until)
            if writes:
                t = run.t + type(run.h)(run.done + n + 1) * run.h
                record(run, t, due, False, number, x, o, p, arrays)
        if writes:
            stage.store_state(o, x, number, paths_o, paths_x)

    return integrate_paths


# Each maker below returns take_coarse_step(run, arrays, n, path, lane, number, o, x, p), which
# gives the process and x after coarse step n.


def _make_path_step(spec):
    """Make `take_coarse_step` for sums of the fine steps of each path."""
    step, matvec, length = spec.step, stage.make_matvec(spec.form_count), spec.form_count + 1
    walk_stretches = make_walk_stretches(spec)
    join = make_join(length)
    real = float32 if spec.dtype == "float32" else float64

    @kernel(device=True)
    def join_threads(run, transfers, lane, state):
        """Return the state after the stretches of all threads of a path."""
        bit, level, own = uint32(1), int64(0), run.own_stretches
        while own > 1:
            own, level = own // 2, level + 1
        while bit < uint32(run.threads_per_path):
            other = state
            for i in range(length):
                other = replace_component(
                    other, int64(i), cuda.shfl_xor_sync(FULL_MASK, state[i], bit)
                )
            late = lane & bit != 0
            first, second = (other, state) if late else (state, other)
            state = join(transfers, level, first, second)
            bit, level = uint32(bit << uint32(1)), level + 1
        return state

    @kernel(device=True)
    def take_coarse_step(run, arrays, n, path, lane, number, o, x, p):
        waiting = cuda.local.array((5, length), real)
        state = walk_stretches(run, n, path, lane, o, arrays.transfers, waiting)
        state = join_threads(run, arrays.transfers, lane, state)
        t = run.t + type(run.h)(run.done + n) * run.h
        return state[0], step(t, x, o, matvec(arrays.rows, (o,) + state), p, run.h)

    return take_coarse_step


def _make_exact_step(spec):
    """Make `take_coarse_step` for sums drawn from their joint distribution."""
    step, matvec, sample = (
        spec.step,
        stage.make_matvec(spec.form_count),
        stage.make_sample_sums(spec),
    )

    @kernel(device=True)
    def take_coarse_step(run, arrays, n, path, lane, number, o, x, p):
        state = sample(arrays.drawing, o, n, path, run)
        t = run.t + type(run.h)(run.done + n) * run.h
        return state[0], step(t, x, o, matvec(arrays.rows, (o,) + state), p, run.h)

    return take_coarse_step


def _make_separable_step(spec):
    """Make `take_coarse_step` for averages of G(t, O) and g(t, O) over the fine steps."""
    step, averages = spec.step, stage.make_averages(spec)

    @kernel(device=True)
    def take_coarse_step(run, arrays, n, path, lane, number, o, x, p):
        o, single, double = averages(run, n, path, o, p)
        return o, step(x, single, double, p, run.h)

    return take_coarse_step


def _make_excited_step(spec):
    """Make `take_coarse_step` for an excitation, whose state is a part of x."""
    take_step = make_excited_step(spec, stage.block_of(spec))

    @kernel(device=True)
    def take_coarse_step(run, arrays, n, path, lane, number, o, x, p):
        return o, take_step(run, arrays, n, path, number, x, p)

    return take_coarse_step


@kernel
def count_paths(o, x, failed, result):
    """Count in result[0] the paths that are not finite, in result[1] others that have `failed`."""
    count, others = int64(0), int64(0)
    for i in range(cuda.grid(1), o.size, cuda.gridsize(1)):
        finite = math.isfinite(o[i])
        for k in range(x.shape[0]):
            finite = finite and math.isfinite(x[k, i])
        count += int64(not finite)
        others += int64(finite and failed[i] != 0)
    if count > 0:
        cuda.atomic.add(result, 0, count)
    if others > 0:
        cuda.atomic.add(result, 1, others)


def count_nonfinite(o, x, failed, stream=0) -> tuple[int, int]:
    """Return the number of paths that are infinite or NaN, and of others with such outputs."""
    result = cuda.to_device(np.zeros(2, np.int64), stream=stream)
    launch.launch_over(count_paths, o.size, (o, x, failed, result), stream)
    states, others = result.copy_to_host(stream=stream)
    return int(states), int(others)
