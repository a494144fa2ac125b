"""Kernels of tmd.

Those of phases 1 and 2 are made for each Boolean test: tests/tmd/test_kernel_budgets.py has them.
"""

from numba import typeof, types

from kernel_budgets.budget import Budget, array, boolean, f8, i8, u8
from tmd._search.cuda_kernels import Candidates, Pieces
from tmd._search.line_formulas import Shape, SuperBlocks

SHAPE = typeof(Shape(40, 16, 12, 9))

KERNELS = {
    "tmd._search.cuda_kernels.list_candidates": Budget(
        (
            array(u8, 3),
            types.NamedTuple((array(u8), boolean, u8, u8), Pieces),
            array(u8),
            array(u8),
            SHAPE,
            types.NamedTuple((array(i8), array(u8), array(u8)), Candidates),
        ),
        128,
        float64=False,
    ),
}

NUMBERS = {float: f8}
"""Numba's type of a test's numbers; for words it is u8."""


def phase_1_signature(number) -> tuple:
    """Return the argument types of phase 1 for a test on numbers of this type."""
    super_blocks = (array(u8, 3), array(u8), array(u8), array(number))
    return (types.NamedTuple(super_blocks, SuperBlocks), SHAPE, number, u8, array(u8), array(i8))


def phase_2_signature(number) -> tuple:
    """Return the argument types of phase 2 for a test on numbers of this type."""
    inputs = (array(u8, 3), array(u8), array(u8), array(number))
    return (*inputs, SHAPE, number, array(u8), array(i8))
