"""Order statistics on the CPU: NumPy's partition."""

import numpy as np


def select(data, ranks, stream=0):
    """The values of the given ranks (0 is the smallest) of a flat float64 array, as NumPy floats.

    NaN ranks above +inf.
    """
    return np.partition(data, np.unique(ranks))[ranks]


def count(data, values, stream=0):
    """How many elements of a flat float64 array equal each of `values`."""
    return np.array([np.count_nonzero(data == value) for value in values])
