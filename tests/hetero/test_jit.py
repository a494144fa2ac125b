"""The decorators of `hetero.jit`: division by zero, and options."""

import math

import numba

from hetero.jit import parallel, scalar, scalar_internal, serial


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
