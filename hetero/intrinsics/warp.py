"""Exchange of numbers between the 32 lanes of a warp, for kernels."""

from __future__ import annotations

from numba import float64

from hetero.cuda.driver import SIMULATOR, cuda
from hetero.jit import kernel

LANES = 32
"""Number of threads in a warp."""

FULL_MASK = 0xFFFFFFFF
"""Mask of a shuffle or vote in which all lanes of the warp take part."""

_MOST_THREADS = 1024
"""Threads of a block at most."""


@kernel(device=True)
def _shuffle_xor(value, mask):
    """Return the value of the lane whose number differs in the bits of `mask`.

    All lanes must call it.
    """
    return cuda.shfl_xor_sync(FULL_MASK, value, mask)


@kernel(device=True)
def _shuffle(value, lane):
    """Return the value of a lane. All lanes must call it."""
    return cuda.shfl_sync(FULL_MASK, value, lane)


@kernel(device=True)
def _value_of_thread(value, thread):
    """Return the value of another thread, in the simulator, where the whole block must call it."""
    memory = cuda.shared.array(_MOST_THREADS, float64)
    memory[cuda.threadIdx.x] = value
    cuda.syncthreads()
    other = memory[thread]
    cuda.syncthreads()
    return type(value)(other)


@kernel(device=True)
def _shuffle_xor_simulated(value, mask):
    return _value_of_thread(value, cuda.threadIdx.x ^ mask)


@kernel(device=True)
def _shuffle_simulated(value, lane):
    return _value_of_thread(value, cuda.threadIdx.x // LANES * LANES + lane)


shuffle_xor = _shuffle_xor_simulated if SIMULATOR else _shuffle_xor
shuffle = _shuffle_simulated if SIMULATOR else _shuffle


@kernel(device=True)
def warp_sum(value):
    """Return the sum of `value` over the warp, in every lane. All lanes must call it.

    The order of the sum is that of a butterfly, so every lane gets the same bits.
    """
    shift = LANES // 2
    while shift > 0:
        value += shuffle_xor(value, shift)
        shift //= 2
    return value
