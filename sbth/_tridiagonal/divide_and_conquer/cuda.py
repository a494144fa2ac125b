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
    bounds, owner, merges = _resident_tables(tables)
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


def _resident_tables(tables):
    """Return the arrays `bounds`, `owner` and `merges` of a tree, which stay on the GPU."""
    on_gpu = resident_tuple(tables)
    return ready(on_gpu.bounds), ready(on_gpu.owner), ready(on_gpu.merges)


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


def solve_leaves(d, e, bounds, vectors, stream=0):
    """Replace d by the eigenvalues of the leaves, and store their eigenvectors."""
    launch.launch(
        kernels.solve_leaf, bounds.size - 1, at.LEAF_ROWS, stream, (d, e, bounds, vectors)
    )


def _tables(merges):
    """Return the arguments of a kernel that tell which merges are done."""
    return merges.table, merges.owner, merges.level.number


def sort_values(merges, values, integers, stream=0):
    """Store in ORDER the rows of the eigenvalues of each merge, in ascending order."""
    blocks = launch.blocks_for(values.size, kernels.THREADS)
    arguments = *_tables(merges), values, integers
    launch.launch(kernels.rank_values, blocks, kernels.THREADS, stream, arguments)


def deflate(merges, couplings, vectors, values, floats, integers, stream=0):
    """Set up the secular equation of each merge, without what deflation removes from it."""
    first, size = merges.level.first, merges.level.size
    arguments = merges.table, first, couplings, vectors, values, floats, integers
    launch.launch(kernels.scan_merge, size, kernels.THREADS, stream, arguments)
    # The host prepares the products while the GPU rotates vectors and finds the roots.
    is_large = _takes_cublas(merges.level, values.size)
    read_merges = start_reading(merges.table[merges.of_level], stream) if is_large else None
    blocks = launch.blocks_for(values.size, kernels.THREADS)
    arguments = *_tables(merges), vectors, floats, integers
    launch.launch(kernels.rotate_vectors, blocks, kernels.THREADS, stream, arguments)
    return read_merges


def _takes_cublas(level, n):
    """Return whether cuBLAS computes the products of a level, for which the host needs sizes."""
    return -(-n // level.size) >= LARGE_MERGE and not SIMULATOR


def solve_secular(merges, values, floats, integers, factors, stream=0):
    """Compute the roots, in `values`, and the eigenvectors of the secular equations."""
    n, tables = values.size, _tables(merges)
    blocks = launch.blocks_for(LANES * n, kernels.ROOT_THREADS)
    launch.launch(
        kernels.find_roots, blocks, kernels.ROOT_THREADS, stream, (*tables, values, floats)
    )
    blocks = launch.blocks_for(n, kernels.WEIGHT_THREADS)
    launch.launch(kernels.refine_weights, blocks, kernels.WEIGHT_THREADS, stream, (*tables, floats))
    launch.launch(
        kernels.form_factors, n, kernels.THREADS, stream, (*tables, floats, integers, factors)
    )


def multiply(merges, integers, factors, packed, vectors, roots, read_merges, stream=0):
    """Replace the vectors of the blocks by their products with those of the equations."""
    level, n = merges.level, len(vectors)
    tables = _tables(merges)
    launch.launch(
        products.gather_rows, n, kernels.THREADS, stream, (*tables, integers, vectors, packed)
    )
    if read_merges is None:
        size = -(-n // level.size)
        rows, columns = (launch.blocks_for(k, products.TILE) for k in (size, -(-size // 2)))
        tiles, threads = rows * columns, products.TILE_THREADS
        arguments = merges.table, level.first, tiles, factors, packed, vectors
        launch.launch(products.multiply_tiles, 2 * tiles * level.size, threads, stream, arguments)
    else:
        _multiply_by_cublas(read_merges(), factors, packed, vectors, roots, stream)
    launch.launch(products.restore_rows, n, kernels.THREADS, stream, (*tables, packed, vectors))


def _multiply_by_cublas(merges, factors, packed, vectors, roots, stream):
    """Compute the products of large merges."""
    device = Device("cuda", launch.device_id())
    with array_module(device, stream, "sbth.eigh_tridiagonal") as xp:
        factors, packed, vectors = (xp.asarray(a) for a in (factors, packed, vectors))
        for begin, middle, end, undeflated, top, upper, _ in merges.tolist():
            new = slice(begin + roots[0], begin + min(undeflated, roots[1]))
            for terms, columns in (
                (slice(begin, begin + upper), slice(begin, middle)),
                (slice(begin + top, begin + undeflated), slice(middle, end)),
            ):
                xp.matmul(factors[new, terms], packed[terms, columns], out=vectors[new, columns])


def place_vectors(vectors, sources, targets, columns, out, stream=0):
    """Store elements (sources[i], j) of `vectors` as (targets[i], columns[j]) of `out`."""
    if sources.size:
        arguments = ready(vectors), sources, targets, columns, ready(out)
        launch.launch(kernels.place_rows, sources.size, kernels.THREADS, stream, arguments)
