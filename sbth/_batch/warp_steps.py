"""Steps of the reduction of a small real matrix to tridiagonal form by a single warp.

Each lane holds a row of the matrix in registers, so that only vectors pass through shared memory.
Registers cannot be indexed. So a step moves each row by one column: element 0 of a row always
belongs to the column that is eliminated, and all loops have constant bounds and are unrolled.
Afterwards the reflections are multiplied in the same way, with a column in each lane.
"""

from numba import uint32

from hetero.cuda.driver import SIMULATOR, cuda
from hetero.intrinsics import warp
from hetero.jit import kernel
from sbth._gpu.householder_formulas import reflection

ROWS = 8 if SIMULATOR else warp.LANES
"""Largest order, and the threads of a block: a lane for each row."""

CHUNK = 4 if SIMULATOR else 8
"""Columns after which a loop may end, because the rest has been eliminated (not tuned)."""

_ELEMENTS = ROWS + 1  # of a row in registers: the last one, 0, moves in from the right

_device = kernel(device=True)


@_device
def _sum_by_shuffles(value, partial):
    """Return the sum over the warp; `partial` is not used."""
    return warp.warp_sum(value)


@_device
def _sum_in_memory(value, partial):
    """Return the sum over the block: the simulator has no shuffles."""
    cuda.syncthreads()
    partial[cuda.threadIdx.x] = value
    cuda.syncthreads()
    total = partial[0]
    for i in range(1, ROWS):
        total += partial[i]
    return total


@_device
def _synchronize_warp():
    cuda.syncwarp()


@_device
def _synchronize_block():
    cuda.syncthreads()


_sum = _sum_in_memory if SIMULATOR else _sum_by_shuffles

synchronize = _synchronize_block if SIMULATOR else _synchronize_warp
"""Wait until all lanes of the warp have come here, and see what they have stored."""


def make_reduction(dtype):
    """Make the function that reduces a matrix, like that of `reduction_steps` but for a warp."""

    @_device
    def multiply(row, u, remaining):
        """Return the product of a row from its element 1 on with u, in four chains of sums."""
        y0 = y1 = y2 = y3 = dtype(0)
        for c in range(0, ROWS, CHUNK):
            if c < remaining:
                for j in range(c, c + CHUNK, 4):
                    y0 += row[j + 1] * u[uint32(j)]
                    y1 += row[j + 2] * u[uint32(j + 1)]
                    y2 += row[j + 3] * u[uint32(j + 2)]
                    y3 += row[j + 4] * u[uint32(j + 3)]
        return (y0 + y1) + (y2 + y3)

    @_device
    def reduce(a, ld, n, scratch, tridiagonal, zero):
        """Reduce a matrix of up to `ROWS` rows.

        The arrays of `scratch` have `ROWS` elements. The vectors of the reflections go to `a`,
        whose leading dimension exceeds `ROWS`, by columns, with zeros above and below them.
        """
        u, w, taus, partial = scratch.u, scratch.w, scratch.taus, scratch.partial
        diagonal, below = tridiagonal
        i, order = uint32(cuda.threadIdx.x), uint32(n)
        pitch = uint32(ld)
        row = cuda.local.array(_ELEMENTS, dtype)
        for j in range(ROWS):
            row[j] = zero
            if i < order and uint32(j) < order:
                row[j] = a[i * pitch + uint32(j)]
        row[ROWS] = zero
        for step in range(n - 1):
            k = uint32(step)
            # Elements of u and w are stored from that of row k + 1 on, then zeros.
            index = (i + uint32(ROWS - 1) - k) % uint32(ROWS)
            x, remaining = row[0], n - 1 - step
            if i == k:
                diagonal[k] = x
            if i == k + uint32(1):
                scratch.head[0] = x
            tail = _sum(x * x if i > k + uint32(1) else zero, partial)
            synchronize()
            beta, tau, factor = reflection(scratch.head[0], tail)
            u_i = zero
            if i > k:
                u_i = x * factor if i > k + uint32(1) else dtype(1)
            if i >= order:
                u_i = zero
            u[index] = u_i
            a[k * pitch + i] = u_i
            if i == uint32(0):
                below[k] = beta
                taus[k] = tau
            synchronize()
            y = tau * multiply(row, u, remaining)
            product = _sum(y * u_i, partial)
            w_i = y - tau * product * dtype(0.5) * u_i if i > k else zero
            w[index] = w_i
            synchronize()
            for c in range(0, ROWS, CHUNK):
                if c < remaining:
                    for j in range(c, c + CHUNK):
                        row[j] = row[j + 1] - u_i * w[uint32(j)] - w_i * u[uint32(j)]
        if i == order - uint32(1):
            diagonal[i] = row[0]
            below[i] = 0.0

    return reduce


def make_transformation(dtype):
    """Make the function that multiplies the reflections of a reduction."""

    @_device
    def form_reflections(a, ld, n, scratch, zero):
        """Replace the vectors of the reflections by their product Q, with a column in each lane."""
        lane, order, pitch = uint32(cuda.threadIdx.x), uint32(n), uint32(ld)
        column = cuda.local.array(ROWS, dtype)
        for i in range(ROWS):
            column[i] = dtype(1) if uint32(i) == lane else zero
        synchronize()
        for k in range(n - 3, -1, -1):
            u = a[uint32(k) * pitch : uint32(k) * pitch + uint32(ROWS)]
            s0 = s1 = s2 = s3 = zero
            for c in range(0, ROWS, CHUNK):
                if c + CHUNK > k + 1 and c < n:
                    for i in range(c, c + CHUNK, 4):
                        s0 += u[uint32(i)] * column[i]
                        s1 += u[uint32(i + 1)] * column[i + 1]
                        s2 += u[uint32(i + 2)] * column[i + 2]
                        s3 += u[uint32(i + 3)] * column[i + 3]
            product = scratch.taus[uint32(k)] * ((s0 + s1) + (s2 + s3))
            for c in range(0, ROWS, CHUNK):
                if c + CHUNK > k + 1 and c < n:
                    for i in range(c, c + CHUNK):
                        column[i] -= product * u[uint32(i)]
        synchronize()
        if lane < order:
            for i in range(ROWS):
                a[lane * pitch + uint32(i)] = column[i]
        synchronize()

    return form_reflections
