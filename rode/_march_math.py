"""Pieces of the marching loops that both targets share; each is made for a Program."""

# ruff: noqa: RUF005 - Numba joins tuples by +.

import math

import numpy as np
from numba import int64, uint32

from hetero._floats import fma
from hetero._philox_math import philox10
from hetero.jit import scalar
from rode._blocks_math import BLOCKS
from rode._functionals_math import advance
from rode._march import START
from rode._vectors import cast, plus, replaced, scaled


def block_of(program):
    """How words become noise for this program."""
    return BLOCKS[program.dtype, program.normals]


def law_blocks(program) -> int:
    """Philox blocks that a coarse step takes when its sums are drawn from their law."""
    return -(-(program.degree + 2) // block_of(program).size)


def forms_of(program) -> int:
    """Linear forms that the scheme wants: one a degree."""
    return program.degree + 1


def mapping(count):
    """image(matrix, x): the matrix with `count` rows times the tuple x."""
    nothing = (0.0,) * count

    @scalar(forceinline=True)
    def image(matrix, x):
        found = cast(nothing, x[0])
        for i in range(count):
            total = matrix[i, 0] * x[0]
            for j in range(1, len(x)):
                total = fma(matrix[i, j], x[j], total)
            found = replaced(found, int64(i), total)
        return found

    return image


def sampler(program):
    """sample(law, o, i, path, run): (O_M, F_0, .., F_D) drawn from their law given O_0 = o."""
    draw = block_of(program).draw

    @scalar(forceinline=True)
    def one(block, n, path, run):
        T = type(run.h)
        return draw(*philox10(block, n, path, run.stream, run.k0, run.k1), T(1.0))

    def joined(before, after):
        @scalar
        def both(block, n, path, run):
            return before(block, n, path, run) + one(after, n, path, run)

        return both

    numbers = one
    for b in range(1, law_blocks(program)):
        numbers = joined(numbers, np.uint32(b))
    image = mapping(program.degree + 2)

    @scalar(forceinline=True)
    def sample(law, o, n, path, run):
        return image(law, (o,) + numbers(np.uint32(0), uint32(run.done + n), path, run))

    return sample


def reader(count):
    """read(parameters, number, like): the first `count` parameters of a path as a tuple."""
    take = taker(count)

    @scalar(forceinline=True)
    def read(parameters, number, like):
        return take(parameters, number if parameters.shape[1] > 1 else int64(0), like)

    return read


def loader(program):
    """load(paths_x, number, like): the solution of a path as a tuple."""
    return taker(program.dimension)


def taker(count):
    """take(array, column, like): the `count` numbers of a column as a tuple."""
    nothing = (0.0,) * count

    @scalar(forceinline=True)
    def take(array, column, like):
        found = cast(nothing, like)
        for i in range(count):
            found = replaced(found, int64(i), array[i, column])
        return found

    return take


def beginner(program):
    """begin(run, path, number, paths_o, paths_x, parameters): O and x, at the start or as left."""
    draw, initial, load = block_of(program).draw, program.start, loader(program)
    read = reader(program.table_rows)

    @scalar
    def begin(run, path, number, paths_o, paths_x, parameters):
        if run.done > 0:
            return paths_o[number], load(paths_x, number, run.h)
        o = run.start
        if run.stationary:
            o = draw(*philox10(uint32(0), START, path, run.stream, run.k0, run.k1), run.start)[0]
        return o, cast(initial(o, read(parameters, number, run.h)), run.h)

    return begin


@scalar
def leave(o, x, number, paths_o, paths_x):
    """Keep the state of a path for the next call."""
    paths_o[number] = o
    for i in range(len(x)):
        paths_x[i, number] = x[i]


def averager(program):
    """means(run, n, path, o, p): O_M and the two averages of (G, g) over a coarse step.

    Single: sum of phi_j over j = 0 .. M-1, by M; double: that of (M - j) phi_j, by M^2/2. The plain
    Euler scheme has the fields at the start in their place.
    """
    draw, size, fields = block_of(program).draw, block_of(program).size, program.fields
    plain = program.degree == 0

    @scalar
    def means(run, n, path, o, p):
        T = type(run.h)
        t, delta = run.t + T(run.done + n) * run.h, run.h / T(run.steps)
        phi = cast(fields(t, o, p), run.h)
        single, double = phi, phi
        block, last = uint32(0), run.steps - 1
        step = uint32(run.done + n)
        for first in range(0, run.steps, size):
            four = draw(*philox10(block, step, path, run.stream, run.k0, run.k1), run.sigma)
            block = uint32(block + uint32(1))
            for j in range(min(size, run.steps - first)):
                o = advance(o, run.em1, four[j])
                if not plain and first + j < last:
                    phi = cast(fields(t + T(first + j + 1) * delta, o, p), run.h)
                    single = plus(single, phi)
                    double = plus(double, single)
        if plain:
            return o, single, double
        share = T(1.0) / T(run.steps)
        return o, scaled(share, single), scaled(T(2.0) * share * share, double)

    return means


def notary(program):
    """note(run, row, first, t, number, x, o, p, saved, peaks, failed): keep the outputs of a step.

    The outputs go to `saved` if `row` >= 0; `first` starts the peaks anew. Peaks are NaN from the
    first NaN on.
    """
    observe = program.observe

    @scalar
    def note(run, row, first, t, number, x, o, p, saved, peaks, failed):
        if row < 0 and not run.peaks:
            return
        y = cast(observe(t, x, o, p), run.h)
        for i in range(len(y)):
            size = abs(y[i])
            if run.peaks and (first or not (size <= peaks[i, number])):
                if first or not math.isnan(peaks[i, number]):
                    peaks[i, number] = size
                if not math.isfinite(size):
                    failed[number] = 1
            if row >= 0:
                saved[row, i, number] = y[i]
                if not math.isfinite(size):
                    failed[number] = 1

    return note


@scalar
def counted(run, row, until):
    """(row, until, due) after a coarse step; due is the row to save, or -1."""
    until -= 1
    if until != 0:
        return row, until, int64(-1)
    return row + 1, run.every, row + 1
