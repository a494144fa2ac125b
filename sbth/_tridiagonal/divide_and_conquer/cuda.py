"""Divide and conquer on the GPU: a launch for each step of all merges of a level.

The products of large merges are computed by cuBLAS, through CuPy.
"""

import numpy as np

from hetero import Device
from hetero.cuda import launch
from hetero.cuda.device_cache import resident_tuple
from hetero.cuda.driver import SIMULATOR
from hetero.cuda.ready_arrays import (
    PendingCopy,
    allocate_as_one,
    fill_from_gpu,
    fill_from_host,
    fill_with_zeros,
    ready,
)
from hetero.measurement import profiling
from sbth._gpu.blocks_of_threads import LANES
from sbth._tridiagonal.divide_and_conquer import layout as at
from sbth._tridiagonal.divide_and_conquer import merge_kernels as kernels
from sbth._tridiagonal.divide_and_conquer import product_kernels as products
from sbth._vendor.array_modules import array_module

LARGE_MERGE = 512
"""Rows of the smallest merges whose products cuBLAS computes, one after the other (not tuned)."""


def load(torn, tables, stream=0):
    """Allocate the arrays of a matrix, and copy it and the tables of its tree to the GPU.

    What is of use after the last merge is an allocation of its own.
    """
    n, numbers = torn.diagonal.size, np.concatenate(torn)
    profiling.count_transfer(to_device=numbers.nbytes)
    on_device = resident_tuple(tables)  # which stays there
    bounds, owner, merges = map(ready, (on_device.bounds, on_device.owner, on_device.merges))
    vectors, integers = allocate_as_one(
        [((n, n), np.float64), ((at.INTEGER_ROWS, n), np.int64)], stream
    )
    rows = (at.FLOAT_ROWS, n, n) if len(owner) > 1 else (0, 0, 0)  # a leaf alone has no merges
    forms = [(numbers.shape, np.float64), *(((k, n), np.float64) for k in rows)]
    on_gpu, *work, table = allocate_as_one([*forms, (merges.shape, np.int64)], stream)
    fill_from_host(on_gpu, numbers, stream)
    fill_with_zeros(vectors, stream)
    fill_from_gpu(table, merges, stream)
    parts = on_gpu[:n], on_gpu[n : 2 * n], on_gpu[2 * n :]
    return at.Arrays(*parts, bounds, owner, table, vectors, integers, *work)


def upload_indices(indices, stream=0):
    """Copy arrays of int64 (k,) to the GPU, in one transfer."""
    host = np.concatenate(indices)
    profiling.count_transfer(to_device=host.nbytes)
    (on_gpu,) = allocate_as_one([(host.shape, np.int64)], stream)
    fill_from_host(on_gpu, host, stream)
    ends = np.cumsum([part.size for part in indices]).tolist()
    return [on_gpu[e - part.size : e] for part, e in zip(indices, ends, strict=True)]


def start_reading(array, stream=0):
    """Begin to copy an array to host memory; return the function that waits for the copy."""
    copy = PendingCopy((array,), stream)
    profiling.count_transfer(to_host=array.nbytes)
    return lambda: copy.wait()[0]


def solve_leaves(arrays, stream=0):
    """Replace `values` by the eigenvalues of the leaves, and store their eigenvectors."""
    arguments = arrays.values, arrays.below, arrays.bounds, arrays.vectors
    launch.launch(kernels.solve_leaf, arrays.bounds.size - 1, at.LEAF_ROWS, stream, arguments)


def _launch(kernel, blocks, threads, stream, arrays, level, *others):
    """Launch a kernel for the merges of a level: `others` are its arguments after the tables."""
    arguments = arrays.table, arrays.owner, level.number, *others
    launch.launch(kernel, blocks, threads, stream, arguments)


def sort_values(arrays, level, stream=0):
    """Store in ORDER the rows of the eigenvalues of each merge, in ascending order."""
    blocks, work = launch.blocks_for(arrays.values.size, kernels.THREADS), (arrays, level)
    rank_values = kernels.rank_values
    _launch(rank_values, blocks, kernels.THREADS, stream, *work, arrays.values, arrays.integers)


def deflate(arrays, level, stream=0):
    """Set up the secular equation of each merge, without what deflation removes from it."""
    arguments = arrays.table, level.first, arrays.couplings, arrays.vectors, arrays.values
    arguments = *arguments, arrays.floats, arrays.integers
    launch.launch(kernels.scan_merge, level.size, kernels.THREADS, stream, arguments)
    # The host prepares the products, for which it needs sizes, while the GPU rotates vectors and
    # finds the roots. Those of small merges cuBLAS does not compute.
    is_large = -(-arrays.values.size // level.size) >= LARGE_MERGE and not SIMULATOR
    read_merges = start_reading(arrays.table[level.merges], stream) if is_large else None
    blocks = launch.blocks_for(arrays.values.size, kernels.THREADS)
    rotated = arrays.vectors, arrays.floats, arrays.integers
    _launch(kernels.rotate_vectors, blocks, kernels.THREADS, stream, arrays, level, *rotated)
    return read_merges


def solve_secular(arrays, level, stream=0):
    """Compute the roots, in `values`, and the eigenvectors of the secular equations."""
    n, work, floats = arrays.values.size, (arrays, level), arrays.floats
    threads = kernels.ROOT_THREADS
    blocks = launch.blocks_for(LANES * n, threads)
    _launch(kernels.find_roots, blocks, threads, stream, *work, arrays.values, floats)
    threads = kernels.WEIGHT_THREADS
    blocks = launch.blocks_for(n, threads)
    _launch(kernels.refine_weights, blocks, threads, stream, *work, floats)
    formed = floats, arrays.integers, arrays.factors
    _launch(kernels.form_factors, n, kernels.THREADS, stream, *work, *formed)


def multiply(arrays, level, roots, read_merges, stream=0):
    """Replace the vectors of the blocks by their products with those of the equations."""
    n, matrices = arrays.values.size, (arrays.factors, arrays.packed, arrays.vectors)
    gathered = arrays.integers, arrays.vectors, arrays.packed
    _launch(products.gather_rows, n, kernels.THREADS, stream, arrays, level, *gathered)
    if read_merges is None:
        size = -(-n // level.size)
        rows, columns = (launch.blocks_for(k, products.TILE) for k in (size, -(-size // 2)))
        tiles, threads = rows * columns, products.TILE_THREADS
        arguments = arrays.table, level.first, tiles, *matrices
        launch.launch(products.multiply_tiles, 2 * tiles * level.size, threads, stream, arguments)
    else:
        device = Device("cuda", launch.device_id())
        with array_module(device, stream, "sbth.eigh_tridiagonal") as xp:
            at.multiply_blocks(xp, read_merges(), roots, *map(xp.asarray, matrices))
    _launch(products.restore_rows, n, kernels.THREADS, stream, arrays, level, *matrices[1:])


def place_vectors(vectors, indices, out, stream=0):
    """Store elements (sources[i], j) of `vectors` as (targets[i], columns[j]) of `out`."""
    if indices[0].size:
        arguments = ready(vectors), *indices, ready(out)
        launch.launch(kernels.place_rows, indices[0].size, kernels.THREADS, stream, arguments)
