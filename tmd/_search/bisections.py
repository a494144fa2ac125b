"""Arguments at which something changes, found by halving and by interpolation."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable
from fractions import Fraction

from tmd.formats import Format


def last_that_holds(
    holds: Callable[[Fraction], bool], begin: Fraction, fmt: Format
) -> Fraction | None:
    """Return the end of the part of a binade, from its begin on, in which a property holds."""
    if not holds(begin):
        return None
    low, high = 0, 1 << fmt.argument_precision
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(_step_from(begin, middle, fmt)) else (low, middle)
    return _step_from(begin, high, fmt)


def _step_from(begin: Fraction, steps: int, fmt: Format) -> Fraction:
    return begin * (1 + Fraction(steps, 1 << fmt.argument_precision))


def find_changes(
    first: int,
    last: int,
    state_at: Callable[[int], Hashable],
    log2_at: Callable[[int], float],
    interpolate: bool = True,
) -> list[int]:
    """Return the numbers in (first, last] whose state differs from that of the number before.

    A state never comes back, and most change where a monotone value passes a power of two.
    """
    if state_at(first) == state_at(last):
        return []
    if last - first == 1:
        return [last]
    points = [(first + last) // 2]
    low, high = log2_at(first), log2_at(last)
    if interpolate and low != high:
        share = (round((low + high) / 2) - low) / (high - low)
        guess = first + int(min(1.0, max(0.0, share)) * (last - first))
        margin = (last - first >> 10) + 1
        points = sorted({max(guess - margin, first + 1), min(guess + margin, last - 1)})
    changes = []
    for left, right in itertools.pairwise([first, *points, last]):
        # Halve what interpolation has not made much shorter.
        shorter = right - left < last - first >> 4
        changes += find_changes(left, right, state_at, log2_at, shorter or not interpolate)
    return changes
