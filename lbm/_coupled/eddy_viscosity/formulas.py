"""Differences of the velocity between the neighbours of a cell, for both targets."""

from hetero.jit import scalar


@scalar(forceinline=True)
def central_difference(before, after):
    """Return half of the difference of two velocities (three numbers each), in 1/step.

    Like all that follows it, this has no fused operations on the CPU: a cell gets the same bits in
    a vector of cells and by itself.
    """
    half = type(before[0])(0.5)
    return (
        half * (after[0] - before[0]),
        half * (after[1] - before[1]),
        half * (after[2] - before[2]),
    )


@scalar(forceinline=True)
def difference_at_walls(before, centre, after, sides, axis):
    """Return the derivative of the velocity along an axis where neighbours may be missing.

    `sides` has a bit for each missing neighbour, as `Loops` of this folder describes. The velocity
    of the cell stands for one that is missing; the difference is then one-sided.
    """
    is_first, is_last = sides >> (2 * axis) & 1, sides >> (2 * axis + 1) & 1
    a0, a1, a2 = centre if is_first else before
    b0, b1, b2 = centre if is_last else after
    T = type(a0)
    factor = T(1) if is_first or is_last else T(0.5)
    return factor * (b0 - a0), factor * (b1 - a1), factor * (b2 - a2)
