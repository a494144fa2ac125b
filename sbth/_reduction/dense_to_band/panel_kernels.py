"""One kernel that factors a panel (m, b) into Q R with Q = 1 - U V^H, and its device functions.

Each block holds some rows of the panel in shared memory, in columns of 64. Step j makes the
reflection 1 - tau v v^H of column j. A single pass over the rows applies the reflection before it,
and multiplies all columns by the part of column j that is to be eliminated. The sums over all rows
give the length of this part, the products with the columns that are left, and those with the
vectors of earlier reflections, of which the triangular factor T is made (U = V T; Schreiber and
Van Loan 1989). So the blocks wait for each other once a step.
"""

from typing import Any, NamedTuple

from numba import complex64, complex128, float32, float64, int32, uint64

from hetero.cuda.driver import cuda
from hetero.jit import kernel
from sbth._back.triangular_factors import (
    COLUMNS,
    GROUPS,
    PITCH,
    THREADS,
    add_groups,
    extend_triangle,
)
from sbth._gpu.arithmetic import arithmetic_of
from sbth._gpu.flags import SPINS, add_release, wait_for_progress

_LOADS = 20
MOST_BLOCKS = _LOADS * GROUPS
"""Blocks at most: a thread adds the sums of 20 of them."""

_device = kernel(device=True)


class Factors(NamedTuple):
    """Arrays for V and U (m, b).

    Attributes
    ----------
    left, right : arrays
        The factors of the update of the matrix, to which V is copied.
    v, u : arrays
        V and U.
    """

    left: Any
    right: Any
    v: Any
    u: Any


class Exchange(NamedTuple):
    """Global memory by which the blocks learn of each other.

    Attributes
    ----------
    sums : array (2 COLUMNS MOST_BLOCKS,)
        The sums over the rows of each block: two, in turns.
    rows : array (2 COLUMNS,)
        Row j as it is before step j, in turns.
    control : int32 (2,)
        Number of arrivals at all meetings, and 1 if a block waited in vain.
    """

    sums: Any
    rows: Any
    control: Any


def shared_size(chunk: int) -> int:
    """Return the number of elements of shared memory that a block needs.

    They are its rows, two columns of them, sums of each group for two purposes, T, and for each
    column the product with the last reflection and with earlier ones.
    """
    return chunk * (COLUMNS + 2) + 2 * THREADS + COLUMNS * PITCH + 2 * COLUMNS


class _Memory(NamedTuple):
    """Indices of the parts of shared memory; see `shared_size`. All are uint64."""

    x: int
    sums: int
    products: int
    t: int
    w: int
    gram: int


@_device
def _make_memory(chunk):
    """Return the parts of shared memory."""
    x = chunk * uint64(COLUMNS)
    sums = x + uint64(2) * chunk
    t = sums + uint64(2 * THREADS)
    w = t + uint64(COLUMNS * PITCH)
    return _Memory(x, sums, sums + uint64(THREADS), t, w, w + uint64(COLUMNS))


@_device
def _column_and_group():
    """Return the column of this thread, and the number of its group."""
    thread, columns = uint64(cuda.threadIdx.x), uint64(COLUMNS)
    return thread % columns, thread // columns


@_device
def _load_panel(a, position, shared, memory, rows, zero):
    """Store this block's rows of the panel, and zeros in T and in the products."""
    start, pitch, b = position
    first, count = rows
    columns = uint64(COLUMNS)
    c, group = _column_and_group()
    r = group
    while r < count:
        shared[r * columns + c] = a[start + (first + r) * pitch + c] if c < b else zero
        r += uint64(GROUPS)
    index = uint64(cuda.threadIdx.x)
    while index < uint64(COLUMNS * PITCH):
        shared[memory.t + index] = zero
        index += uint64(THREADS)
    if group == 0:
        shared[memory.w + c] = zero
    cuda.syncthreads()


@_device
def _sweep(shared, memory, j, rows, last, b, published):
    """Apply the last reflection to rows, and return the sums of products with column j.

    `rows` are the number of the first row of the block, and how many there are; `last` is the
    divisor of the vector of the last reflection, and the product of it with this thread's column.
    Row j is published.
    """
    first, count = rows
    scale, w_c = last
    c, group = _column_and_group()
    chunk = (memory.sums - memory.x) // uint64(2)
    old = memory.x + (j + uint64(1)) % uint64(2) * chunk
    new = memory.x + j % uint64(2) * chunk
    w_j = shared[memory.w + j]
    total = scale - scale
    r = group
    while r < count:
        i = first + r
        if i >= j and c < b:
            v = total - total
            if j > 0:
                v = shared[old + r] * scale
            x = shared[r * uint64(COLUMNS) + j] - v * w_j
            value = shared[r * uint64(COLUMNS) + c]
            if c > j:
                value -= v * w_c
                shared[r * uint64(COLUMNS) + c] = value
            elif c == j:
                value = x
                shared[new + r] = x
            elif c + uint64(1) == j:
                value = v
                shared[r * uint64(COLUMNS) + c] = v
            if i == j:
                published[c] = value
            else:
                total += x.conjugate() * value
        r += uint64(GROUPS)
    return total


@_device
def _sum_over_blocks(shared, memory, received, turn, b, zero):
    """Add the sums of all blocks, for this thread's group; all threads see them afterwards.

    The blocks wait for these loads in each step, so that columns without elements are left out.
    """
    (c, group), blocks = _column_and_group(), uint64(cuda.gridDim.x)
    begin, total = turn * blocks, zero
    for load in range(_LOADS):
        block = group + uint64(load * GROUPS)
        if block < blocks and c < b:
            total += received[(begin + block) * uint64(COLUMNS) + c]
    shared[memory.sums + uint64(cuda.threadIdx.x)] = total
    cuda.syncthreads()


@_device
def _meet(shared, memory, j, tau, zero, exchange, meeting):
    """Wait for the sums of all blocks in step j; return 1 after a timeout.

    Until the others arrive, column j - 1 of T is computed. `meeting` is the number of arrivals
    before this launch, and an int32 in shared memory.
    """
    (arrivals, failed), control, thread = meeting, exchange.control, cuda.threadIdx.x
    cuda.syncthreads()
    if thread == 0:
        add_release(control, 0, 1)
    if j > 0:
        triangle = memory.t, memory.gram, memory.products
        extend_triangle(shared, triangle, j - uint64(1), tau, zero)
    if thread == 0:
        expected = uint64(arrivals) + (j + uint64(1)) * uint64(cuda.gridDim.x)
        failed[0] = wait_for_progress(control, 0, expected, control, SPINS)
    cuda.syncthreads()
    return failed[0]


@_device
def _store_factors(shared, memory, rows, b, scale, factors, positions):
    """Store this block's rows of V and of U = V T.

    `positions` are the last three numbers of that of `factor`.
    """
    first, count = rows
    left, right, factor_pitch = positions
    (c, group), columns = _column_and_group(), uint64(COLUMNS)
    chunk = (memory.sums - memory.x) // uint64(2)
    last = memory.x + (b + uint64(1)) % uint64(2) * chunk
    zero = scale - scale
    r = group
    while r < count:
        i = first + r
        value = shared[r * columns + c]
        if i < c or c >= b:
            value = zero
        elif i == c:
            value = type(zero)(1)
        elif c + uint64(1) == b:
            value = shared[last + r] * scale
        shared[r * columns + c] = value
        if c < b:
            factors.v[i * b + c] = value
            factors.left[left + i * factor_pitch + c] = value
            factors.right[right + i * factor_pitch + c] = value
        r += uint64(GROUPS)
    cuda.syncthreads()
    r = group
    while r < count:
        s = min(r + uint64(GROUPS), count - uint64(1))
        sum_r = sum_s = zero
        for q in range(b):
            t = shared[memory.t + q * uint64(PITCH) + c]
            sum_r += shared[r * columns + q] * t
            sum_s += shared[s * columns + q] * t
        if c < b:
            factors.u[(first + r) * b + c] = sum_r
            factors.u[(first + s) * b + c] = sum_s
        r += uint64(2 * GROUPS)


def _make_kernel(dtype):
    """Make the kernel for a type."""
    arithmetic, real = arithmetic_of(dtype)
    reflect = arithmetic.reflect

    @kernel(launch_bounds=(THREADS, 1))
    def factor(a, position, offset, factors, exchange, arrivals):
        """Factor a panel of `a`, of which R takes the place; elements below R are not changed.

        `position` is the index of the panel's first element, the distance of its rows, its size
        m, b, the rows of a block, the indices of the first elements of V in `factors.left` and
        `factors.right`, and the distance of the rows there. V and U go to `factors.v` and
        `factors.u` from index `offset` on. `arrivals` is the number of arrivals at the meetings of
        earlier launches.
        """
        start, pitch, b = uint64(position[0]), uint64(position[1]), uint64(position[3])
        m, chunk = uint64(position[2]), uint64(position[4])
        columns, blocks = uint64(COLUMNS), uint64(cuda.gridDim.x)
        block, zero, (c, group) = uint64(cuda.blockIdx.x), dtype(0), _column_and_group()
        shared = cuda.shared.array(0, dtype)
        failed = cuda.shared.array(1, int32)
        memory = _make_memory(chunk)
        rows = block * chunk, min(chunk, m - block * chunk)
        _load_panel(a, (start, pitch, b), shared, memory, rows, zero)
        steps = min(m, b)
        tau, scale, w_c = real(0), zero, zero
        for j in range(steps):
            turn = j % uint64(2)
            published = exchange.rows[turn * columns :]
            total = _sweep(shared, memory, j, rows, (scale, w_c), b, published)
            shared[memory.sums + uint64(cuda.threadIdx.x)] = total
            cuda.syncthreads()
            if group == 0:
                sum_over_rows = add_groups(shared, memory.sums, c)
                exchange.sums[(turn * blocks + block) * columns + c] = sum_over_rows
            if _meet(shared, memory, j, tau, zero, exchange, (arrivals, failed)):
                return
            head, element = published[j], published[c]
            _sum_over_blocks(shared, memory, exchange.sums, turn, b, zero)
            tail = add_groups(shared, memory.sums, j).real
            beta, tau, scale, phase = reflect(head, tail)
            product = element + scale.conjugate() * add_groups(shared, memory.sums, c)
            w_c = tau * product if c > j else zero
            if group == 0:
                shared[memory.w + c] = w_c
                shared[memory.gram + c] = product.conjugate()
                if block == 0 and c >= j and c < b:
                    a[start + j * pitch + c] = phase * beta if c == j else element - w_c
            cuda.syncthreads()
        triangle = memory.t, memory.gram, memory.products
        extend_triangle(shared, triangle, steps - uint64(1), tau, zero)
        cuda.syncthreads()
        stored = Factors(factors.left, factors.right, factors.v[offset:], factors.u[offset:])
        positions = uint64(position[5]), uint64(position[6]), uint64(position[7])
        _store_factors(shared, memory, rows, b, scale, stored, positions)

    return factor


KERNELS = {
    f"factor_{dtype}": _make_kernel(dtype) for dtype in (float32, float64, complex64, complex128)
}
"""The kernels by name, for each type."""
