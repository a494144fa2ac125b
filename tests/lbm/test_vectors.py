"""Vectors of cells against NumPy, and their loads and stores at the ends of arrays."""

import itertools
import math

import numpy as np
import pytest
from numba import float64

from hetero.jit import scalar, serial
from lbm._kernels.intrinsics import vector_memory
from lbm._kernels.intrinsics.vector_memory import pointer_to, prefetch
from lbm._kernels.intrinsics.vector_width import vector_lanes

AROUND, UNTOUCHED = 20, 7.0  # numbers at both ends that a loop must not write, and their value


@scalar
def formula(x, y, rate):
    """A formula with every operation of vectors, written for numbers too."""
    T = type(x)
    z = -x * y + T(2) / y
    z += rate * x
    z -= abs(x)
    z *= rate
    return math.sqrt(z * z) + T(1) / (3 * y) - y / 2 + (+x)


def make_loop(lanes):
    load, store = vector_memory.make_load_part(lanes), vector_memory.make_store_part(lanes)

    @serial
    def loop(a, b, out, rate, n, shift):
        pa, pb, target = pointer_to(a), pointer_to(b), pointer_to(out)
        for i in range(-shift, n, lanes):
            prefetch(pa, i + 1000)
            result = formula(load(pa, i, i, n), load(pb, i, i, n), rate)
            store(target, i + AROUND, result, i, n)

    return loop


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("share", [1, 2])
def test_a_formula_compiles_for_vectors_and_numbers(dtype, share):
    loop = make_loop(vector_lanes(dtype) // share)
    a, b = (1 + np.random.default_rng(0).random((2, 37))).astype(dtype)
    numbers = np.array([formula(x, y, dtype(0.7)) for x, y in zip(a, b, strict=True)])
    for n, shift in itertools.product((1, 16, 37), (0, 1, 3)):
        out = np.full(37 + 2 * AROUND, UNTOUCHED, dtype)
        loop(a, b, out, dtype(0.7), n, shift)
        before, written, after = np.split(out, [AROUND, AROUND + n])
        assert np.allclose(written, numbers[:n], rtol=4 * np.finfo(dtype).eps, atol=0)
        assert np.all(before == UNTOUCHED)
        assert np.all(after == UNTOUCHED)


def test_numbers_take_the_type_of_the_vector():
    """With numbers, float32 times float64 would be float64."""
    load, store = vector_memory.make_load(4), vector_memory.make_store(4)

    @serial
    def loop(data, factor):
        p = pointer_to(data)
        store(p, 0, 0.1 * (load(p, 0) * factor))

    data = np.arange(4, dtype=np.float32)
    loop(data, 3.0)  # a Python float is a float64
    expected = np.float32(0.1) * (np.arange(4, dtype=np.float32) * np.float32(3))
    assert np.array_equal(data, expected)


def test_unaligned_vectors_and_arrays_on_the_stack():
    load, store = vector_memory.make_load(8), vector_memory.make_store(8)
    stack_array = vector_memory.make_stack_array(float64, 24)

    @serial
    def loop(data):
        p, s = pointer_to(data), stack_array()
        store(s, 3, load(p, 1))
        total = 0.0
        for i in range(24):
            total += s[i]
        store(p, 2, load(s, 4))
        return total

    data = np.arange(10.0)
    assert loop(data) == np.arange(1.0, 9.0).sum()
    assert data.tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8, 0]
