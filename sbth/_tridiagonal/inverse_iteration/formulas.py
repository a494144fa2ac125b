"""Inverse iteration with a tridiagonal matrix, row by row, for both targets.

T - x is factored by Gaussian elimination with partial pivoting, as in LAPACK's gttrf: U has two
superdiagonals. A pivot nearer to 0 than `smallest` is replaced by +-smallest, so that the solution
of (T - x) y = b is finite, and large if x is an eigenvalue.

The formulas have no branches, so that a loop over vectors can use the vector units of a CPU.
"""

import math

from hetero.jit import scalar

LIMIT = 2.0**400
"""Magnitude above which a solution is scaled down while it is computed, last row first.

Weakly coupled blocks that share an eigenvalue have a small pivot each, so that a solution may grow
by a factor of 2^53 in each of them. Squares of 2^54 times the limit are finite.
"""

SHRINK = 2.0**-400
"""Factor by which a solution is scaled down."""

_MASK = 0x7FFFFFFF


def make_elimination(decorate, quotient):
    """Make a step of the elimination for a target, which divides by `quotient`."""

    @decorate
    def eliminate(a, b, below, diagonal, above, smallest):
        """Eliminate `below` from the two rows (a, b, 0) and (below, diagonal, above) of T - x.

        Returns
        -------
        reciprocal, first, second : 1 / pivot, and the elements right of the pivot over it
        multiplier, swapped : the multiple of the row to subtract; whether the rows were exchanged
        a, b : what is left of the other row
        """
        swapped = abs(below) > abs(a)
        pivot = below if swapped else a
        other = a if swapped else below
        pivot = pivot if abs(pivot) >= smallest else math.copysign(smallest, pivot)
        reciprocal = quotient(1.0, pivot)
        multiplier = other * reciprocal
        first = diagonal if swapped else b
        second = above if swapped else 0.0
        a_left = (b if swapped else diagonal) - multiplier * first
        b_left = (0.0 if swapped else above) - multiplier * second
        return (
            *(reciprocal, first * reciprocal, second * reciprocal),
            *(multiplier, swapped, a_left, b_left),
        )

    return eliminate


@scalar
def forward_step(carry, element, multiplier, swapped):
    """Apply a step of the elimination to the right side: return its element, and what is left."""
    top = element if swapped else carry
    other = carry if swapped else element
    return top, other - multiplier * top


@scalar
def backward_step(element, reciprocal, first, second, state):
    """Solve a row of U y = b, from the last one on.

    `state` is (y of the next row, y of the row after it, scale of b, largest |y|). Returns the new
    state, whose first number is y, and whether it was scaled by `SHRINK`.
    """
    y1, y2, scale, largest = state
    y = (element * scale) * reciprocal - second * y2 - first * y1
    has_grown = abs(y) > LIMIT
    factor = SHRINK if has_grown else 1.0
    y *= factor
    return (y, y1 * factor, scale * factor, max(largest * factor, abs(y))), has_grown


@scalar
def delayed_factor(row, last, previous):
    """Return the factor of an element of a solution that was stored before the last scaling.

    Elements of rows up to `last` were not scaled after they were stored, those up to `previous`
    once. Older ones are less than 2^-400 of the largest element, and become 0.
    """
    older = SHRINK if row <= previous else 0.0
    return 1.0 if row <= last else older


@scalar
def first_random(vector):
    """Return the state of the sequence of random numbers of a vector (int64)."""
    return (vector * 1640531527 + 1013904223) & _MASK


@scalar
def next_random(state):
    """Return the next state of a sequence: a linear congruence modulo 2^31 (int64)."""
    return (state * 1103515245 + 12345) & _MASK


@scalar
def random_element(state):
    """Return the random number between -1 and 1 that belongs to a state."""
    return state * (2.0 / (_MASK + 1.0)) - 1.0
