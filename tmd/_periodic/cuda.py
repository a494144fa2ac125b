"""Groups of windows on a GPU: each is searched by one thread. `_periodic.cpu` has the arguments."""

from __future__ import annotations

import numpy as np

from hetero.cuda import launch
from hetero.cuda.driver import cuda
from hetero.jit import kernel
from tmd._periodic import float32_formulas, formulas

_search_group, _search_group_in_float32 = formulas.search_group, float32_formulas.search_group

_THREADS = 128


@kernel
def search_all(reals, words, firsts, lasts, survivors, counts):
    """Search each group; row i of `survivors` and of `counts` (groups, 2) belongs to group i."""
    i = cuda.grid(1)
    if i < firsts.size:
        counts[i, 0], counts[i, 1] = _search_group(
            reals[i], words[i], firsts[i], lasts[i], survivors[i]
        )


@kernel
def search_all_in_float32(reals, words, windows, survivors, skipped, counts):
    """Search all windows of each group; `counts` (groups, 3) has the skipped ones, too."""
    i = cuda.grid(1)
    if i < windows.size:
        counts[i, 0], counts[i, 1], counts[i, 2] = _search_group_in_float32(
            reals[i], words[i], windows[i], survivors[i], skipped[i]
        )


def search_groups(
    reals: np.ndarray, words: np.ndarray, firsts: np.ndarray, lasts: np.ndarray, capacity: int
) -> tuple[np.ndarray, np.ndarray]:
    """Search the windows from a first to a last one of each group."""
    tables = [cuda.to_device(table) for table in (reals, words, firsts, lasts)]
    survivors = cuda.device_array((firsts.size, capacity, 2), np.int64)
    counts = cuda.device_array((firsts.size, 2), np.int64)
    blocks = launch.blocks_for(firsts.size, _THREADS)
    launch.launch(search_all, blocks, _THREADS, 0, (*tables, survivors, counts))
    return survivors.copy_to_host(), counts.copy_to_host()


def search_groups_in_float32(
    reals: np.ndarray, words: np.ndarray, windows: np.ndarray, capacity: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Search all windows but those for which float32 does not suffice."""
    tables = [cuda.to_device(table) for table in (reals, words, windows)]
    results = [
        cuda.device_array((windows.size, capacity, 2), np.int64),
        cuda.device_array((windows.size, capacity), np.int64),
        cuda.device_array((windows.size, 3), np.int64),
    ]
    blocks = launch.blocks_for(windows.size, _THREADS)
    launch.launch(search_all_in_float32, blocks, _THREADS, 0, (*tables, *results))
    survivors, skipped, counts = (table.copy_to_host() for table in results)
    return survivors, skipped, counts
