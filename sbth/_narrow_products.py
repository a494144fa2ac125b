"""The products of matrices of a task that narrows a band, as kernels over all tasks of a step.

With the notation of sbth._pairs, in the order of a task:

    images    [X; Y] = [A; B] U
    coimages  Z = B^T U', Y^T U', X^T U
    finish    X becomes W = X - V (X^T U) / 2, and Z becomes Z - V (Y^T U')
    update    A -= W V^T + V W^T, B -= Y V^T + V' Z^T

A grid has a block for every tile, along x, and for every task, along y or z.
"""

from numba import int32

from hetero import launch
from hetero._driver import cuda
from hetero.jit import kernel
from sbth._pairs import access
from sbth._tiles import TILE, product, threads_of


def block_of(name: str, b: int) -> tuple[int]:
    return (threads_of(TILE if name == "update" else b),)


def grid_of(name: str, d: int, count: int) -> tuple[int, ...]:
    """Of one of the kernels, over `count` tasks."""
    tiles = launch.blocks(d, TILE)
    return {
        "images": (2 * tiles, count),
        "coimages": (tiles + 2, count),
        "finish": (tiles, count, 2),
        "update": (2 * tiles, tiles, count),
    }[name]


def products(dtype, b: int, chunk: int) -> dict:
    """The kernels by name."""
    make = {"images": _images, "coimages": _coimages, "finish": _finish, "update": _update}
    at, device = access(dtype, b), kernel(device=True)
    return {
        name: product(dtype, TILE if name == "update" else b, chunk, *body(dtype, b, at, device))
        for name, body in make.items()
    }


def _images(dtype, b, at, device):
    pair_of, element, u_at, x_at = at.pair_of, at.element, at.u, at.x

    @device
    def place(n, d, step, first, slots):
        pair = pair_of(n, d, step, first, slots, int32(cuda.blockIdx.y))
        row = int32(cuda.blockIdx.x) * TILE
        return pair, row, int32(0), pair.m if row < pair.m + pair.rows else int32(0)

    @device
    def left(work, space, d, pair, row, k):
        return element(work, d, pair, row, k)

    @device
    def along(row, k):
        return k >= row + TILE  # above the diagonal: from below it

    @device
    def right(work, space, d, pair, k, j):
        return space[u_at(d, pair, 0, k, j)] if k < pair.m else dtype(0)

    @device
    def store(work, space, d, pair, row, j, total):
        if row < pair.m + pair.rows:
            space[x_at(d, pair, row, j)] = total

    return 4, place, left, along, right, False, store, False


def _coimages(dtype, b, at, device):
    pair_of, element, u_at = at.pair_of, at.element, at.u
    x_at, z_at, small_at = at.x, at.z, at.small

    @device
    def tiles(d):
        return (int32(d) + TILE - 1) // TILE  # of B's columns; then come Y's and X's

    @device
    def place(n, d, step, first, slots):
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
    def along(row, k):
        return True

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

    return 3, place, left, along, right, False, store, False


def _finish(dtype, b, at, device):
    pair_of, v_at, x_at, z_at, small_at = at.pair_of, at.v, at.x, at.z, at.small

    @device
    def place(n, d, step, first, slots):
        pair = pair_of(n, d, step, first, slots, int32(cuda.blockIdx.y))
        row, of_z = int32(cuda.blockIdx.x) * TILE, int32(cuda.blockIdx.z) == 0
        idle = row >= pair.m or (of_z and pair.rows == 0)
        return pair, row, int32(0), int32(0) if idle else int32(b)

    @device
    def left(work, space, d, pair, row, k):
        return space[v_at(d, pair, 0, row, k)] if row < pair.m else dtype(0)

    @device
    def along(row, k):
        return True

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

    return 4, place, left, along, right, False, store, False


def _update(dtype, b, at, device):
    pair_of, cell, v_at, x_at, z_at = at.pair_of, at.cell, at.v, at.x, at.z

    @device
    def tile_of_a(d):
        return int32(cuda.blockIdx.x) < (int32(d) + TILE - 1) // TILE

    @device
    def place(n, d, step, first, slots):
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
    def along(row, k):
        return True

    @device
    def right(work, space, d, pair, k, j):
        if j >= pair.m:
            return dtype(0)
        if k < b:
            return space[v_at(d, pair, 0, j, k)]
        return space[x_at(d, pair, j, k - b)] if tile_of_a(d) else space[z_at(d, pair, j, k - b)]

    @device
    def store(work, space, d, pair, row, j, total):
        # B's first b columns are R already.
        inside = j <= row and row < pair.m if tile_of_a(d) else row < pair.m + pair.rows and j >= b
        if inside and j < pair.m:
            work[cell(d, pair, row, j)] -= total

    return 4, place, left, along, right, True, store, True
