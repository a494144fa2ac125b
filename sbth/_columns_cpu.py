"""The working matrix of a reduction, filled and cut on the CPU."""

import numpy as np
from numba import prange

from hetero.jit import parallel
from sbth._columns_math import place

_ROWS = 64  # a share of the work


@parallel
def _unpack(ab, d, lower, factor, width, work):
    n = work.shape[0]
    for share in prange((n + _ROWS - 1) // _ROWS):
        begin = np.int64(share) * _ROWS
        stop = min(begin + _ROWS, n)
        for k in range(work.shape[1]):
            for j in range(begin, stop):
                inside = k <= width and j + k < n
                work[j, k] = ab[place(j, k, n, d, lower)] * factor if inside else 0


def unpack(ab, d, lower, factor, width, work, stream=0):
    """`width` subdiagonals of flat band storage with d of them, times a factor, to `work`."""
    _unpack(ab, d, lower, work.dtype.type(factor), width, work)


def cut(work, b, narrower, stream=0):
    """b subdiagonals of a working matrix to another one."""
    narrower[:, : b + 1] = work[:, : b + 1]
    narrower[:, b + 1 :] = 0
