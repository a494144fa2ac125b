"""The working matrix of a reduction, filled and cut on the GPU."""

from hetero import launch
from hetero._driver import cuda
from hetero.jit import kernel
from sbth._columns_math import place


@kernel
def unpack_columns(ab, d, lower, factor, width, work):
    n, ld = work.shape
    for i in range(cuda.grid(1), n * ld, cuda.gridsize(1)):
        j, k = i // ld, i % ld
        inside = k <= width and j + k < n
        work[j, k] = ab[place(j, k, n, d, lower)] * factor if inside else 0


@kernel
def cut_columns(work, b, narrower):
    n, ld = narrower.shape
    for i in range(cuda.grid(1), n * ld, cuda.gridsize(1)):
        j, k = i // ld, i % ld
        narrower[j, k] = work[j, k] if k <= b else 0


def unpack(ab, d, lower, factor, width, work, stream=0):
    """`width` subdiagonals of flat band storage with d of them, times a factor, to `work`."""
    arguments = ab, d, lower, work.dtype.type(factor), width, work
    unpack_columns[launch.strided(work.size), launch.THREADS, stream](*arguments)


def cut(work, b, narrower, stream=0):
    """b subdiagonals of a working matrix to another one."""
    cut_columns[launch.strided(narrower.size), launch.THREADS, stream](work, b, narrower)
