"""Zeros of rising functions of one variable, for both targets.

Oliveira and Takahashi (2020), An enhancement of the bisection method: false position, kept so close
to the middle that it never takes more steps than bisection. The caller, who has the function, keeps
the ends:

    reach = 2.0 * (high - low)
    while high - low > tolerance:
        x = next_trial(low, high, below, above, width, reach)
        ...
        reach *= 0.5
"""

import math

from hetero.jit import scalar


@scalar
def next_trial(low, high, below, above, width, reach):
    """Return the next trial point in [low, high], at whose ends the function is below < 0 and
    above > 0.

    `width` is the length of the initial interval; `reach` is twice the length that bisection would
    have reached by now.
    """
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    off = (above * low - below * high) / (above - below) - middle
    room = max(0.5 * reach - half, 0.0)
    if not abs(off) < half:
        off = 0.0
    off = math.copysign(min(max(abs(off) - 0.1 * half * half / width, 0.0), room), off)
    return middle + off
