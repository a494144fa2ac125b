"""The solver's fused loops on the CPU: words, noise, process, sums and coarse steps.

Groups of paths advance side by side, so that vector units can work on them.
Each stage (words; noise; process and sums; coarse step; outputs) is a plain loop over the paths of
a group without branches. A group's numbers stay in the caches; nothing else is stored.
"""

# ruff: noqa: RUF005 - Numba joins tuples by +.

from __future__ import annotations

import contextlib
import functools
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numba import int64, uint32

import hetero
from hetero.distributed.cancellation import results_of
from hetero.jit import serial
from rode._intrinsics.flags import is_set
from rode._intrinsics.tuple_algebra import read_column, write_column
from rode._paths.step_formulas import advance
from rode._solver.formulas import stage_formulas as stage
from rode._solver.formulas.excited_formulas import make_excited_step
from rode._solver.formulas.frame_loops import make_frame_step, make_record_frame
from rode._solver.kernel_arguments import STEP_WORK

GROUP = 512
"""Largest number of paths side by side: enough to hide the setup of each loop; not tuned."""

FRAME_GROUP = 32
"""The same for frames in loops, a path of which has thousands of numbers; not tuned."""


SHORT_WORK = 1 << 24
"""Number of fine steps that take less than 0.1 s. Below it, the calling thread takes a share of the
work, because signals can wait that long."""


def integrate(spec, run, arrays, stop, stream=0):
    """Advance every path by `run.coarse_steps` coarse steps; see the CUDA twin.

    Threads take groups of paths. They are Python's, which the loops let run side by side: a
    parallel loop of Numba's takes longer to compile than all other code. The calling thread only
    waits, so that it can answer Ctrl-C: then it sets `stop`, at which every loop looks after each
    block of noise.
    """
    paths = arrays.o.size
    share = -(-paths // hetero.threads())
    largest = FRAME_GROUP if spec.kind == "frame" else GROUP
    size = min(largest, max(32, 32 * -(-share // 32)))
    integrate_group = compiled(spec)
    starts, lock = iter(range(0, paths, size)), threading.Lock()

    def advance_groups():
        while not stop[0]:
            with lock:
                low = next(starts, paths)
            if low == paths:
                return
            integrate_group(run, low, min(low + size, paths), arrays, stop)

    workers = min(hetero.threads(), -(-paths // size))
    if paths * run.coarse_steps * (run.fine_steps + STEP_WORK) < SHORT_WORK:
        with contextlib.nullcontext() if workers == 1 else ThreadPoolExecutor(workers - 1) as pool:
            futures = [pool.submit(advance_groups) for _ in range(workers - 1)]
            advance_groups()
        for future in futures:
            future.result()
        return
    # Compiling is Python's work, so it is done where Ctrl-C ends it.
    integrate_group(run._replace(coarse_steps=0), 0, 0, arrays, stop)
    with ThreadPoolExecutor(workers) as pool:
        results_of([pool.submit(advance_groups) for _ in range(workers)], stop)


@functools.cache
def compiled(spec):
    """Return the compiled loops of a solver."""
    kinds = {
        "path": _make_path_step,
        "exact": _make_exact_step,
        "separable": _make_separable_step,
        "excited": _make_excited_step,
        "frame": make_frame_step,
    }
    return _make_integrate_group(spec, kinds[spec.kind](spec))


class Group(NamedTuple):
    """Paths that advance side by side; the last axis of every array is that of the paths.

    Attributes
    ----------
    first : Philox's number of the first path
    old, o : the process before and after a coarse step
    x : (dimension, paths), the solution; more rows for frames in loops
    p : (rows, paths), the rows of `RunArrays.parameters`
    sums : (form_count, paths), F_0, F_1, ..
    words : (4, paths) uint32, a Philox block of each path
    """

    first: np.uint32
    old: np.ndarray
    o: np.ndarray
    x: np.ndarray
    p: np.ndarray
    sums: np.ndarray
    words: np.ndarray


def _make_integrate_group(spec, advance_group):
    """Make the loop over coarse steps for a group of paths, around `advance_group` of each kind."""
    number_of = np.float32 if spec.dtype == "float32" else np.float64
    initialize = stage.make_initialize(spec)
    record = make_record_frame(spec) if spec.kind == "frame" else _make_record_group(spec)
    dimension, forms = spec.dimension, spec.form_count

    @serial
    def integrate_group(run, low, high, arrays, stop):
        """Integrate the paths number low to high; return early when `stop` is set."""
        lanes, parameters = high - low, arrays.parameters
        first = uint32(run.counter.first_path + uint32(low))
        rows, count = arrays.x.shape[0], parameters.shape[0]
        o, x = np.empty(lanes, number_of), np.zeros((rows, lanes), number_of)
        p, old = np.empty((count, lanes), number_of), np.empty(lanes, number_of)
        sums, words = np.empty((forms, lanes), number_of), np.empty((4, lanes), np.uint32)
        paths_o, paths_x = arrays.o, arrays.x
        for l in range(lanes):
            i = int64(low + l)
            for k in range(count):
                p[k, l] = parameters[k, i if parameters.shape[1] > 1 else int64(0)]
            o[l], state = initialize(run, uint32(first + uint32(l)), i, arrays)
            write_column(state, x, l)
            if run.done > 0:
                for k in range(dimension, rows):
                    x[k, l] = paths_x[k, low + l]
        group = Group(first, old, o, x, p, sums, words)
        row, until = run.saving.row, run.saving.until
        if run.done == 0:
            record(run, run.t, row, True, low, group, arrays)
        for n in range(run.coarse_steps):
            if is_set(stop):
                return
            T = type(run.h)
            t = run.t + T(run.done + n) * run.h
            old[:] = o
            advance_group(run, n, t, arrays, group, stop)
            until -= 1
            due = until == 0
            if due:
                row, until = row + 1, run.saving.every
            due_row = row if due else int64(-1)
            end = run.t + T(run.done + n + 1) * run.h  # as `Result.t`, to the bit
            record(run, end, due_row, False, low, group, arrays)
        for l in range(lanes):
            paths_o[low + l] = o[l]
            for k in range(rows):
                paths_x[k, low + l] = x[k, l]

    return integrate_group


def _templates_of(spec):
    """Return tuples as long as x, p and the sums, by which `read_column` reads as many numbers."""
    return tuple((0.0,) * n for n in (spec.dimension, spec.parameters, spec.form_count))


def _make_record_group(spec):
    """Make `record_group(run, t, row, is_first, low, group, arrays)`, which records a group."""
    record, (xs, ps, _) = stage.make_record(spec), _templates_of(spec)

    @serial
    def record_group(run, t, row, is_first, low, group, arrays):
        if row < 0 and not run.saving.folds:
            return
        o, x, p = group.o, group.x, group.p
        for l in range(o.size):
            z, parameters = read_column(x, l, xs), read_column(p, l, ps)
            record(run, t, row, is_first, low + l, z, o[l], parameters, arrays)

    return record_group


def _make_step_group(spec):
    """Make `step_group(..)`, which takes the coarse step of every path of a group from its sums."""
    step, matvec = spec.step, stage.make_matvec(spec.form_count)
    xs, ps, forms = _templates_of(spec)

    @serial
    def step_group(run, t, rows, group):
        old, o, x, p, sums, h = group.old, group.o, group.x, group.p, group.sums, run.h
        for l in range(o.size):
            z, parameters = read_column(x, l, xs), read_column(p, l, ps)
            terms = matvec(rows, (old[l], o[l]) + read_column(sums, l, forms))
            write_column(step(t, z, old[l], terms, parameters, h), x, l)

    return step_group


@serial
def _fill(counter, block, first, words):
    """Fill `words` with the words of a block of noise for every path of a group."""
    for l in range(words.shape[1]):
        a, b, c, d = stage.words_of_block(counter, block, uint32(first + uint32(l)))
        words[0, l] = a
        words[1, l] = b
        words[2, l] = c
        words[3, l] = d


def _make_path_step(spec):
    """Make `advance_group` for sums of the fine steps of each path."""
    size, draw, follow = stage.block_of(spec)
    count, step_group = spec.form_count, _make_step_group(spec)
    forms, block = (0.0,) * count, (0.0,) * size

    @serial
    def draw_numbers(sigma, words, noise):
        """Turn words into noise, apart from the walk: a core runs few such long chains at once."""
        for l in range(words.shape[1]):
            write_column(draw(words[0, l], words[1, l], words[2, l], words[3, l], sigma), noise, l)

    @serial
    def walk(mu_minus_1, noise, o, sums):
        for l in range(o.size):
            before, numbers = read_column(sums, l, forms), read_column(noise, l, block)
            value, total = follow(o[l], before, numbers, mu_minus_1)
            o[l] = value
            write_column(total, sums, l)

    @serial
    def walk_part(mu_minus_1, noise, o, sums, low, high):
        """Advance by the numbers low .. high - 1 of a block that two coarse steps share."""
        for l in range(o.size):
            for j in range(low, high):
                o[l] = advance(o[l], mu_minus_1, noise[j, l])
                for d in range(count - 1, 0, -1):
                    sums[d, l] += sums[d - 1, l]
                sums[0, l] += o[l]

    @serial
    def advance_path(run, n, t, arrays, group, stop):
        first, o, sums, words = group.first, group.o, group.sums, group.words
        sums[:] = 0
        noise = np.empty((size, o.size), o.dtype)
        begin = stage.first_fine_step(run, n)
        end = begin + run.fine_steps
        for block in range(begin // size, (end + size - 1) // size):
            if is_set(stop):
                return
            _fill(run.counter, block, first, words)
            draw_numbers(run.sigma, words, noise)
            low, high = max(begin - block * size, 0), min(end - block * size, size)
            if high - low == size:
                walk(run.mu_minus_1, noise, o, sums)
            else:
                walk_part(run.mu_minus_1, noise, o, sums, low, high)
        step_group(run, t, arrays.rows, group)

    return advance_path


def _make_exact_step(spec):
    """Make `advance_group` for sums drawn from their joint distribution."""
    step_group = _make_step_group(spec)
    sample, number_at = stage.make_sample_sums(spec), stage.make_number_at(spec)

    @serial
    def advance_exact(run, n, t, arrays, group, stop):
        first, old, o, sums, drawing = group.first, group.old, group.o, group.sums, arrays.drawing
        low = int64(uint32(first - run.counter.first_path))
        for l in range(o.size):
            path = number_at(run, arrays, n, uint32(first + uint32(l)), low + l)
            state = sample(drawing, old[l], n, path, run)
            o[l] = state[0]
            write_column(state[1:], sums, l)
        step_group(run, t, arrays.rows, group)

    return advance_exact


def _make_separable_step(spec):
    """Make `advance_group` for averages of G(t, O) and g(t, O) over the fine steps."""
    step, averages = spec.step, stage.make_averages(spec)
    xs, ps, _ = _templates_of(spec)

    @serial
    def advance_separable(run, n, t, arrays, group, stop):
        first, old, o, x, p = group.first, group.old, group.o, group.x, group.p
        for l in range(o.size):
            if is_set(stop):
                return
            p_of_path = read_column(p, l, ps)
            path = uint32(first + uint32(l))
            o[l], single, double = averages(run, n, path, old[l], p_of_path)
            z = read_column(x, l, xs)
            write_column(step(z, single, double, p_of_path, run.h), x, l)

    return advance_separable


def _make_excited_step(spec):
    """Make `advance_group` for an excitation, whose state is a part of x."""
    take_step, number_at = make_excited_step(spec, stage.block_of(spec)), stage.make_number_at(spec)
    xs, ps, _ = _templates_of(spec)

    @serial
    def advance_excited(run, n, t, arrays, group, stop):
        first, x, p = group.first, group.x, group.p
        low = int64(uint32(first - run.counter.first_path))
        for l in range(x.shape[1]):
            path = number_at(run, arrays, n, uint32(first + uint32(l)), low + l)
            z = read_column(x, l, xs)
            z = take_step(run, arrays, n, path, low + l, z, read_column(p, l, ps))
            write_column(z, x, l)

    return advance_excited


def count_nonfinite(o, x, failed, stream=0) -> tuple[int, int]:
    """Return the number of paths that are infinite or NaN, and of others with such outputs."""
    finite = np.isfinite(o)
    for row in x:
        finite &= np.isfinite(row)
    return finite.size - int(np.count_nonzero(finite)), int(np.count_nonzero(finite & failed))
