"""Copies of large arrays in host memory by all CPU threads of the caller."""

import numpy as np
from numba import prange

from hetero.jit import parallel


@parallel
def copy_bytes(source: np.ndarray, target: np.ndarray) -> None:
    """Copy a flat array of bytes to another one of its size.

    A thread copies some 10 GB/s, and a fraction of that to memory whose pages are new.
    """
    for i in prange(source.size):
        target[i] = source[i]
