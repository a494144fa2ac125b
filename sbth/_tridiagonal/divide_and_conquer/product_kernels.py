"""Kernels for products of the eigenvectors of blocks by those of secular equations, on a GPU."""

from numba import float64

from hetero.cuda.driver import cuda
from hetero.jit import kernel
from sbth._tridiagonal.divide_and_conquer.layout import BEGIN, END, GATHER, KEPT, MIDDLE, TOP, UPPER

TILE = 64
"""Rows and columns of a product that a block computes (not tuned)."""

_CHUNK = 16
"""Terms of a product that are in shared memory at a time (not tuned)."""

_MICRO = 4
"""Rows, and columns, of a tile that a thread computes."""

_PITCH = TILE + 1  # odd, to avoid bank conflicts

TILE_THREADS = (TILE // _MICRO) ** 2


@kernel
def gather_rows(merges, owner, level, integers, vectors, packed):
    """Sort the eigenvectors of the blocks into `packed`, a row by each block of threads."""
    row = cuda.blockIdx.x
    merge, source = merges[owner[level, row]], integers[GATHER, row]
    for column in range(merge[BEGIN] + cuda.threadIdx.x, merge[END], cuda.blockDim.x):
        packed[row, column] = vectors[source, column]


@kernel
def restore_rows(merges, owner, level, packed, vectors):
    """Copy the eigenvectors that deflation left, a row by each block of threads."""
    row = cuda.blockIdx.x
    merge = merges[owner[level, row]]
    if row < merge[BEGIN] + merge[KEPT]:
        return
    for column in range(merge[BEGIN] + cuda.threadIdx.x, merge[END], cuda.blockDim.x):
        vectors[row, column] = packed[row, column]


@kernel(launch_bounds=(TILE_THREADS, 2))
def multiply_tiles(merges, first, tiles, factors, packed, vectors):
    """Compute a tile of `factors` times `packed` by each block of threads.

    Each merge, from number `first` on, has twice as many blocks as the largest one has tiles: for
    the columns of the upper block, and for those of the lower one, whose vectors are those of other
    poles.
    """
    half, tile = cuda.blockIdx.x // tiles, cuda.blockIdx.x % tiles
    merge, is_lower = merges[first + half // 2], half % 2 == 1
    begin, undeflated = merge[BEGIN], merge[KEPT]
    left, right = (merge[MIDDLE], merge[END]) if is_lower else (begin, merge[MIDDLE])
    term = begin + (merge[TOP] if is_lower else 0)
    stop = begin + (undeflated if is_lower else merge[UPPER])
    across = (right - left + TILE - 1) // TILE
    row, column = begin + tile // across * TILE, left + tile % across * TILE
    if row >= begin + undeflated:
        return
    lefts = cuda.shared.array((_CHUNK, _PITCH), float64)
    rights = cuda.shared.array((_CHUNK, TILE), float64)
    sums = cuda.local.array((_MICRO, _MICRO), float64)
    for i in range(_MICRO):
        for j in range(_MICRO):
            sums[i, j] = 0.0
    t = cuda.threadIdx.x
    x, y = t % (TILE // _MICRO), t // (TILE // _MICRO)
    while term < stop:
        cuda.syncthreads()
        for q in range(t, _CHUNK * TILE, TILE_THREADS):
            i, k = row + q // _CHUNK, term + q % _CHUNK
            inside = i < begin + undeflated and k < stop
            lefts[q % _CHUNK, q // _CHUNK] = factors[i, k] if inside else 0.0
            k, j = term + q // TILE, column + q % TILE
            rights[q // TILE, q % TILE] = packed[k, j] if k < stop and j < right else 0.0
        cuda.syncthreads()
        for k in range(_CHUNK):
            for i in range(_MICRO):
                factor = lefts[k, y + i * (TILE // _MICRO)]
                for j in range(_MICRO):
                    sums[i, j] += factor * rights[k, x + j * (TILE // _MICRO)]
        term += _CHUNK
    for i in range(_MICRO):
        for j in range(_MICRO):
            r, c = row + y + i * (TILE // _MICRO), column + x + j * (TILE // _MICRO)
            if r < begin + undeflated and c < right:
                vectors[r, c] = sums[i, j]
