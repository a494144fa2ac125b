"""Sums over the threads of a block, which all of them get, and scaling of a matrix by one."""

import math

from hetero.cuda.driver import cuda
from hetero.jit import kernel
from sbth._gpu.arithmetic import LANES as LANES
from sbth._gpu.arithmetic import sum_over_lanes as sum_over_lanes


def round_to_warps(threads: int) -> int:
    """Return the number of threads of whole warps, at least one."""
    return max(-(-threads // LANES), 1) * LANES


SHARED, GLOBAL, REGISTERS = "shared_memory", "global_memory", "registers"
"""Places of a matrix while a kernel works on it."""


def kernel_name(verb: str, dtype: str, storage: str) -> str:
    """Return the name of a kernel for matrices of a type in a kind of memory."""
    return f"{verb}_{dtype}" + ("" if storage == SHARED else f"_in_{storage}")


@kernel(device=True)
def sum_over_block(value, sums):
    """Return the sum over a block, which all its threads must call.

    `sums` has room for one number of each warp, which nothing has read since the last but one
    synchronization.
    """
    thread, total = cuda.threadIdx.x, sum_over_lanes(value)
    if thread % LANES == 0:
        sums[thread // LANES] = total
    cuda.syncthreads()
    total = sums[0]
    for i in range(1, cuda.blockDim.x // LANES):
        total += sums[i]
    return total


_NEAR_ONE = 2.0**-10, 2.0**10
"""Largest elements of matrices that are not scaled."""


@kernel(device=True)
def power_of_two(largest, most):
    """Return the power of two, up to 2^most, by which a matrix with finite elements gets norm 1.

    The iteration compares elements with 1, and rotations square them.
    """
    if largest == 0.0 or (_NEAR_ONE[0] < largest and largest < _NEAR_ONE[1]):
        return 1.0
    return math.ldexp(1.0, min(-math.frexp(largest)[1], most))
