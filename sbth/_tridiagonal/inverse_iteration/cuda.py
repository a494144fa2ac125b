"""Inverse iteration on the GPU: a thread for each vector.

The recurrences along the matrix take as long for one vector as for thousands. A thread therefore
loads several rows of the factors before it needs the first of them, and the threads of a block read
the matrix through shared memory.
"""

import numpy as np
from numba import float64, int8, int64

from hetero.cuda import launch
from hetero.cuda.driver import cuda
from hetero.cuda.ready_arrays import allocate_as_one, ready
from hetero.jit import kernel
from sbth._gpu.approximate_division import divide_approximately
from sbth._tridiagonal.inverse_iteration.formulas import (
    backward_step,
    delayed_factor,
    first_random,
    forward_step,
    make_elimination,
    next_random,
    random_element,
)
from sbth._tridiagonal.inverse_iteration.layout import Factors

_THREADS = 32
"""Threads of a block: one warp, so that few vectors occupy several multiprocessors."""

_ROWS = 256
"""Rows of the matrix in shared memory at a time (not tuned)."""

_COUPLINGS = _ROWS + 1
"""Elements of the subdiagonal that belong to these rows."""

_AHEAD = 8
"""Rows of the factors that a thread loads at a time (not tuned)."""

_eliminate = make_elimination(kernel(device=True), divide_approximately)


def allocate(n, m, stream=0):
    """Return memory for the factors of m matrices of order n, and for vectors (n, m)."""
    floats = [((n, m), np.float64)] * 5
    *arrays, vectors, swapped, marks = allocate_as_one(
        [*floats, ((n, m), np.int8), ((3, m), np.float64)], stream
    )
    return Factors(*arrays, swapped, marks), vectors


@kernel(launch_bounds=(_THREADS, 1))
def factor_columns(diagonal, below, shifts, smallest, factors):
    """Factor T - x for the shift of each thread."""
    reciprocal, first, second, multiplier, swapped = factors
    j, n = cuda.grid(1), len(reciprocal)
    diagonals = cuda.shared.array(_ROWS, float64)
    couplings = cuda.shared.array(_COUPLINGS, float64)
    x = shifts[min(j, shifts.size - 1)]
    a, b = diagonal[0] - x, below[0]
    for begin in range(0, n, _ROWS):
        count = min(_ROWS, n - begin)
        cuda.syncthreads()
        for k in range(cuda.threadIdx.x, count, _THREADS):
            diagonals[k], couplings[k] = diagonal[begin + k + 1], below[begin + k]
        if cuda.threadIdx.x == 0:
            couplings[count] = below[begin + count]
        cuda.syncthreads()
        for k in range(count):
            i = begin + k
            inverse, u1, u2, factor_below, has_swapped, a, b = _eliminate(
                a, b, couplings[k], diagonals[k] - x, couplings[k + 1], smallest
            )
            if j < shifts.size:
                reciprocal[i, j], first[i, j], second[i, j] = inverse, u1, u2
                multiplier[i, j], swapped[i, j] = factor_below, int8(has_swapped)


def factor(matrix, smallest, factors, stream=0):
    """Factor T - x for each shift x."""
    blocks = launch.blocks_for(matrix.shifts.size, _THREADS)
    arguments = *matrix, float(smallest), factors[:5]
    launch.launch(factor_columns, blocks, _THREADS, stream, arguments)


@kernel(launch_bounds=(_THREADS, 1))
def eliminate_columns(multiplier, swapped, vectors):
    """Replace the vector of each thread by L^-1 P^-1 times itself."""
    j, last = cuda.grid(1), len(vectors) - 1
    if j >= vectors.shape[1]:
        return
    elements = cuda.local.array(_AHEAD, float64)
    factors = cuda.local.array(_AHEAD, float64)
    exchanges = cuda.local.array(_AHEAD, int8)
    carry = vectors[0, j]
    for begin in range(0, last, _AHEAD):
        for k in range(_AHEAD):
            i = min(begin + k, last - 1)
            elements[k], factors[k] = vectors[i + 1, j], multiplier[i, j]
            exchanges[k] = swapped[i, j]
        for k in range(_AHEAD):
            if begin + k < last:
                top, carry = forward_step(carry, elements[k], factors[k], exchanges[k] != 0)
                vectors[begin + k, j] = top
    vectors[last, j] = carry


@kernel(launch_bounds=(_THREADS, 1))
def substitute_columns(reciprocal, first, second, marks, vectors, is_first):
    """Replace the vector of each thread by U^-1 D^-1 times itself, or times a random one."""
    j, n = cuda.grid(1), len(vectors)
    if j >= vectors.shape[1]:
        return
    elements = cuda.local.array(_AHEAD, float64)
    inverses = cuda.local.array(_AHEAD, float64)
    nearer = cuda.local.array(_AHEAD, float64)
    farther = cuda.local.array(_AHEAD, float64)
    random = first_random(int64(j))
    state = 0.0, 0.0, 1.0, 0.0
    last = previous = int64(n)
    for begin in range(n - 1, -1, -_AHEAD):
        for k in range(_AHEAD):
            i = max(begin - k, 0)
            inverses[k], nearer[k], farther[k] = reciprocal[i, j], first[i, j], second[i, j]
            if is_first:
                random = next_random(random)
                elements[k] = random_element(random)
            else:
                elements[k] = vectors[i, j]
        for k in range(_AHEAD):
            if begin - k >= 0:
                state, has_grown = backward_step(
                    elements[k], inverses[k], nearer[k], farther[k], state
                )
                vectors[begin - k, j] = state[0]
                if has_grown:
                    last, previous = int64(begin - k), last
    marks[0, j], marks[1, j], marks[2, j] = 1.0 / state[3], float64(last), float64(previous)


@kernel
def scale_elements(marks, vectors):
    """Apply scalings to elements stored before them, and divide each vector by its largest one."""
    m = vectors.shape[1]
    for element in range(cuda.grid(1), vectors.size, cuda.gridsize(1)):
        i, j = element // m, element % m
        vectors[i, j] *= delayed_factor(i, marks[1, j], marks[2, j]) * marks[0, j]


def solve(factors, vectors, is_first, stream=0):
    """Replace each vector y by (T - x)^-1 y, divided by its largest element."""
    vectors = ready(vectors)
    blocks = launch.blocks_for(vectors.shape[1], _THREADS)
    if not is_first:
        arguments = factors.multiplier, factors.swapped, vectors
        launch.launch(eliminate_columns, blocks, _THREADS, stream, arguments)
    arguments = *factors[:3], factors.marks, vectors, bool(is_first)
    launch.launch(substitute_columns, blocks, _THREADS, stream, arguments)
    blocks = launch.grid_stride_blocks(vectors.size)
    launch.launch(scale_elements, blocks, launch.THREADS, stream, (factors.marks, vectors))
