"""Groups of windows on a GPU: each is searched by one thread. `_periodic.cpu` has the arguments."""

from __future__ import annotations

import numpy as np

from hetero.cuda import launch
from hetero.cuda.driver import cuda
from hetero.jit import kernel
from tmd._periodic.formulas import search_group

_THREADS = 128


@kernel
def search_all(reals, words, windows, survivors, counts):
    """Search each group; row i of `survivors` and of `counts` (groups, 2) belongs to group i."""
    i = cuda.grid(1)
    if i < windows.size:
        counts[i, 0], counts[i, 1] = search_group(reals[i], words[i], windows[i], survivors[i])


def search_groups(
    reals: np.ndarray, words: np.ndarray, windows: np.ndarray, capacity: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the survivors (groups, capacity, 2), and the numbers of survivors and candidates."""
    tables = [cuda.to_device(table) for table in (reals, words, windows)]
    survivors = cuda.device_array((windows.size, capacity, 2), np.int64)
    counts = cuda.device_array((windows.size, 2), np.int64)
    blocks = launch.blocks_for(windows.size, _THREADS)
    launch.launch(search_all, blocks, _THREADS, 0, (*tables, survivors, counts))
    return survivors.copy_to_host(), counts.copy_to_host()
