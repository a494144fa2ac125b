"""Gauss-Kronrod quadrature of Nolan's integrals at one point by a block of threads of a GPU.

As in section 3.1 of Julian-Moreno et al. (2016), row i of the block integrates panel i, and column
j evaluates the integrand at the j-th pair of nodes, symmetric about the panel's centre. Decisions
for the whole block, for example which panels to repeat, are made from shared memory by every
thread alike.
"""

import math
from typing import Any

from numba import float64, int32

from hetero.cuda.driver import cuda
from hetero.jit import kernel, scalar
from stablegpu._density import nolan_formulas as nolan
from stablegpu._density.quadrature.kronrod import MOST_PASSES
from stablegpu._density.value_formulas import assemble, evaluate_light_tail

_WAITING = MOST_PASSES + 2
_STEPS = int(nolan.U_MAX / nolan.U_STEP)
_SUMS = 6  # density, below and above, and the differences of Gauss's rule from Kronrod's
_FIRST, _LAST, _LEFT, _RIGHT = 0, 1, 2, 3  # slots of the shared integers


@scalar
def _pair(
    u: float,
    offset: float,
    width: float,
    base: Any,
    steep: bool,
    log_y: float,
    g_min: float,
    side: Any,
) -> tuple[float, float, float]:
    """Return the three integrands over u, summed over the two nodes u - offset and u + offset."""
    s0 = s1 = s2 = 0.0
    for sign in (-1.0, 1.0):
        v = u + sign * offset
        tau = width * math.sinh(v)
        f0, f1, f2 = nolan.evaluate_integrands(tau, base, steep, log_y, g_min, side)
        scale = width * math.cosh(v)
        s0 += scale * f0
        s1 += scale * f1
        s2 += scale * f2
    return s0, s1, s2


@kernel(device=True)
def point_of_block(
    y: float,
    z: float,
    side: Any,
    node: float,
    weight: float,
    excess: float,
    tolerance: float,
    forced: bool,
) -> Any:
    """Return pdf, probabilities below and above, their logarithms and the relative error, y > 0.

    All threads of the block call it; `node`, `weight` and `excess` are those of the column. It
    needs `shared_memory_bytes` of dynamic shared memory.
    """
    columns = cuda.blockDim.x
    panels = cuda.blockDim.y
    j = cuda.threadIdx.x
    i = cuda.threadIdx.y
    me = i * columns + j
    threads = columns * panels
    shared = cuda.shared.array(0, float64)  # per thread six sums; then per panel six; then six
    by_panel = _SUMS * threads
    totals = by_panel + _SUMS * panels
    slots = cuda.shared.array(4, int32)
    starts = cuda.local.array(_WAITING, float64)  # intervals to evaluate, the same in all threads
    stops = cuda.local.array(_WAITING, float64)
    log_y = nolan.log_factor(y, z, side)
    relative = 8.0 * nolan.EPSILON
    # A point far out needs no peak. It goes to the one call of `evaluate_light_tail` below, because
    # a second copy of that function would make a long kernel longer.
    far_out = nolan.is_far_in_light_tail(log_y, side)

    # The peak: every thread tries one t, then all search between the best one's
    # neighbours.
    left, right = -nolan.T_MAX, nolan.T_MAX
    center = width = 0.0
    while not far_out:
        width = (right - left) / (threads - 1)
        shared[me] = nolan.log_integrand(left + me * width, log_y, side)
        shared[threads + me] = shared[me]
        shared[2 * threads + me] = me
        count = threads
        cuda.syncthreads()
        while count > 1:
            half = (count + 1) // 2
            if me < count // 2:
                mine, other = threads + me, threads + me + half
                if nolan.is_higher(shared[other], shared[mine], side):
                    shared[mine] = shared[other]
                    shared[threads + mine] = shared[threads + other]
            count = half
            cuda.syncthreads()
        best = shared[threads]
        best_index = int32(shared[2 * threads])
        center = left + best_index * width
        resolved = (
            0 < best_index < threads - 1
            and best > nolan.LOST
            and shared[best_index - 1] > best - 1.0
            and shared[best_index + 1] > best - 1.0
        )
        cuda.syncthreads()
        if resolved or width < nolan.STEEP:
            break
        left, right = max(center - width, -nolan.T_MAX), min(center + width, nolan.T_MAX)

    p, r = nolan.distances(center, side)
    log_g = log_y + nolan.log_v(p, r, side)
    base = nolan.expansion_point(p, r, log_g, side)
    steep = nolan.is_steep(width, p, r, side)
    if far_out or (log_g > nolan.LIGHT and not steep):
        result = evaluate_light_tail(y, log_y if far_out else log_g, side)
    else:
        if steep:
            base, width = nolan.solve_g_equals_one(base, side)
        best = nolan.log_integrand_of(base[2], base[0] * base[1] / side.length)

        # How far in u the integrand matters to the left and to the right of the peak.
        if me < 4:
            slots[me] = _STEPS
        cuda.syncthreads()
        if me < 2 * _STEPS:
            leftward = me < _STEPS
            k = 1 + (me if leftward else me - _STEPS)
            reach = width * math.sinh(k * nolan.U_STEP)
            tau = -reach if leftward else reach
            slot = _LEFT if leftward else _RIGHT
            if abs(center + tau) > nolan.T_MAX:
                cuda.atomic.min(slots, slot, int32(k - 1))
            else:
                log_g, p, r = nolan.log_g_at(tau, base, steep, log_y, side)
                if nolan.log_integrand_of(log_g, p * r / side.length) < best - nolan.DROP:
                    cuda.atomic.min(slots, slot, int32(k))
        cuda.syncthreads()
        left, right = -nolan.U_STEP * slots[_LEFT], nolan.U_STEP * slots[_RIGHT]
        g_min, below, above = nolan.cut_ends(
            width * math.sinh(left), width * math.sinh(right), base, steep, log_y, side
        )

        density = e0 = e1 = e2 = 0.0
        whole0 = whole1 = whole2 = 0.0  # the integrals as the first pass sees them
        starts[0], stops[0] = left, right
        count, attempt = 1, 0
        while count > 0:
            count -= 1
            left, right = starts[count], stops[count]
            size = (right - left) / panels
            half_size = 0.5 * size
            f0, f1, f2 = _pair(
                left + (i + 0.5) * size, half_size * node, width, base, steep, log_y, g_min, side
            )
            cell = _SUMS * me
            shared[cell] = half_size * weight * f0
            shared[cell + 1] = half_size * weight * f1
            shared[cell + 2] = half_size * weight * f2
            shared[cell + 3] = half_size * excess * f0
            shared[cell + 4] = half_size * excess * f1
            shared[cell + 5] = half_size * excess * f2
            if me == 0:
                slots[_FIRST] = panels
                slots[_LAST] = -1
            cuda.syncthreads()
            if j < _SUMS:
                s = 0.0
                for c in range(columns):
                    s += shared[_SUMS * (i * columns + c) + j]
                shared[by_panel + _SUMS * i + j] = s if j < 3 else abs(s)
            cuda.syncthreads()
            if me < _SUMS:
                s = 0.0
                for row in range(panels):
                    s += shared[by_panel + _SUMS * row + me]
                shared[totals + me] = s
            cuda.syncthreads()
            if attempt == 0:
                whole0 = shared[totals]
                whole1 = below + shared[totals + 1]
                whole2 = above + shared[totals + 2]
            if j == 0:
                # The panels that still matter: repeat them with the whole rule.
                mine = by_panel + _SUMS * i
                again = forced and attempt == 0 and shared[mine] > 0.01 * whole0
                again = again or shared[mine + 3] > tolerance * whole0
                again = again or shared[mine + 4] > tolerance * whole1
                again = again or shared[mine + 5] > tolerance * whole2
                if again:
                    cuda.atomic.min(slots, _FIRST, int32(i))
                    cuda.atomic.max(slots, _LAST, int32(i))
            cuda.syncthreads()
            first, last = slots[_FIRST], slots[_LAST]
            attempt += 1
            done = last < 0 or attempt > MOST_PASSES
            if not done:
                if me < _SUMS:
                    s = 0.0
                    for row in range(panels):
                        if row < first or row > last:
                            s += shared[by_panel + _SUMS * row + me]
                    shared[totals + me] = s
                cuda.syncthreads()
            density += shared[totals]
            below += shared[totals + 1]
            above += shared[totals + 2]
            e0 += shared[totals + 3]
            e1 += shared[totals + 4]
            e2 += shared[totals + 5]
            cuda.syncthreads()
            if not done:
                middle = first
                if 2 * (last + 1 - first) > panels:  # two distant peaks
                    middle = (first + last + 1) // 2
                    starts[count] = left + first * size
                    stops[count] = left + middle * size
                    count += 1
                starts[count] = left + middle * size
                stops[count] = left + (last + 1) * size
                count += 1

        result = assemble(y, g_min, density, below, above, side)
        if density > 0.0 and g_min < nolan.UNDERFLOW:
            relative = max(relative, e0 / density)
        if below > 0.0 and g_min < nolan.UNDERFLOW:
            relative = max(relative, e1 / below)
        if above > 0.0 and g_min < nolan.UNDERFLOW:
            relative = max(relative, e2 / above)
    return result, relative


def shared_memory_bytes(columns: int, panels: int) -> int:
    """Return the bytes of shared memory that `point_of_block` needs."""
    return 8 * _SUMS * (columns * panels + panels + 1)
