"""Sums over the 32 lanes of a warp, for kernels."""

from __future__ import annotations

from hetero.cuda.driver import cuda
from hetero.jit import kernel

LANES = 32
"""Number of threads in a warp."""

FULL_MASK = 0xFFFFFFFF
"""Mask of a shuffle or vote in which all lanes of the warp take part."""


@kernel(device=True)
def warp_sum(value):
    """Return the sum of `value` over the warp, in every lane. All lanes must call it.

    The order of the sum is that of a butterfly, so every lane gets the same bits.
    """
    shift = LANES // 2
    while shift > 0:
        value += cuda.shfl_xor_sync(FULL_MASK, value, shift)
        shift //= 2
    return value
