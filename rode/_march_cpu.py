"""The fused pipeline on the CPU: groups of paths side by side, so that vector units work on them.

Each stage (words; noise; process and sums; coarse step; outputs) is a plain loop over the paths of
a group without branches. A group's numbers stay in the caches; nothing else is kept.
"""

# ruff: noqa: RUF005 - Numba joins tuples by +.

from __future__ import annotations

import contextlib
import functools
import math
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from llvmlite import ir
from numba import int64, types, uint32
from numba.extending import intrinsic

import hetero
from hetero._philox_math import philox10
from hetero.jit import serial
from rode._functionals_math import advance
from rode._march import STEP_WORK
from rode._march_math import (
    averager,
    beginner,
    block_of,
    forms_of,
    mapping,
    sampler,
    taker,
)
from rode._stopping import results_of
from rode._vectors import cast

GROUP = 512
"""Most paths side by side: enough to pay for what a loop prepares."""


SHORT_WORK = 1 << 24
"""Fine steps that take less than 0.1 s: the calling thread takes a share of them, as it need not be
free to answer signals."""


def march(program, run, tables, arrays, stop, stream=0):
    """Advance every path by `run.count` coarse steps; see the CUDA twin.

    Threads take groups of paths. They are Python's, which the loops let run side by side: a
    parallel loop of Numba's takes longer to compile than all the rest. The calling thread only
    waits, so that it can answer Ctrl-C: then it sets `stop`, at which every loop looks after each
    block of noise.
    """
    paths = arrays.o.size
    share = -(-paths // hetero.threads())
    size = min(GROUP, max(32, 32 * -(-share // 32)))
    group, (rows, law, _, parameters) = compiled(program), tables
    starts, lock = iter(range(0, paths, size)), threading.Lock()

    def advance_groups():
        while not stop[0]:
            with lock:
                low = next(starts, paths)
            if low == paths:
                return
            group(run, low, min(low + size, paths), rows, law, parameters, *arrays, stop)

    workers = min(hetero.threads(), -(-paths // size))
    if paths * run.count * (run.steps + STEP_WORK) < SHORT_WORK:
        with contextlib.nullcontext() if workers == 1 else ThreadPoolExecutor(workers - 1) as pool:
            futures = [pool.submit(advance_groups) for _ in range(workers - 1)]
            advance_groups()
        for future in futures:
            future.result()
        return
    # Compiling is Python's work, so it is done where Ctrl-C ends it.
    group(run._replace(count=0), 0, 0, rows, law, parameters, *arrays, stop)
    with ThreadPoolExecutor(workers) as pool:
        results_of([pool.submit(advance_groups) for _ in range(workers)], stop)


@intrinsic
def _is_set(typing, flag):
    """Whether flag[0] is not 0, read from memory each time: another thread may set it."""

    def emit(context, builder, signature, arguments):
        data = context.make_array(flag)(context, builder, arguments[0]).data
        value = builder.load_atomic(data, "monotonic", 1)
        return builder.icmp_unsigned("!=", value, ir.Constant(value.type, 0))

    return types.boolean(flag), emit


@functools.cache
def compiled(program):
    """The loops of a program."""
    kinds = {"sums": _sums, "law": _law, "fields": _fields}
    return _marcher(program, kinds[program.kind](program))


def _marcher(program, advance_group):
    """The loop over coarse steps for a group of paths, around `advance_group` of each kind."""
    number_of = np.float32 if program.dtype == "float32" else np.float64
    begin, note = beginner(program), _notary(program)
    keep = _keeper(program.dimension)
    dimension, count, degree = program.dimension, program.parameters, program.degree

    @serial
    def group(run, low, high, rows, law, parameters, paths_o, paths_x, saved, peaks, failed, stop):
        lanes = high - low
        first = uint32(run.path + uint32(low))
        o, x = np.empty(lanes, number_of), np.empty((dimension, lanes), number_of)
        p, old = np.empty((count, lanes), number_of), np.empty(lanes, number_of)
        sums, four = np.empty((degree + 1, lanes), number_of), np.empty((4, lanes), np.uint32)
        for l in range(lanes):
            i = int64(low + l)
            for k in range(count):
                p[k, l] = parameters[k, i if parameters.shape[1] > 1 else int64(0)]
            o[l], state = begin(run, uint32(first + uint32(l)), i, paths_o, paths_x, parameters)
            keep(state, x, l)
        row, until = run.row, run.until
        if run.done == 0:
            note(run, row, True, run.t, low, o, x, p, saved, peaks, failed)
        for n in range(run.count):
            if _is_set(stop):
                return
            T = type(run.h)
            t = run.t + T(run.done + n) * run.h
            old[:] = o
            advance_group(run, n, t, first, rows, law, old, o, x, p, sums, four, stop)
            until -= 1
            due = until == 0
            if due:
                row, until = row + 1, run.every
            due_row = row if due else int64(-1)
            note(run, due_row, False, t + run.h, low, o, x, p, saved, peaks, failed)
        for l in range(lanes):
            paths_o[low + l] = o[l]
            for k in range(dimension):
                paths_x[k, low + l] = x[k, l]

    return group


def _keeper(count):
    """keep(values, array, l): a tuple into column l."""

    @serial(forceinline=True)
    def keep(values, array, l):
        for k in range(count):
            array[k, l] = values[k]

    return keep


def _notary(program):
    """note(..): the outputs of a group to row `row` of `saved` (none for -1), and their peaks."""
    observe = program.observe
    read_x, read_p = taker(program.dimension), taker(program.parameters)

    @serial
    def note(run, row, first, t, low, o, x, p, saved, peaks, failed):
        if row < 0 and not run.peaks:
            return
        for l in range(o.size):
            y = cast(observe(t, read_x(x, l, t), o[l], read_p(p, l, t)), t)
            for k in range(len(y)):
                size = abs(y[k])
                if run.peaks and (first or not (size <= peaks[k, low + l])):
                    if first or not math.isnan(peaks[k, low + l]):
                        peaks[k, low + l] = size
                    if not math.isfinite(size):
                        failed[low + l] = 1
                if row >= 0:
                    saved[row, k, low + l] = y[k]
                    if not math.isfinite(size):
                        failed[low + l] = 1

    return note


def _stepper(program):
    """step_group(..): the coarse step of every path of a group, from its sums."""
    step, image, keep = program.step, mapping(forms_of(program)), _keeper(program.dimension)
    read_x, read_p = taker(program.dimension), taker(program.parameters)
    read_sums = taker(program.degree + 1)

    @serial
    def step_group(run, t, rows, old, o, x, p, sums):
        h = run.h
        for l in range(o.size):
            forms = image(rows, (old[l], o[l]) + read_sums(sums, l, h))
            keep(step(t, read_x(x, l, h), old[l], forms, read_p(p, l, h), h), x, l)

    return step_group


@serial
def _fill(run, block, coarse, first, four):
    """The words of one block of a coarse step for every path of a group."""
    k0, k1, stream = run.k0, run.k1, run.stream
    for l in range(four.shape[1]):
        a, b, c, d = philox10(block, coarse, uint32(first + uint32(l)), stream, k0, k1)
        four[0, l] = a
        four[1, l] = b
        four[2, l] = c
        four[3, l] = d


def _sums(program):
    size, draw, follow = block_of(program)
    degree, step_group = program.degree, _stepper(program)
    take, keep, numbers_of = taker(degree + 1), _keeper(degree + 1), taker(size)
    put = _keeper(size)

    @serial
    def draw_all(sigma, four, noise):
        """A stage of its own: a long chain of operations, of which few fit into a core at once."""
        for l in range(four.shape[1]):
            put(draw(four[0, l], four[1, l], four[2, l], four[3, l], sigma), noise, l)

    @serial
    def walk(em1, noise, o, sums):
        for l in range(o.size):
            value, total = follow(o[l], take(sums, l, em1), numbers_of(noise, l, em1), em1)
            o[l] = value
            keep(total, sums, l)

    @serial
    def walk_rest(em1, noise, o, sums, rest):
        """The first `rest` numbers of a block."""
        for l in range(o.size):
            for j in range(rest):
                o[l] = advance(o[l], em1, noise[j, l])
                for d in range(degree, 0, -1):
                    sums[d, l] += sums[d - 1, l]
                sums[0, l] += o[l]

    @serial
    def advance_sums(run, n, t, first, rows, law, old, o, x, p, sums, four, stop):
        sums[:] = 0
        noise = np.empty((size, o.size), o.dtype)
        blocks = (run.steps + size - 1) // size
        for b in range(blocks):
            if _is_set(stop):
                return
            _fill(run, uint32(b), uint32(run.done + n), first, four)
            draw_all(run.sigma, four, noise)
            if (b + 1) * size <= run.steps:
                walk(run.em1, noise, o, sums)
            else:
                walk_rest(run.em1, noise, o, sums, run.steps - b * size)
        step_group(run, t, rows, old, o, x, p, sums)

    return advance_sums


def _law(program):
    step_group = _stepper(program)
    sample, keep = sampler(program), _keeper(program.degree + 1)

    @serial
    def advance_law(run, n, t, first, rows, law, old, o, x, p, sums, four, stop):
        for l in range(o.size):
            state = sample(law, old[l], n, uint32(first + uint32(l)), run)
            o[l] = state[0]
            keep(state[1:], sums, l)
        step_group(run, t, rows, old, o, x, p, sums)

    return advance_law


def _fields(program):
    step, means = program.step, averager(program)
    read_x, read_p = taker(program.dimension), taker(program.parameters)
    keep = _keeper(program.dimension)

    @serial
    def advance_fields(run, n, t, first, rows, law, old, o, x, p, sums, four, stop):
        for l in range(o.size):
            if _is_set(stop):
                return
            own = read_p(p, l, run.h)
            path = uint32(first + uint32(l))
            o[l], single, double = means(run, n, path, old[l], own)
            keep(step(read_x(x, l, run.h), single, double, own, run.h), x, l)

    return advance_fields
