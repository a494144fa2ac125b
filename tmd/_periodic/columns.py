"""Columns of the tables in which groups of windows are handed to the loops."""

from typing import NamedTuple


class Reals(NamedTuple):
    """Columns of float64. Polynomials are in the number i of a window, from the first power on.

    Coordinates of lattice vectors are scaled, so that a window is the square [-1, 1]^2: `*_x` in
    units of half the binade, `*_y` in units of half a window's width.
    """

    slab: int = 0  # half the height of the slab, in test units
    tolerance: int = 1  # largest distance of a survivor from an integer, in test units
    u_x: int = 2
    u_y: int = 3
    v_x: int = 4
    v_y: int = 5
    a_start: int = 6  # coordinates of the centre of window 0 in the basis (u, v)
    a_step: int = 7  # and their change from one window to the next
    b_start: int = 8
    b_step: int = 9
    value: int = 10  # four coefficients: linear form at the anchor
    u_value: int = 14  # three coefficients: linear form at u, without its constant
    v_value: int = 17
    square: int = 20  # constant and two coefficients: the term in y^2
    cube: int = 23  # constant and one coefficient: the term in y^3


class Words(NamedTuple):
    """Columns of int64: constants of linear forms modulo 1, in units of 2^-64."""

    value: int = 0
    u_value: int = 1
    v_value: int = 2


REALS, WORDS = Reals(), Words()
REAL_COLUMNS, WORD_COLUMNS = 25, 3
