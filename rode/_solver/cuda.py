"""The solver's fused kernels on the GPU: words, noise, process, sums and coarse steps.

One kernel computes random words, normal numbers, process, sums and coarse steps.

A path has one thread, or 2, 4, .. 32 that share the fine steps of each coarse step: every thread
runs its stretch from O = 0 (the first from the true value), and stretches are joined in pairs by a
triangular matrix. All threads of a path then take the coarse step alike.
"""

# ruff: noqa: RUF005 - Numba joins tuples by +.

from __future__ import annotations

import functools

from numba import int64, uint32

from hetero.cpu.interruptible import ranges
from hetero.cuda import launch
from hetero.cuda.driver import cuda
from hetero.intrinsics.warp import FULL_MASK
from hetero.jit import kernel
from hetero.philox.formulas import philox10
from rode._intrinsics.tuple_algebra import add_to_iterated_sums, cast, replace_component
from rode._paths.step_formulas import advance
from rode._solver.kernel_arguments import STEP_WORK, part_of
from rode._solver.stage_formulas import (
    block_of,
    first_fine_step,
    make_averages,
    make_initialize,
    make_matvec,
    make_read_parameters,
    make_record,
    make_sample_sums,
    next_save,
    store_state,
    words_of_block,
)

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
        kernel[grid, THREADS, stream](part, arrays)
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
    kinds = {"path": _make_path_step, "exact": _make_exact_step, "separable": _make_separable_step}
    take_coarse_step = kinds[spec.kind](spec)
    read_parameters, initialize = make_read_parameters(spec.parameters), make_initialize(spec)
    record = make_record(spec)

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
        o, x = initialize(run, path, number, paths_o, paths_x, parameters)
        row, until = run.saving.row, run.saving.until
        if writes and run.done == 0:
            record(run, run.t, row, True, number, x, o, p, arrays)
        for n in range(run.coarse_steps):
            o, x = take_coarse_step(run, arrays, n, path, lane, o, x, p)
            row, until, due = next_save(run, row, until)
            if writes:
                t = run.t + type(run.h)(run.done + n + 1) * run.h
                record(run, t, due, False, number, x, o, p, arrays)
        if writes:
            store_state(o, x, number, paths_o, paths_x)

    return integrate_paths


# Each maker below returns take_coarse_step(run, arrays, n, path, lane, o, x, p), which gives the
# process and x after coarse step n.


def _make_path_step(spec):
    """Make `take_coarse_step` for sums of the fine steps of each path."""
    size, draw, walk = block_of(spec)
    step, matvec, length = spec.step, make_matvec(spec.form_count), spec.form_count + 1
    zeros = (0.0,) * (spec.form_count)

    @kernel(device=True)
    def walk_part(run, path, block, low, high, value, sums):
        """Advance by the numbers low .. high - 1 of a block that two coarse steps share."""
        numbers = draw(*words_of_block(run.counter, block, path), run.sigma)
        for j in range(low, high):
            value = advance(value, run.mu_minus_1, numbers[j])
            sums = add_to_iterated_sums(sums, value)
        return value, sums

    @kernel(device=True)
    def walk_stretch(run, n, path, lane, o):
        """Return the process and its sums after this thread's fine steps."""
        counter, steps = run.counter, int64(run.fine_steps // run.threads_per_path)
        begin = first_fine_step(run, n) + int64(lane) * steps
        end, block = begin + steps, begin // size
        value = o if lane == 0 else o - o
        sums = cast(zeros, run.h)
        if begin > block * size:
            value, sums = walk_part(
                run, path, block, begin - block * size, min(size, end - block * size), value, sums
            )
            block += 1
        while block < end // size:
            # The upper word is constant in the inner loop, which saves a tenth of Philox's work.
            low, high = uint32(block), uint32(block >> int64(32))
            count = min(end // size - block, (int64(1) << int64(32)) - int64(low))
            for _ in range(count):
                w0, w1, w2, w3 = philox10(low, high, path, counter.stream, counter.k0, counter.k1)
                numbers = draw(w0, w1, w2, w3, run.sigma)
                value, sums = walk(value, sums, numbers, run.mu_minus_1)
                low = uint32(low + uint32(1))
            block += count
        if block * size < end:
            value, sums = walk_part(run, path, block, 0, end - block * size, value, sums)
        return (value,) + sums

    @kernel(device=True)
    def join_stretches(run, transfers, lane, state):
        """Return the state after the stretches of all threads of a path."""
        bit, level = uint32(1), 0
        while bit < uint32(run.threads_per_path):
            other = state
            for i in range(length):
                other = replace_component(
                    other, int64(i), cuda.shfl_xor_sync(FULL_MASK, state[i], bit)
                )
            late = lane & bit != 0
            first, second = (other, state) if late else (state, other)
            for i in range(length):
                total = second[i]
                for j in range(i + 1):
                    total += transfers[level, i, j] * first[j]
                state = replace_component(state, int64(i), total)
            bit, level = uint32(bit << uint32(1)), level + 1
        return state

    @kernel(device=True)
    def take_coarse_step(run, arrays, n, path, lane, o, x, p):
        state = join_stretches(run, arrays.transfers, lane, walk_stretch(run, n, path, lane, o))
        t = run.t + type(run.h)(run.done + n) * run.h
        return state[0], step(t, x, o, matvec(arrays.rows, (o,) + state), p, run.h)

    return take_coarse_step


def _make_exact_step(spec):
    """Make `take_coarse_step` for sums drawn from their joint distribution."""
    step, matvec, sample = spec.step, make_matvec(spec.form_count), make_sample_sums(spec)

    @kernel(device=True)
    def take_coarse_step(run, arrays, n, path, lane, o, x, p):
        state = sample(arrays.drawing, o, n, path, run)
        t = run.t + type(run.h)(run.done + n) * run.h
        return state[0], step(t, x, o, matvec(arrays.rows, (o,) + state), p, run.h)

    return take_coarse_step


def _make_separable_step(spec):
    """Make `take_coarse_step` for averages of G(t, O) and g(t, O) over the fine steps."""
    step, averages = spec.step, make_averages(spec)

    @kernel(device=True)
    def take_coarse_step(run, arrays, n, path, lane, o, x, p):
        o, single, double = averages(run, n, path, o, p)
        return o, step(x, single, double, p, run.h)

    return take_coarse_step
