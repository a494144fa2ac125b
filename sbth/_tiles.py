"""Kernels that make products of matrices tile by tile, wherever their factors come from."""

from numba import int32, uint32, uint64

from hetero._driver import cuda
from hetero.jit import kernel

TILE = 64
"""Rows of a tile."""

MICRO = 4
"""Rows, and columns, of a tile that a thread has."""


def threads_of(width: int) -> int:
    return TILE // MICRO * (width // MICRO)


def product(
    dtype, width, chunk, resident, place, left, left_along, right, right_along, store, lanes_down
):
    """A kernel (work, space, n, d, step, first, slots): sums of left(i, k) right(k, j), in tiles.

    The arguments `data` of the functions below are (work, space, d, where); i, j, k are int32.

    Parameters
    ----------
    dtype : numba type
    width : columns of a tile
    chunk : terms k that are in shared memory at once; the next ones are on their way meanwhile
    resident : blocks of 128 threads that a multiprocessor shall hold at least
    place : (n, d, step, first, slots) -> (where, row, column, terms): what the block works on, the
        first row and column of its tile, and the number of terms (0: there is nothing to do)
    left, right : (*data, i, k) and (*data, k, j) -> factor, 0 outside the matrices
    left_along : (row, k) -> whether left(i, k) is contiguous along k for the tile at `row`
    right_along : whether right(k, j) is contiguous along k
    store : (*data, i, j, sum)
    lanes_down : whether neighbouring threads store to neighbouring rows, not columns
    """
    across, down, threads = width // MICRO, TILE // MICRO, threads_of(width)
    lefts_pitch, rights_pitch = TILE + 1, width + 1  # odd: no conflicts of the banks
    lefts_size, rights_size = chunk * lefts_pitch, chunk * rights_pitch
    left_share, right_share = chunk * TILE // threads, chunk * width // threads
    device = kernel(device=True)

    @device
    def cell(number, size, along):
        """(index, k) of a thread's factor for a chunk of `size` rows or columns."""
        t = uint32(cuda.threadIdx.x) + uint32(number * threads)
        if along:
            return int32(t // uint32(chunk)), int32(t % uint32(chunk))
        return int32(t % uint32(size)), int32(t // uint32(size))

    @device
    def fetch(work, space, d, where, row, column, begin, a, b):
        """The thread's share of a chunk, to its registers."""
        if left_along(row, begin):
            for q in range(left_share):
                i, k = cell(q, TILE, True)
                a[q] = left(work, space, d, where, int32(row + i), int32(begin + k))
        else:
            for q in range(left_share):
                i, k = cell(q, TILE, False)
                a[q] = left(work, space, d, where, int32(row + i), int32(begin + k))
        for q in range(right_share):
            j, k = cell(q, width, right_along)
            b[q] = right(work, space, d, where, int32(begin + k), int32(column + j))

    @device
    def spread(row, begin, lefts, rights, a, b):
        """The chunk to shared memory."""
        along = left_along(row, begin)
        for q in range(left_share):
            i, k = cell(q, TILE, along)
            lefts[uint32(k * lefts_pitch + i)] = a[q]
        for q in range(right_share):
            j, k = cell(q, width, right_along)
            rights[uint32(k * rights_pitch + j)] = b[q]

    @kernel(launch_bounds=(threads, max(1, 128 * resident // threads)), cache=False)
    def run(work, space, n, d, step, first, slots):
        lefts = cuda.shared.array(lefts_size, dtype)
        rights = cuda.shared.array(rights_size, dtype)
        sums = cuda.local.array((MICRO, MICRO), dtype)
        a, b = cuda.local.array(left_share, dtype), cuda.local.array(right_share, dtype)
        column_of = cuda.local.array(MICRO, dtype)
        where, row, column, terms = place(n, d, step, first, slots)
        if terms == 0:
            return
        d = int32(d)
        t = int32(cuda.threadIdx.x)
        x, y = (t // down, t % down) if lanes_down else (t % across, t // across)
        for i in range(MICRO):
            for j in range(MICRO):
                sums[i, j] = 0
        fetch(work, space, d, where, row, column, int32(0), a, b)
        for begin in range(0, terms, chunk):
            spread(row, int32(begin), lefts, rights, a, b)
            cuda.syncthreads()
            if begin + chunk < terms:
                fetch(work, space, d, where, row, column, int32(begin + chunk), a, b)
            for k in range(uint64(chunk)):
                for i in range(MICRO):
                    column_of[i] = lefts[k * uint64(lefts_pitch) + uint64(y + i * down)]
                for j in range(MICRO):
                    factor = rights[k * uint64(rights_pitch) + uint64(x + j * across)]
                    for i in range(MICRO):
                        sums[i, j] += column_of[i] * factor
            cuda.syncthreads()
        for i in range(MICRO):
            for j in range(MICRO):
                at = int32(row + y + i * down), int32(column + x + j * across)
                store(work, space, d, where, *at, sums[i, j])

    return run
