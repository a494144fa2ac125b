"""Ornstein-Uhlenbeck paths on the GPU: one pass over memory.

A tile is what one block of threads makes: each thread walks four Philox blocks from O = 0 in its
registers, the ends are scanned by shuffles, and one number a tile travels to the later tiles. 256
tiles are a group. A tile adds up the ends of its group before it, and the value at the group's
start, which goes from group to group. The order of these sums is fixed, so a seed gives the same
floats in every run, although the blocks run in any order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import float32, float64, int64, uint32, uint64

from hetero import launch
from hetero._driver import cuda
from hetero._philox_math import words10
from hetero.jit import kernel
from rode._blocks_math import BLOCKS
from rode._bits import bits_of, float_of
from rode._memory import load, store
from rode._vectors import axpy, cast, replaced, scaled, walked

THREADS = 256
GROUP = 256  # tiles; as many as threads, so that each reads one
_ALL = 0xFFFFFFFF
_WARPS = THREADS // 32


def _single_pass(dtype, fused):
    """The kernel; `fused` draws the noise, else it is read."""
    size, draw = BLOCKS[dtype, dtype].size, BLOCKS[dtype, dtype].draw
    each = 4 * size  # elements of a thread
    itemsize = np.dtype(dtype).itemsize
    real, word = (float32, uint32) if itemsize == 4 else (float64, uint64)
    pitch = each + 16 // itemsize  # of a thread's elements in shared memory: no bank conflicts
    room = THREADS * pitch
    nothing = (0.0,) * size

    @kernel
    def pass_once(run, noise, reach, far, ticket, ends, starts, aligned, out):
        place = cuda.shared.array(1, int64)
        known = cuda.shared.array(2, real)
        totals = cuda.shared.array(_WARPS, real)
        sums = cuda.shared.array(_WARPS, real)
        elements = cuda.shared.array(room, real)
        t = uint32(cuda.threadIdx.x)
        lane, warp = t & uint32(31), t >> uint32(5)
        empty = ~word(0)
        if t == 0:
            place[0] = cuda.atomic.add(ticket, 0, 1)
        cuda.syncthreads()
        tile = place[0]
        n = uint64(out.size)

        # The thread's elements, as if the process were 0 before them.
        first = uint64(tile) * uint64(THREADS * each) + uint64(t) * uint64(each)
        b, one = first // uint64(size), uint64(1)
        zero = run.em1 - run.em1
        if fused:
            k0, k1, path, stream = run.k0, run.k1, run.path, run.stream
            a0, a1, a2, a3 = words10(b, path, stream, k0, k1)
            v0 = walked(zero, draw(a0, a1, a2, a3, run.sigma), run.em1)
            a0, a1, a2, a3 = words10(b + one, path, stream, k0, k1)
            v1 = walked(v0[-1], draw(a0, a1, a2, a3, run.sigma), run.em1)
            a0, a1, a2, a3 = words10(b + one + one, path, stream, k0, k1)
            v2 = walked(v1[-1], draw(a0, a1, a2, a3, run.sigma), run.em1)
            a0, a1, a2, a3 = words10(b + one + one + one, path, stream, k0, k1)
            v3 = walked(v2[-1], draw(a0, a1, a2, a3, run.sigma), run.em1)
        else:
            like = cast(nothing, run.em1)
            wide = warp * uint32(32 * pitch)
            begin = first - uint64(lane) * uint64(each)
            for r in range(4):
                i = uint32(r * 32 * size) + lane * uint32(size)
                part = like
                if aligned and begin + uint64(i) + uint64(size) <= n:
                    part = load(noise, begin + uint64(i), like)
                else:
                    for j in range(size):
                        if begin + uint64(i) + uint64(j) < n:
                            part = replaced(part, j, noise[begin + uint64(i) + uint64(j)])
                store(elements, uint64(wide + i // uint32(each) * uint32(pitch) + i % uint32(each)), part)
            cuda.syncwarp()
            own = uint64(t) * uint64(pitch)
            step = uint64(size)
            v0 = walked(zero, scaled(run.sigma, load(elements, own, like)), run.em1)
            v1 = walked(v0[-1], scaled(run.sigma, load(elements, own + step, like)), run.em1)
            v2 = walked(v1[-1], scaled(run.sigma, load(elements, own + step + step, like)), run.em1)
            v3 = walked(v2[-1], scaled(run.sigma, load(elements, own + step + step + step, like)), run.em1)

        # Ends of the threads of a warp, then of the warps.
        end = v3[-1]
        stride = run.strides
        before = cuda.shfl_up_sync(_ALL, end, 1)
        end = end + stride[0] * before if lane >= 1 else end
        before = cuda.shfl_up_sync(_ALL, end, 2)
        end = end + stride[1] * before if lane >= 2 else end
        before = cuda.shfl_up_sync(_ALL, end, 4)
        end = end + stride[2] * before if lane >= 4 else end
        before = cuda.shfl_up_sync(_ALL, end, 8)
        end = end + stride[3] * before if lane >= 8 else end
        before = cuda.shfl_up_sync(_ALL, end, 16)
        end = end + stride[4] * before if lane >= 16 else end
        before = cuda.shfl_up_sync(_ALL, end, 1)
        if lane == 31:
            totals[warp] = end
        cuda.syncthreads()
        total, local = zero, zero
        for w in range(_WARPS):
            local = total if w == warp else local
            total = total * stride[5] + totals[w]
        local = local * reach[lane] + (before if lane > 0 else zero)

        # What the tiles before bring: those of this group, and the value at its start.
        position = tile % GROUP
        group = tile // GROUP
        if t == 0:
            cuda.stcg(ends, tile, bits_of(total))
        seen = zero
        if t < position:
            found = cuda.ldcv(ends, tile - position + int64(t))
            while found == empty:
                found = cuda.ldcv(ends, tile - position + int64(t))
            seen = float_of(found) * far[position - 1 - int64(t)]
        seen += cuda.shfl_xor_sync(_ALL, seen, 16)
        seen += cuda.shfl_xor_sync(_ALL, seen, 8)
        seen += cuda.shfl_xor_sync(_ALL, seen, 4)
        seen += cuda.shfl_xor_sync(_ALL, seen, 2)
        seen += cuda.shfl_xor_sync(_ALL, seen, 1)
        if lane == 0:
            sums[warp] = seen
        cuda.syncthreads()
        if t == 0:
            for w in range(1, _WARPS):
                seen += sums[w]
            found = cuda.ldcv(starts, group)
            while found == empty:
                found = cuda.ldcv(starts, group)
            seen += far[position] * float_of(found)
            if position == GROUP - 1:
                cuda.stcg(starts, group + 1, bits_of(total + far[1] * seen))
            known[0] = seen
        cuda.syncthreads()
        carry = local + reach[t] * known[0]

        # To memory, neighbours next to each other.
        own = uint64(t) * uint64(pitch)
        step = uint64(size)
        store(elements, own, axpy(carry, run.decay0, v0))
        store(elements, own + step, axpy(carry, run.decay1, v1))
        store(elements, own + step + step, axpy(carry, run.decay2, v2))
        store(elements, own + step + step + step, axpy(carry, run.decay3, v3))
        cuda.syncwarp()
        begin = first - uint64(lane) * uint64(each)
        wide = warp * uint32(32 * pitch)
        for r in range(4):
            i = uint32(r * 32 * size) + lane * uint32(size)
            own = uint64(wide + i // uint32(each) * uint32(pitch) + i % uint32(each))
            part = load(elements, own, v0)
            if aligned and begin + uint64(i) + uint64(size) <= n:
                store(out, begin + uint64(i), part)
            else:
                for j in range(size):
                    if begin + uint64(i) + uint64(j) < n:
                        out[begin + uint64(i) + uint64(j)] = part[j]

    return pass_once


class Pass(NamedTuple):
    """Numbers of one path. Floats are of the path's type.

    Attributes
    ----------
    decay0 .. decay3 : mu^(j + 1) for the elements of a thread's four blocks
    strides : mu^(E 2^k) for the E elements of a thread, k = 0 .. 5
    """

    k0: np.uint32
    k1: np.uint32
    path: np.uint32
    stream: np.uint32
    em1: float
    sigma: float
    decay0: tuple
    decay1: tuple
    decay2: tuple
    decay3: tuple
    strides: tuple


single_pass_float32, single_pass_float64 = (_single_pass(d, False) for d in ("float32", "float64"))
fused_float32, fused_float64 = (_single_pass(d, True) for d in ("float32", "float64"))
