"""Kernels of tmd. Phases 1 and 2 are made for each test: tests/tmd/test_kernel_budgets.py."""

from numba import typeof

from budget import Budget, array, boolean, f8, i8, u8
from tmd._scan_math import Shape

SHAPE = typeof(Shape(40, 16, 12, 9))

KERNELS = {
    "tmd._scan_cuda.third": Budget(
        (
            *(array(u8, 3), array(u8), boolean, u8, u8, array(u8), array(u8), SHAPE),
            *(array(i8), array(u8), array(u8)),
        ),
        128,
        float64=False,
    ),
}


def first(number):
    """Argument types of phase 1 with a test on floats or on words."""
    thresholds = array(u8), array(number)
    return (array(u8, 3), array(u8), *thresholds, SHAPE, number, u8, array(u8), array(i8))


def second(number):
    """Argument types of phase 2."""
    thresholds = array(u8), array(number)
    return (array(u8, 3), array(u8), *thresholds, SHAPE, number, array(u8), array(i8))


NUMBERS = {float: f8}
"""What a test's numbers are for Numba; words are u8."""
