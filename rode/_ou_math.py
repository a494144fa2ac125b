"""Stretches of an Ornstein-Uhlenbeck path, for both targets."""

from numba import uint64

from hetero._philox_math import words10
from hetero.jit import scalar
from rode._blocks_math import BLOCKS
from rode._vectors import walked


def stretch_of(dtype):
    """stretch(run, path, b): a lane's elements from block b on, as if the process were 0 before them."""
    draw = BLOCKS[dtype, dtype].draw

    @scalar
    def stretch(run, path, b):
        k0, k1, stream = run.k0, run.k1, run.stream
        one = uint64(1)
        w = words10(b, path, stream, k0, k1)
        v0 = walked(run.em1 - run.em1, draw(w[0], w[1], w[2], w[3], run.sigma), run.em1)
        w = words10(b + one, path, stream, k0, k1)
        v1 = walked(v0[-1], draw(w[0], w[1], w[2], w[3], run.sigma), run.em1)
        w = words10(b + one + one, path, stream, k0, k1)
        v2 = walked(v1[-1], draw(w[0], w[1], w[2], w[3], run.sigma), run.em1)
        w = words10(b + one + one + one, path, stream, k0, k1)
        v3 = walked(v2[-1], draw(w[0], w[1], w[2], w[3], run.sigma), run.em1)
        return v0 + v1 + v2 + v3

    return stretch


