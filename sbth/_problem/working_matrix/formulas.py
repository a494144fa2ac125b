"""Indices into LAPACK's band storage, for both targets."""

from hetero.jit import scalar


@scalar
def band_index(column, diagonal, order, bandwidth, lower):
    """Return the index of A[column + diagonal, column] in LAPACK band storage, flattened by rows.

    Row `diagonal` of lower storage holds that subdiagonal from its first element on. Row
    `bandwidth - diagonal` of upper storage holds the same elements, aligned to their columns.
    """
    return (
        diagonal * order + column if lower else (bandwidth - diagonal) * order + column + diagonal
    )
