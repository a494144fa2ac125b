"""Sizes of launches: a table of defaults, and helper functions for all kernels."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from hetero.cuda.driver import SIMULATOR, cuda
from hetero.cuda.driver import device_id as device_id
from hetero.cuda.quick_launch import launch as launch
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
    return 2 if SIMULATOR else _attribute("MULTIPROCESSOR_COUNT", device_id())


def blocks_for(items: int, threads: int = THREADS) -> int:
    """Return the number of blocks that give each of `items` a thread."""
    return max(1, -(-items // threads))


def grid_stride_blocks(items: int, threads: int = THREADS, per_sm: int = BLOCKS_PER_SM) -> int:
    """Return the number of blocks of a grid-stride loop over `items`: at most what a GPU holds."""
    return min(blocks_for(items, threads), per_sm * multiprocessors())


def max_shared_memory() -> int:
    """Return the bytes of shared memory that a block can get at most, beyond 48 KB by request."""
    if SIMULATOR:
        return 1 << 20
    return _attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN", device_id())


@functools.cache
def _attribute(name: str, device: int) -> int:
    """Return an attribute of a GPU; asking Numba for it takes longer than a launch."""
    return int(getattr(cuda.gpus[device], name))


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
    blocks = grid_stride_blocks(items, threads, per_sm)
    launch(kernel, blocks, threads, stream, arguments, size)
