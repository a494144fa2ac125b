"""Leaves of the tree over the paths of a run, in which moments are summed."""

MAX_LEAVES = 2048
"""Largest number of leaves: two numbers of each fit into the shared memory of a GPU's block."""


def leaf_size(paths: int) -> int:
    """Return the paths of a leaf: 1, or the power of two that gives at least 1024 leaves."""
    return 1 << max(0, (2 * paths // MAX_LEAVES).bit_length() - 1)
