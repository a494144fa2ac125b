"""Sizes of launches: one table of defaults, and the helpers that kernels share."""

from __future__ import annotations

from hetero._driver import SIMULATOR, cuda

THREADS = 256
"""Threads in a block where a kernel has no reason for another number."""

BLOCKS_PER_SM = 16
"""Blocks per multiprocessor of a grid-stride launch: enough to fill it and to even out its end."""


def multiprocessors() -> int:
    """Multiprocessors of the current GPU (2 in the simulator, which runs blocks one by one)."""
    return 2 if SIMULATOR else cuda.get_current_device().MULTIPROCESSOR_COUNT


def blocks(items: int, threads: int = THREADS) -> int:
    """Blocks that give each of `items` a thread."""
    return max(1, -(-items // threads))


def strided(items: int, threads: int = THREADS, per_sm: int = BLOCKS_PER_SM) -> int:
    """Blocks of a grid-stride loop over `items`: no more than the GPU holds at once."""
    return min(blocks(items, threads), per_sm * multiprocessors())


def device_id() -> int:
    """Number of the current GPU: the key of what is kept on it."""
    return 0 if SIMULATOR else cuda.get_current_device().id
