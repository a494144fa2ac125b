"""Matrix products of a bandwidth reduction, as kernels over all tasks of a step.

In the notation of `sbth._reduction.band_to_band.block_pairs`, and in the order of a task:

    right_products  [X; Y] = [A; B] U
    left_products   Z = B^T U', Y^T U', X^T U
    correct         replaces X by W = X - V (X^T U) / 2, and Z by Z - V (Y^T U')
    update          A -= W V^T + V W^T, B -= Y V^T + V' Z^T

A grid has a block of threads for every tile (along x) of every task (along y or z). Each of the
functions below describes one of them.
"""

from numba import int32

from hetero.cuda import launch
from hetero.cuda.driver import cuda
from hetero.jit import kernel
from sbth._reduction.band_to_band.block_pairs import make_accessors
from sbth._reduction.band_to_band.tiled_product import (
    TILE,
    TiledProduct,
    make_tiled_product,
    tile_threads,
)


def block_shape(name: str, b: int) -> tuple[int]:
    """Return the block size of one of the kernels."""
    return (tile_threads(TILE if name == "update" else b),)


def grid_shape(name: str, d: int, count: int) -> tuple[int, ...]:
    """Return the grid size of one of the kernels for `count` tasks."""
    tiles = launch.blocks_for(d, TILE)
    return {
        "right_products": (2 * tiles, count),
        "left_products": (tiles + 2, count),
        "correct": (tiles, count, 2),
        "update": (2 * tiles, tiles, count),
    }[name]


def make_product_kernels(dtype, b: int, chunk: int) -> dict:
    """Make the kernels, by name."""
    makers = {
        "right_products": _right_products,
        "left_products": _left_products,
        "correct": _correct,
        "update": _update,
    }
    indices, device = make_accessors(dtype, b), kernel(device=True)
    return {
        name: make_tiled_product(
            dtype, TILE if name == "update" else b, chunk, make(dtype, b, indices, device)
        )
        for name, make in makers.items()
    }


def _always(device):
    """Return a function that says that elements are contiguous along k everywhere."""

    @device
    def along(row, k):
        return True

    return along


def _right_products(dtype, b, indices, device):
    """Describe the product for [X; Y] = [A; B] U."""
    pair_of, element, u_at, x_at = indices.pair_of, indices.element, indices.u, indices.x

    @device
    def assign_tile(n, d, step, first, slots):
        pair = pair_of(n, d, step, first, slots, int32(cuda.blockIdx.y))
        row = int32(cuda.blockIdx.x) * TILE
        return pair, row, int32(0), pair.m if row < pair.m + pair.rows else int32(0)

    @device
    def left(work, space, d, pair, row, k):
        return element(work, d, pair, row, k)

    @device
    def along(row, k):
        return k >= row + TILE  # above the diagonal, the mirrored element is loaded

    @device
    def right(work, space, d, pair, k, j):
        return space[u_at(d, pair, 0, k, j)] if k < pair.m else dtype(0)

    @device
    def store(work, space, d, pair, row, j, total):
        if row < pair.m + pair.rows:
            space[x_at(d, pair, row, j)] = total

    return TiledProduct(4, assign_tile, left, along, right, store)


def _left_products(dtype, b, indices, device):
    """Describe the product for Z = B^T U', Y^T U' and X^T U."""
    pair_of, element, u_at = indices.pair_of, indices.element, indices.u
    x_at, z_at, small_at = indices.x, indices.z, indices.small

    @device
    def tiles(d):
        return (int32(d) + TILE - 1) // TILE  # of the columns of B; the tiles of Y and X follow

    @device
    def assign_tile(n, d, step, first, slots):
        pair = pair_of(n, d, step, first, slots, int32(cuda.blockIdx.y))
        tile = int32(cuda.blockIdx.x)
        return pair, tile * TILE, int32(0), pair.rows if tile <= tiles(d) else pair.m

    @device
    def left(work, space, d, pair, column, k):
        tile, j = column // TILE, column % TILE
        if tile < tiles(d):
            return element(work, d, pair, d + k, column)
        of_y = tile == tiles(d)
        if j >= b or k >= (pair.rows if of_y else pair.m):
            return dtype(0)
        return space[x_at(d, pair, d + k if of_y else k, j)]

    @device
    def right(work, space, d, pair, k, j):
        if int32(cuda.blockIdx.x) <= tiles(d):
            return space[u_at(d, pair, 1, k, j)] if k < pair.rows else dtype(0)
        return space[u_at(d, pair, 0, k, j)] if k < pair.m else dtype(0)

    @device
    def store(work, space, d, pair, column, j, total):
        tile, i = column // TILE, column % TILE
        if tile < tiles(d):
            if column < pair.m:
                space[z_at(d, pair, column, j)] = total
        elif i < b:
            space[small_at(d, pair, tile - tiles(d), i, j)] = total

    return TiledProduct(3, assign_tile, left, _always(device), right, store)


def _correct(dtype, b, indices, device):
    """Describe the product for the corrections of X and Z."""
    pair_of, v_at, small_at = indices.pair_of, indices.v, indices.small
    x_at, z_at = indices.x, indices.z

    @device
    def assign_tile(n, d, step, first, slots):
        pair = pair_of(n, d, step, first, slots, int32(cuda.blockIdx.y))
        row, of_z = int32(cuda.blockIdx.x) * TILE, int32(cuda.blockIdx.z) == 0
        idle = row >= pair.m or (of_z and pair.rows == 0)
        return pair, row, int32(0), int32(0) if idle else int32(b)

    @device
    def left(work, space, d, pair, row, k):
        return space[v_at(d, pair, 0, row, k)] if row < pair.m else dtype(0)

    @device
    def right(work, space, d, pair, k, j):
        return space[small_at(d, pair, int32(cuda.blockIdx.z), k, j)]

    @device
    def store(work, space, d, pair, row, j, total):
        if row < pair.m:
            if int32(cuda.blockIdx.z) == 0:
                space[z_at(d, pair, row, j)] -= total
            else:
                space[x_at(d, pair, row, j)] -= dtype(0.5) * total

    return TiledProduct(4, assign_tile, left, _always(device), right, store)


def _update(dtype, b, indices, device):
    """Describe the product for the updates of A and B."""
    pair_of, cell, v_at, x_at, z_at = indices.pair_of, indices.cell, indices.v, indices.x, indices.z

    @device
    def tile_of_a(d):
        return int32(cuda.blockIdx.x) < (int32(d) + TILE - 1) // TILE

    @device
    def assign_tile(n, d, step, first, slots):
        pair = pair_of(n, d, step, first, slots, int32(cuda.blockIdx.z))
        row, column = int32(cuda.blockIdx.x) * TILE, int32(cuda.blockIdx.y) * TILE
        if not tile_of_a(d):
            row += d - (int32(d) + TILE - 1) // TILE * TILE
        idle = row + TILE <= column or row >= pair.m + pair.rows or column >= pair.m
        return pair, row, column, int32(0) if idle else int32(2 * b)

    @device
    def left(work, space, d, pair, row, k):
        if row >= pair.m + pair.rows:
            return dtype(0)
        if k < b:
            return space[x_at(d, pair, row, k)]
        if row < d:
            return space[v_at(d, pair, 0, row, k - b)]
        return space[v_at(d, pair, 1, row - d, k - b)]

    @device
    def right(work, space, d, pair, k, j):
        if j >= pair.m:
            return dtype(0)
        if k < b:
            return space[v_at(d, pair, 0, j, k)]
        return space[x_at(d, pair, j, k - b)] if tile_of_a(d) else space[z_at(d, pair, j, k - b)]

    @device
    def store(work, space, d, pair, row, j, total):
        # The first b columns of B are R already.
        inside = j <= row and row < pair.m if tile_of_a(d) else row < pair.m + pair.rows and j >= b
        if inside and j < pair.m:
            work[cell(d, pair, row, j)] -= total

    return TiledProduct(4, assign_tile, left, _always(device), right, store, True, True)
