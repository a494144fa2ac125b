"""What a warp does with the stretches of an Ornstein-Uhlenbeck path, in kernels.

In a round each lane walks one Philox block of numbers from O = 0, in registers. The ends of the
lanes are scanned by shuffles; what came before a lane, its carry, then enters its numbers by the
powers of mu. Neighbours hold neighbouring blocks, so that loads and stores go together.
"""

from __future__ import annotations

import textwrap
from typing import NamedTuple

from numba import int64, uint32, uint64

from hetero._driver import cuda
from hetero._philox_math import philox10
from hetero.jit import define, kernel
from rode._blocks_math import BLOCKS
from rode._memory import load, store
from rode._ou import LANES, ROUNDS, block
from rode._vectors import axpy, cast, replaced, scaled, walked

_ALL = 0xFFFFFFFF


class Pieces(NamedTuple):
    """Device functions; `value` is O before a round, `place` a lane's first element in it.

    Attributes
    ----------
    step(run, path, weight, lane, place, value, noise, whole) : the lane's walk from 0, its carry,
        and O after the round. `weight` is mu^(E lane); `noise` is read if it is given, else drawn.
    put(x, p, q, run, place, whole, out) : x + p powers + q bends to out[place:]
    put_carried(x, p, run, place, whole, out) : x + p powers
    """

    step: object
    put: object
    put_carried: object


@kernel(device=True)
def _passed(x, weight, lane, run, value):
    """A lane's carry and O after the round."""
    end = x[-1]
    for k in range(5):
        before = cuda.shfl_up_sync(_ALL, end, 1 << k)
        if lane >= uint32(1 << k):
            end = end + run.strides[k] * before
    before = cuda.shfl_up_sync(_ALL, end, 1)
    carry = weight * value + (before if lane > uint32(0) else value - value)
    return carry, value + (run.em1_round * value + cuda.shfl_sync(_ALL, end, LANES - 1))


def pieces(dtype: str, normals: str | None) -> Pieces:
    """Of paths of a type with noise drawn as `normals` says, or given where that is None."""
    size, some = block(dtype), (0.0,) * block(dtype)
    numbers = BLOCKS[dtype, normals or dtype].draw

    @kernel(device=True)
    def draw(run, path, weight, lane, place, value, noise, whole):
        number = place // uint64(size)
        low, high = uint32(number), uint32(number >> uint64(32))
        a, b, c, d = philox10(low, high, path, run.stream, run.k0, run.k1)
        x = walked(numbers(a, b, c, d, run.sigma), run.mu)
        carry, value = _passed(x, weight, lane, run, value)
        return x, carry, value

    @kernel(device=True)
    def read(run, path, weight, lane, place, value, noise, whole):
        part = cast(some, run.em1)
        if whole:
            part = load(noise, place, part)
        else:
            for j in range(size):
                if place + uint64(j) < uint64(noise.size):
                    part = replaced(part, int64(j), noise[place + uint64(j)])
        x = walked(scaled(run.sigma, part), run.mu)
        carry, value = _passed(x, weight, lane, run, value)
        return x, carry, value

    @kernel(device=True)
    def write(x, place, whole, out):
        if whole:
            store(out, place, x)
        else:
            for j in range(size):
                if place + uint64(j) < uint64(out.size):
                    out[place + uint64(j)] = x[j]

    @kernel(device=True)
    def put(x, p, q, run, place, whole, out):
        write(axpy(q, run.bends, axpy(p, run.powers, x)), place, whole, out)

    @kernel(device=True)
    def put_carried(x, p, run, place, whole, out):
        write(axpy(p, run.powers, x), place, whole, out)

    return Pieces(draw if normals else read, put, put_carried)


def unrolled(name: str, source: str, names: dict):
    """A kernel from a text, in which a line with {r} stands for one of each round: what rounds
    leave behind stays in registers, which have no running index."""
    lines = []
    for line in textwrap.dedent(source).splitlines():
        lines += [line.replace("{r}", str(r)) for r in range(ROUNDS if "{r}" in line else 1)]
    return kernel(define(name, "\n".join(lines) + "\n", names), cache=False)  # it has no file
