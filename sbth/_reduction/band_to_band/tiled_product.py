"""Kernels for tiled matrix products, whose factors are loaded by functions."""

from collections.abc import Callable
from typing import NamedTuple

from numba import int32, uint32, uint64

from hetero.cuda.driver import cuda
from hetero.jit import kernel

TILE = 64
"""Rows of a tile (not tuned)."""

MICRO = 4
"""Rows, and columns, of a tile that a thread computes."""


def tile_threads(width: int) -> int:
    """Return the threads of a block for tiles of `width` columns."""
    return TILE // MICRO * (width // MICRO)


class TiledProduct(NamedTuple):
    """Description of a tiled product: sums of left(i, k) right(k, j) over k.

    The arguments `data` of the functions are (work, space, d, pair); i, j, k are int32.

    Attributes
    ----------
    resident : int
        Blocks of 128 threads that should fit on a multiprocessor at least.
    assign_tile : (n, d, step, first, slots) -> (pair, row, column, terms)
        The block pair, the first row and column of the tile, and the number of terms (0 if the
        block has nothing to do).
    left, right : (*data, i, k) and (*data, k, j) -> factor
        0 outside the matrices.
    left_along : (row, k) -> bool
        Whether left(i, k) is contiguous along k for the tile that begins with `row`.
    store : (*data, i, j, sum)
    right_along : bool
        Whether right(k, j) is contiguous along k.
    lanes_down : bool
        Whether neighbouring threads store neighbouring rows rather than columns.
    """

    resident: int
    assign_tile: Callable
    left: Callable
    left_along: Callable
    right: Callable
    store: Callable
    right_along: bool = False
    lanes_down: bool = False


def make_tiled_product(dtype, width: int, chunk: int, description: TiledProduct):
    """Make a kernel (arrays, n, d, step, first, slots) that computes a tiled product.

    `arrays` are the working matrix and the slots, `work` and `space` in `TiledProduct`.
    A block of threads computes one tile of `width` columns. `chunk` terms k are in shared memory at
    a time, while the next ones are being loaded.
    """
    resident, assign_tile, left, left_along, right, store, right_along, lanes_down = description
    across, down, threads = width // MICRO, TILE // MICRO, tile_threads(width)
    lefts_pitch, rights_pitch = TILE + 1, width + 1  # odd, to avoid bank conflicts
    lefts_size, rights_size = chunk * lefts_pitch, chunk * rights_pitch
    left_share, right_share = chunk * TILE // threads, chunk * width // threads
    device = kernel(device=True)

    @device
    def cell(number, size, along):
        """Return (index, k) of a thread's factor number `number`, for `size` rows or columns."""
        t = uint32(cuda.threadIdx.x) + uint32(number * threads)
        if along:
            return int32(t // uint32(chunk)), int32(t % uint32(chunk))
        return int32(t % uint32(size)), int32(t // uint32(size))

    @device
    def fetch(data, row, column, begin, a, b):
        """Load the thread's share of a chunk into its registers."""
        work, space, d, pair = data
        if left_along(row, begin):
            for q in range(left_share):
                i, k = cell(q, TILE, True)
                a[q] = left(work, space, d, pair, int32(row + i), int32(begin + k))
        else:
            for q in range(left_share):
                i, k = cell(q, TILE, False)
                a[q] = left(work, space, d, pair, int32(row + i), int32(begin + k))
        for q in range(right_share):
            j, k = cell(q, width, right_along)
            b[q] = right(work, space, d, pair, int32(begin + k), int32(column + j))

    @device
    def share(row, begin, lefts, rights, a, b):
        """Store the thread's share of a chunk in shared memory."""
        along = left_along(row, begin)
        for q in range(left_share):
            i, k = cell(q, TILE, along)
            lefts[uint32(k * lefts_pitch + i)] = a[q]
        for q in range(right_share):
            j, k = cell(q, width, right_along)
            rights[uint32(k * rights_pitch + j)] = b[q]

    @kernel(launch_bounds=(threads, max(1, 128 * resident // threads)))
    def product(arrays, n, d, step, first, slots):
        work, space = arrays
        lefts = cuda.shared.array(lefts_size, dtype)
        rights = cuda.shared.array(rights_size, dtype)
        sums = cuda.local.array((MICRO, MICRO), dtype)
        a, b = cuda.local.array(left_share, dtype), cuda.local.array(right_share, dtype)
        column_of = cuda.local.array(MICRO, dtype)
        pair, row, column, terms = assign_tile(n, d, step, first, slots)
        if terms == 0:
            return
        d = int32(d)
        t = int32(cuda.threadIdx.x)
        x, y = (t // down, t % down) if lanes_down else (t % across, t // across)
        for i in range(MICRO):
            for j in range(MICRO):
                sums[i, j] = 0
        data = work, space, d, pair
        fetch(data, row, column, int32(0), a, b)
        for begin in range(0, terms, chunk):
            share(row, int32(begin), lefts, rights, a, b)
            cuda.syncthreads()
            if begin + chunk < terms:
                fetch(data, row, column, int32(begin + chunk), a, b)
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
                index = int32(row + y + i * down), int32(column + x + j * across)
                store(work, space, d, pair, *index, sums[i, j])

    return product
