"""Groups of windows on the CPU: each is searched by one thread.

`reals` (float64) and `words` (int64) have a row for each group, with the columns of
`_periodic.columns`; `windows` (int64) are the numbers of windows on both sides of the centre.
"""

from __future__ import annotations

import numba
import numpy as np

from hetero.jit import parallel
from tmd._periodic import float32_formulas, formulas

_search_group, _search_group_in_float32 = formulas.search_group, float32_formulas.search_group


@parallel
def _search_groups(reals, words, firsts, lasts, survivors, counts):
    """Search each group; row i of `survivors` and of `counts` (groups, 2) belongs to group i."""
    for i in numba.prange(firsts.size):
        counts[i, 0], counts[i, 1] = _search_group(
            reals[i], words[i], firsts[i], lasts[i], survivors[i]
        )


@parallel
def _search_groups_in_float32(reals, words, windows, survivors, skipped, counts):
    """Search all windows of each group; `counts` (groups, 3) has the skipped ones, too."""
    for i in numba.prange(windows.size):
        counts[i, 0], counts[i, 1], counts[i, 2] = _search_group_in_float32(
            reals[i], words[i], windows[i], survivors[i], skipped[i]
        )


def search_groups(
    reals: np.ndarray, words: np.ndarray, firsts: np.ndarray, lasts: np.ndarray, capacity: int
) -> tuple[np.ndarray, np.ndarray]:
    """Search the windows from a first to a last one of each group.

    Return the survivors (groups, capacity, 2), and the numbers of survivors and candidates.
    """
    survivors = np.empty((firsts.size, capacity, 2), np.int64)
    counts = np.empty((firsts.size, 2), np.int64)
    _search_groups(reals, words, firsts, lasts, survivors, counts)
    return survivors, counts


def search_groups_in_float32(
    reals: np.ndarray, words: np.ndarray, windows: np.ndarray, capacity: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Search all windows but those for which float32 does not suffice.

    Return the survivors (groups, capacity, 2), the skipped windows (groups, capacity), and the
    numbers of survivors, candidates and skipped windows.
    """
    survivors = np.empty((windows.size, capacity, 2), np.int64)
    skipped = np.empty((windows.size, capacity), np.int64)
    counts = np.empty((windows.size, 3), np.int64)
    _search_groups_in_float32(reals, words, windows, survivors, skipped, counts)
    return survivors, skipped, counts
