"""A loop that updates memory in place: what lattice Boltzmann on one copy can reach."""

from numba import prange

from hetero.jit import parallel


@parallel(cache=False)
def in_place(data):
    """data *= 1/2, the line read and written."""
    half = data.dtype.type(0.5)
    for i in prange(data.size):
        data[i] = data[i] * half
