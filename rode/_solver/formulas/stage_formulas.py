"""Factories of the functions that the solver's loops on both targets are built from.

Each takes the `KernelSpec` of a solver, or a number from it.
"""

# ruff: noqa: RUF005 - Numba joins tuples by +.

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numba import int64, uint32

from hetero.intrinsics.floats import fma
from hetero.jit import scalar
from hetero.philox.formulas import philox10
from rode._intrinsics.tuple_algebra import add, cast, replace_component, scale
from rode._paths.noise_formulas import BLOCKS, START, Block
from rode._paths.step_formulas import advance
from rode._solver.formulas.excited_formulas import make_excited_start

if TYPE_CHECKING:
    from rode._solver.kernel_arguments import KernelSpec


def block_of(spec: KernelSpec) -> Block:
    """Return the functions that turn words into noise for this solver."""
    return BLOCKS[spec.dtype, spec.normals]


@scalar(forceinline=True)
def first_fine_step(run, n):
    """Return the number of the first fine step of coarse step n of a call, from the run's start."""
    return int64(run.done + n) * int64(run.fine_steps)


@scalar(forceinline=True)
def words_of_block(counter, block, path):
    """Return the words of a block of noise of a path.

    The fine steps of a path are numbered from the start of the run, and a block serves as many of
    them as it has numbers, so that one seed and one fine step give the same process for every
    coarse step.
    """
    low, high = uint32(block), uint32(block >> int64(32))
    return philox10(low, high, path, counter.stream, counter.k0, counter.k1)


def exact_blocks(spec: KernelSpec) -> int:
    """Return how many Philox blocks a coarse step of kind "exact" takes."""
    return -(-(spec.form_count + 1) // block_of(spec).size)


def make_matvec(count):
    """Make `matvec(matrix, x)`, which multiplies a matrix with `count` rows by the tuple x."""
    zeros = (0.0,) * count

    @scalar(forceinline=True)
    def matvec(matrix, x):
        result = cast(zeros, x[0])
        for i in range(count):
            total = matrix[i, 0] * x[0]
            for j in range(1, len(x)):
                total = fma(matrix[i, j], x[j], total)
            result = replace_component(result, int64(i), total)
        return result

    return matvec


def make_sample_sums(spec):
    """Make `sample(drawing, o, n, path, run)`, which draws (O_M, F_0, F_1, ..) given O_0 = o."""
    draw = block_of(spec).draw

    @scalar(forceinline=True)
    def draw_block(block, n, path, run):
        T, counter = type(run.h), run.counter
        words = philox10(block, n, path, counter.stream, counter.k0, counter.k1)
        return draw(*words, T(1.0))

    def append_block(before, after):
        @scalar(forceinline=True)
        def draw_blocks(block, n, path, run):
            return before(block, n, path, run) + draw_block(after, n, path, run)

        return draw_blocks

    numbers = draw_block
    for b in range(1, exact_blocks(spec)):
        numbers = append_block(numbers, np.uint32(b))
    matvec = make_matvec(spec.form_count + 1)

    @scalar(forceinline=True)
    def sample(drawing, o, n, path, run):
        return matvec(drawing, (o,) + numbers(np.uint32(0), uint32(run.done + n), path, run))

    return sample


def make_read_parameters(count):
    """Make `read_parameters(parameters, number, like)`: the first `count` parameters of a path."""
    read_column = make_read_column(count)

    @scalar(forceinline=True)
    def read_parameters(parameters, number, like):
        return read_column(parameters, number if parameters.shape[1] > 1 else int64(0), like)

    return read_parameters


def make_read_column(count):
    """Make `read_column(array, column, like)`: the `count` numbers of a column as a tuple."""
    zeros = (0.0,) * count

    @scalar(forceinline=True)
    def read_column(array, column, like):
        result = cast(zeros, like)
        for i in range(count):
            result = replace_component(result, int64(i), array[i, column])
        return result

    return read_column


def make_initialize(spec):
    """Make `initialize(run, path, number, arrays)`: the initial or resumed O and x of a path."""
    draw, initial, read_solution = block_of(spec).draw, spec.start, make_read_column(spec.dimension)
    read_parameters, number_at = make_read_parameters(spec.table_rows), make_number_at(spec)
    if spec.excited is not None:
        start_path = make_excited_start(spec, block_of(spec))

        @scalar
        def initialize_excited(run, path, number, arrays):
            path = number_at(run, arrays, -1, path, number)
            o = run.h - run.h  # an excitation's state is kept in x
            if run.done > 0:
                return o, read_solution(arrays.x, number, run.h)
            p = read_parameters(arrays.parameters, number, run.h)
            return o, start_path(run, path, number, arrays, p)

        return initialize_excited

    @scalar
    def initialize(run, path, number, arrays):
        if run.done > 0:
            return arrays.o[number], read_solution(arrays.x, number, run.h)
        path = number_at(run, arrays, -1, path, number)
        o = run.start
        if run.stationary:
            counter = run.counter
            words = philox10(uint32(0), START, path, counter.stream, counter.k0, counter.k1)
            o = draw(*words, run.start)[0]
        p = read_parameters(arrays.parameters, number, run.h)
        return o, cast(initial(o, p), run.h)

    return initialize


def make_number_at(spec):
    """Make `number_at(run, arrays, n, path, i)`: the number whose words path i has in step n."""
    branches = spec.branches

    @scalar(forceinline=True)
    def number_at(run, arrays, n, path, i):
        if branches:
            for k in range(arrays.switches.shape[0]):
                if run.done + n >= arrays.switches[k, i]:
                    path = arrays.numbers[k, i]
        return path

    return number_at


@scalar
def store_state(o, x, number, paths_o, paths_x):
    """Store the state of a path for the next call."""
    paths_o[number] = o
    for i in range(len(x)):
        paths_x[i, number] = x[i]


def make_averages(spec):
    """Make `averages(run, n, path, o, p)`: O_M and two averages of (G, g) over a coarse step.

    With phi_j = (G, g) at fine step j, the printed averages are the sum of phi_j over j = 0 .. M-1,
    divided by M, and the sum of (M - j) phi_j, divided by M^2/2. Linear ones have half of phi_0 and
    of phi_M in the first sum, and (M/2 - 1/6) phi_0 and phi_M/6 in the second; see `Scheme`. A
    scheme that does not use fine steps gets (G, g) at the start of the step instead of both.
    """
    draw, size, fields = block_of(spec).draw, block_of(spec).size, spec.fields
    at_start, is_linear = spec.averages == "start", spec.averages == "linear"

    @scalar
    def averages(run, n, path, o, p):
        T, counter = type(run.h), run.counter
        t, delta = run.t + T(run.done + n) * run.h, run.h / T(run.fine_steps)
        phi = cast(fields(t, o, p), run.h)
        single, double = phi, phi
        if is_linear:  # the sums of M/2 phi_0 in `double` begin with a third: 1/2 - 1/6
            single, double = scale(T(1.0 / 2.0), phi), scale(T(1.0 / 3.0), phi)
        begin, last = first_fine_step(run, n), run.fine_steps - 1
        for block in range(begin // size, (begin + last) // size + 1):
            numbers = draw(*words_of_block(counter, block, path), run.sigma)
            first = block * size - begin  # negative if the coarse step begins within the block
            for j in range(max(0, -first), min(size, run.fine_steps - first)):
                o = advance(o, run.mu_minus_1, numbers[j])
                if is_linear or (not at_start and first + j < last):
                    phi = cast(fields(t + T(first + j + 1) * delta, o, p), run.h)
                if not at_start and first + j < last:
                    single = add(single, phi)
                    double = add(double, single)
        if at_start:
            return o, single, double
        if is_linear:
            single = add(single, scale(T(1.0 / 2.0), phi))
            double = add(double, scale(T(1.0 / 6.0), phi))
        share = T(1.0) / T(run.fine_steps)
        return o, scale(share, single), scale(T(2.0) * share * share, double)

    return averages


def make_record(spec):
    """Make `record(run, t, row, is_first, number, x, o, p, arrays)`, which observes a path.

    The outputs at time t go to row `row` of `arrays.saved` if it is not negative, and `is_first`
    starts the folds anew. `arrays` is a `RunArrays`. The numbers of a fold go through registers:
    arrays as arguments of a user's function would keep loops from being vectorised.
    """
    observe, (count, update) = spec.observe, spec.fold
    zeros = (0.0,) * count

    @scalar(forceinline=True)
    def record(run, t, row, is_first, number, x, o, p, arrays):
        saved, folds, failed = arrays.saved, arrays.folds, arrays.failed
        if row < 0 and not run.saving.folds:
            return
        y = cast(observe(t, x, o, p), run.h)
        for i in range(len(y)):
            if run.saving.folds:
                old = cast(zeros, run.h)
                for k in range(count):
                    old = replace_component(old, int64(k), folds[i * count + k, number])
                new = cast(update(t, run.h, y[i], old, is_first), run.h)
                for k in range(count):
                    if is_first or not (new[k] == old[k]):
                        folds[i * count + k, number] = new[k]
                        if not math.isfinite(y[i]):
                            failed[number] = 1
            if row >= 0:
                saved[row, i, number] = y[i]
                if not math.isfinite(y[i]):
                    failed[number] = 1

    return record


@scalar
def next_save(run, row, until):
    """Return (row, until, due) after a coarse step: due is the row to save, or -1 for none."""
    until -= 1
    if until != 0:
        return row, until, int64(-1)
    return row + 1, run.saving.every, row + 1
