"""LAPACK's band storage, for both targets."""

from hetero.jit import scalar


@scalar
def place(j, k, n, d, lower):
    """Of element (j + k, j) in flat band storage with d subdiagonals."""
    return k * n + j if lower else (d - k) * n + j + k
