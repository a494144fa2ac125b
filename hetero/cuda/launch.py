"""Sizes of launches: a table of defaults, and helper functions for all kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hetero.cuda.driver import SIMULATOR, cuda
from hetero.cuda.shared_memory import set_dynamic_shared_memory_limit

THREADS = 256
"""Threads in a block where a kernel has no reason for another number."""

BLOCKS_PER_SM = 16
"""Blocks per multiprocessor of a grid-stride launch: enough to fill it and to even out its end."""

MOST_BLOCKS = 65535
"""Blocks that CUDA can start along the second and along the third dimension of a grid."""

DEFAULT_SHARED_MEMORY = 48 * 1024
"""Bytes of dynamic shared memory that a block gets without a request."""


def multiprocessors() -> int:
    """Return the number of multiprocessors of the current GPU.

    It is 2 in the simulator, which runs blocks one by one.
    """
    return 2 if SIMULATOR else cuda.get_current_device().MULTIPROCESSOR_COUNT


def blocks_for(items: int, threads: int = THREADS) -> int:
    """Return the number of blocks that give each of `items` a thread."""
    return max(1, -(-items // threads))


def grid_stride_blocks(items: int, threads: int = THREADS, per_sm: int = BLOCKS_PER_SM) -> int:
    """Return the number of blocks of a grid-stride loop over `items`: at most what a GPU holds."""
    return min(blocks_for(items, threads), per_sm * multiprocessors())


def device_id() -> int:
    """Return the number of the current GPU: the key of what is cached on it."""
    return 0 if SIMULATOR else cuda.get_current_device().id


def max_shared_memory() -> int:
    """Return the bytes of shared memory that a block can get at most, beyond 48 KB by request."""
    return 1 << 20 if SIMULATOR else cuda.get_current_device().MAX_SHARED_MEMORY_PER_BLOCK_OPTIN


def request_shared_memory(kernel: Any, arguments: Sequence, size: int, static: int = 0) -> None:
    """Let a kernel have `size` bytes of dynamic shared memory besides `static` ones."""
    if size + static > DEFAULT_SHARED_MEMORY and not SIMULATOR:
        set_dynamic_shared_memory_limit(kernel, arguments, size)


def launch_with_shared_memory(
    kernel: Any, arguments: Sequence, size: int, threads: int, items: int, stream: Any
) -> None:
    """Launch `kernel` over `items` with `size` bytes of dynamic shared memory a block.

    It starts no more blocks than are resident at once, because each fills its shared memory.
    """
    request_shared_memory(kernel, arguments, size)
    per_sm = max(1, min(2048 // threads, max_shared_memory() // (size + 1024)))
    kernel[grid_stride_blocks(items, threads, per_sm), threads, stream, size](*arguments)
