"""Groups of windows on the CPU: each is searched by one thread.

`reals` (float64) and `words` (int64) have a row for each group, with the columns of
`_periodic.columns`; `windows` (int64) are the numbers of windows on both sides of the centre.
"""

from __future__ import annotations

import numba
import numpy as np

from hetero.jit import parallel
from tmd._periodic.formulas import search_group


@parallel
def _search_groups(reals, words, windows, survivors, counts):
    """Search each group; row i of `survivors` and of `counts` (groups, 2) belongs to group i."""
    for i in numba.prange(windows.size):
        counts[i, 0], counts[i, 1] = search_group(reals[i], words[i], windows[i], survivors[i])


def search_groups(
    reals: np.ndarray, words: np.ndarray, windows: np.ndarray, capacity: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the survivors (groups, capacity, 2), and the numbers of survivors and candidates."""
    survivors = np.empty((windows.size, capacity, 2), np.int64)
    counts = np.empty((windows.size, 2), np.int64)
    _search_groups(reals, words, windows, survivors, counts)
    return survivors, counts
