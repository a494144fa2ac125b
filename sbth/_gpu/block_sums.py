"""Sums and meetings of the threads of a block, and of all blocks, that reduce a matrix."""

from numba import uint64

from hetero.cuda.driver import cuda
from hetero.intrinsics import warp
from hetero.jit import kernel
from sbth._gpu.blocks_of_threads import LANES, sum_over_lanes
from sbth._gpu.flags import SPINS, add_release, wait_for_progress

WARPS = 16
"""Warps of a block at most."""

MOST_THREADS = WARPS * LANES
"""Threads of a block at most."""

_device = kernel(device=True)


@_device
def meet(control, arrivals, failed):
    """Wait until all blocks have called this `arrivals` / blocks times; return 1 after a timeout.

    What any thread has written before is visible to all threads afterwards. `failed` is an int32
    in shared memory.
    """
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        failed[0] = 0
        if cuda.gridDim.x > 1:
            add_release(control, 0, 1)
            failed[0] = wait_for_progress(control, 0, arrivals, control, SPINS)
    cuda.syncthreads()
    return failed[0]


@_device
def largest_of_block(value, maxima):
    """Return the largest value of the threads of a block."""
    shift = LANES // 2
    while shift > 0:
        value = max(value, cuda.shfl_xor_sync(warp.FULL_MASK, value, shift))
        shift //= 2
    if cuda.threadIdx.x % LANES == 0:
        maxima[cuda.threadIdx.x // LANES] = value
    cuda.syncthreads()
    value = maxima[0]
    for i in range(1, cuda.blockDim.x // LANES):
        value = max(value, maxima[i])
    return value


@_device
def sum_over_block(value, shared, sums):
    """Return the sum over a block of 4, 8, ... warps, by way of numbers from index `sums` on."""
    total = sum_over_lanes(value)
    number = uint64(cuda.threadIdx.x) // uint64(LANES)
    if uint64(cuda.threadIdx.x) % uint64(LANES) == 0:
        shared[sums + number] = total
    cuda.syncthreads()
    s0, s1 = shared[sums], shared[sums + uint64(1)]
    s2, s3 = shared[sums + uint64(2)], shared[sums + uint64(3)]
    index, end = sums + uint64(4), sums + uint64(cuda.blockDim.x) // uint64(LANES)
    while index < end:
        s0 += shared[index]
        s1 += shared[index + uint64(1)]
        s2 += shared[index + uint64(2)]
        s3 += shared[index + uint64(3)]
        index += uint64(4)
    return (s0 + s1) + (s2 + s3)
