"""Sizes of a task of the reduction, and where its blocks, vectors and scalars lie."""

from hetero.jit import scalar
from sbth._reduction.bulge_chasing.schedule_formulas import block_extents

SCALARS = 5
"""Scalars of a task: v.x, |h|, the length of a vector, v'.y with the next reflection v', and a
factor of an axpy, for libraries that take one number."""

VECTORS = 6
"""Vectors of d numbers of an active sweep: its reflections, the current and the next one, which
alternate, and the vectors x, w, y and h of a task."""

NUMBERS = (
    *("m", "rows", "column", "a", "b", "v", "following", "x", "w", "y", "h"),
    *("vx", "norm", "length", "vy", "factor"),
)
"""Names of the numbers that `task_operands` returns."""


@scalar
def slot_count(n, d):
    """Return how many sweeps of a matrix of order n can be active at once, and one more."""
    return n // (2 * d) + 2


LAYOUTS = ("column-major", "row-major")
"""Orders of the elements of the working matrix (Riesinger 2017, section 5.1)."""


@scalar
def strides_of(n, d, by_rows):
    """Return the distances in memory from an element of a block to those below and beside it.

    The working matrix has a column of 2 d elements, from the diagonal down, for each of the matrix.
    Column-major storage has these columns behind each other, row-major storage the diagonals.
    """
    step = n if by_rows else 1
    return step, (1 if by_rows else 2 * d) - step


@scalar
def task_operands(s, k, n, d, by_rows):
    """Return the index of the program of task k of sweep s, and its numbers, as `NUMBERS` says.

    m and rows are the sizes of its blocks; column, a and b are where its column and its blocks
    begin in the working matrix; the others are where its vectors and scalars begin.
    """
    c0, m, rows = block_extents(s, k, n, d)
    slot, (step, pitch) = s % slot_count(n, d), strides_of(n, d, by_rows)
    first, scalar = VECTORS * slot * d, SCALARS * slot
    v, following = first + (k & 1) * d, first + (1 - (k & 1)) * d
    x, w, y, h = first + 2 * d, first + 3 * d, first + 4 * d, first + 5 * d
    along = step + pitch  # from an element of the diagonal to the next one
    column, a, b = s * along + step, c0 * along, c0 * along + d * step
    vx, norm, length, vy, factor = scalar, scalar + 1, scalar + 2, scalar + 3, scalar + 4
    program = (2 if k == 0 else 0) + (1 if rows > 0 else 0)
    sizes = (m, rows, column, a, b, v, following, x, w, y, h)
    return program, sizes + (vx, norm, length, vy, factor)  # noqa: RUF005 - Numba has no *
