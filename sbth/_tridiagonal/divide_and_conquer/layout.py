"""Columns and rows of the arrays that the steps of a merge share, and the size of leaves.

All merges of a level of the tree are done at once. Merge number g joins the diagonal blocks
[BEGIN, MIDDLE) and [MIDDLE, END) of the matrix, and everything that belongs to it stands at the
same positions [BEGIN, END) of the arrays below, which have a column for each row of the matrix.

A table has a row for each merge of all levels. Element (k, i) of `owner` is the number of the merge
of level k to which row i of the matrix belongs.
"""

from typing import Any, NamedTuple


class Level(NamedTuple):
    """Merges that are done at once.

    Attributes
    ----------
    number : row of `owner`
    first, size : number of the first merge, and how many there are
    """

    number: int
    first: int
    size: int

    @property
    def merges(self) -> slice:
        """The rows of the table that belong to the level."""
        return slice(self.first, self.first + self.size)


class Tables(NamedTuple):
    """The tables of a tree, whose arrays other calls use, too: none is changed.

    Attributes
    ----------
    merges : int64 (merges of all levels, MERGE_FIELDS)
    owner : int64 (levels, n)
    bounds : int64 (leaves + 1,)
        First rows of the leaves, and the order.
    """

    merges: Any
    owner: Any
    bounds: Any


class Torn(NamedTuple):
    """A tridiagonal matrix (n, n) that is torn into leaves, in host memory. All arrays are float64.

    Attributes
    ----------
    diagonal : (n,)
    below : (n,)
        The subdiagonal, and a last element that is ignored.
    couplings : (merges of all levels,)
        The subdiagonal element that was torn out for each row of the table.
    """

    diagonal: Any
    below: Any
    couplings: Any


class Arrays(NamedTuple):
    """Arrays on a device that divide and conquer works on; see `Loops` and the rest of this module.

    Attributes
    ----------
    values, below, couplings : the arrays of `Torn`
    bounds, owner, table : the `Tables`; `table` is a copy of `merges`
    vectors, integers : the eigenvectors of the blocks, which are 0, and memory
    floats, factors, packed : memory
    """

    values: Any
    below: Any
    couplings: Any
    bounds: Any
    owner: Any
    table: Any
    vectors: Any
    integers: Any
    floats: Any
    factors: Any
    packed: Any


LEAF_ROWS = 32
"""Largest order of a leaf: the threads of a warp."""

BEGIN, MIDDLE, END = 0, 1, 2
"""Columns of the table of merges (int64): the rows that a merge joins."""

KEPT, TOP, UPPER, ROTATIONS = 3, 4, 5, 6
"""Columns of the table that deflation fills in.

KEPT is the number of poles of the secular equation. The vectors of the first TOP of them are 0 in
the lower block, those from number UPPER on are 0 in the upper one, if they are counted in the order
of COLUMN. ROTATIONS is the number of plane rotations.
"""

MERGE_FIELDS = 7
"""Number of columns of the table of merges."""

POLE, WEIGHT, ORIGIN, SHIFT, DROPPED_VALUE, COSINE, SINE = 0, 1, 2, 3, 4, 5, 6
"""Rows of `floats` (float64).

POLE and WEIGHT are those of the secular equation, in ascending order. A root is ORIGIN, the pole
next to it, plus SHIFT. DROPPED_VALUE holds the eigenvalues that deflation leaves as they are;
COSINE and SINE belong to the rotations.
"""

FLOAT_ROWS = 7
"""Number of rows of `floats`."""

ORDER, ROW, KIND, COLUMN, DROPPED, FIRST, SECOND, GATHER = 0, 1, 2, 3, 4, 5, 6, 7
"""Rows of `integers` (int64).

ORDER sorts the eigenvalues of both blocks. ROW is the row of `vectors` that belongs to a pole, KIND
the block in which it is not 0, and COLUMN its position when the poles are sorted by kind.
DROPPED holds rows of vectors that deflation leaves as they are; FIRST and SECOND are those that a
rotation mixes. GATHER lists all rows: by COLUMN, then the dropped ones.
"""

INTEGER_ROWS = 8
"""Number of rows of `integers`."""

IN_UPPER, IN_BOTH, IN_LOWER = 0, 1, 2
"""Values of KIND."""


def multiply_blocks(
    xp: Any, merges: Any, roots: tuple[int, int], factors: Any, packed: Any, vectors: Any
) -> None:
    """Replace the vectors of the roots number roots[0], ..., roots[1] - 1 by products of matrices.

    `merges` are rows of the table in host memory, the others arrays of `xp`.
    """
    for begin, middle, end, undeflated, top, upper, _ in merges.tolist():
        new = slice(begin + roots[0], begin + min(undeflated, roots[1]))
        for terms, columns in (
            (slice(begin, begin + upper), slice(begin, middle)),
            (slice(begin + top, begin + undeflated), slice(middle, end)),
        ):
            xp.matmul(factors[new, terms], packed[terms, columns], out=vectors[new, columns])
