"""The decorators of `hetero.jit`: division by zero, and options."""

import math

import numba

from hetero.jit import FUSED, parallel, scalar, scalar_internal, serial


def quotient(x, y):
    return x / y


def test_division_by_zero_follows_ieee():
    assert scalar(quotient)(1.0, 0.0) == math.inf
    assert serial(quotient)(-1.0, 0.0) == -math.inf


def test_options_can_be_given_to_a_decorator():
    @scalar_internal(fastmath=True)
    def twice(x):
        return x + x

    @parallel(fastmath=True)
    def loop(n):
        total = 0.0
        for i in numba.prange(n):
            total += twice(float(i))
        return total

    assert loop(4) == 12.0


def test_a_formula_does_not_inherit_the_options_of_its_first_caller():
    """Else its last bits would depend on what a process has called before."""

    @scalar
    def combine(x, y, z):
        return x * y + z

    @serial(fastmath=FUSED)
    def loop(x, y, z):
        return combine(x, y, z)

    x, y = 1.0 + 2.0**-30, 1.0 - 2.0**-30
    assert loop(x, y, -1.0) == 0.0  # with one rounding it would be -2^-60
    assert combine(x, y, -1.0) == 0.0
