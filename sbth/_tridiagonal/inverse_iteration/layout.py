"""The arrays that the steps of inverse iteration share."""

from typing import NamedTuple

from hetero.arrays import Array


class Matrix(NamedTuple):
    """A tridiagonal matrix T (n, n) of norm 1 or so, and m shifts x. All arrays are float64.

    Attributes
    ----------
    diagonal : (n + 1,)
        The last element is 0.
    below : (n + 1,)
        The subdiagonal, and two zeros.
    shifts : (m,)
    """

    diagonal: Array
    below: Array
    shifts: Array


class Factors(NamedTuple):
    """Factors P L D U of T - x for m shifts x. All arrays but the last are (n, m), by columns.

    Attributes
    ----------
    reciprocal : float64
        The reciprocals of the pivots D.
    first, second : float64
        The superdiagonals of U, whose diagonal is 1.
    multiplier : float64
        Row i + 1 of L.
    swapped : int8
        1 if the rows i and i + 1 were exchanged, else 0.
    marks : float64 (3, m)
        Of the last solutions: the reciprocal of the largest element, and the rows of the last two
        scalings, or n.
    """

    reciprocal: Array
    first: Array
    second: Array
    multiplier: Array
    swapped: Array
    marks: Array


BYTES_AN_ELEMENT = 4 * 8 + 1 + 4 * 8
"""Bytes for each element of the vectors (n, m): the factors, and the vectors with three copies."""
