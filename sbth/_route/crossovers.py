"""When a band is solved faster by a reduction of this package, or as a full matrix."""

from __future__ import annotations

from hetero.cpu.threads import threads
from sbth._problem import limits
from sbth._problem.problem import Problem
from sbth._vendor import drivers


def thread_key() -> int:
    """Return the key of the tables of limits for the threads that loops use."""
    return min(threads(), 3)


def reduces_bands_faster(problem: Problem) -> bool:
    """Return whether this package reduces a real band faster than LAPACK."""
    if (order := problem.order) < limits.SMALLEST_BAND:
        return False
    low, high = 1, 0
    for first, *widths in limits.BANDS[thread_key(), problem.vectors]:
        if order >= first:
            low, high = widths
    return low <= problem.width < high


def is_faster_as_full(problem: Problem) -> bool:
    """Return whether LAPACK solves a band faster as a full matrix.

    On several threads OpenBLAS divides even small full matrices among them, which takes longer than
    one thread (n = 200: 2 to 4 times as long), where the band is solved by one. With
    less than 24 subdiagonals LAPACK reduces small bands (n < 200) in at most the time of full ones.
    """
    order, width = problem.order, problem.width
    if not problem.vectors:
        if width < 24 or 8 * width <= order:
            return False
        return order >= limits.PARALLEL_ORDER or 4 * width > order or thread_key() == 1
    selection = problem.selection
    if selection.kind == "i" and drivers.are_few(selection.count_indices(), order):
        return True
    if order < 200:
        return order >= 50 and width >= 24 and 10 * width >= 3 * order
    if thread_key() == 1:
        return width >= (16 if order < limits.PARALLEL_ORDER else 4)
    if order < limits.PARALLEL_ORDER:
        return 2 * width >= order
    return width >= (24 if order < limits.PARALLEL_VECTORS else 8)
