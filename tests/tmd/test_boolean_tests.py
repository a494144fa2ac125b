"""Boolean tests never miss a close argument, and their false alarms are rare."""

import itertools

import numba
import numpy as np
import pytest

from hetero.jit import scalar
from tmd._search.formulas.boolean_test_formulas import (
    ALGORITHMS,
    DIVISIONS,
    UNIT_BITS,
    compile_test,
)

SIZE = 40_000


def problems(bits: int, seed: int = 0):
    """Return slopes of many kinds (any, near fractions, short, tiny, near 1), offsets, lengths."""
    rng = np.random.default_rng(seed)
    one = 1 << bits
    kind = rng.integers(0, 6, SIZE)
    a = rng.integers(0, one, SIZE, dtype=np.uint64)
    den = rng.integers(1, 64, SIZE)
    num = rng.integers(0, 64, SIZE) % den
    shift = rng.integers(0, bits - 1, SIZE)
    deviation = rng.integers(-3, 4, SIZE)
    near = [
        (int(n) * (one // int(d)) + int(o) * (1 << int(s))) % one
        for n, d, o, s in zip(num, den, deviation, shift, strict=True)
    ]
    tiny = rng.integers(0, 1 << 20, SIZE).astype(np.uint64)
    a = np.where(kind == 0, np.array(near, np.uint64), a)
    short = rng.integers(0, 1 << 10, SIZE).astype(np.uint64) << np.uint64(bits - 10)
    a = np.where(kind == 1, short, a)
    a = np.where(kind == 2, tiny, a)
    a = np.where(kind == 3, np.uint64(one - 1) - tiny, a)
    b = rng.integers(0, one, SIZE, dtype=np.uint64)
    count = rng.integers(1, 150, SIZE).astype(np.uint64)
    bound = np.uint64(one) >> rng.integers(5, 14, SIZE).astype(np.uint64)
    return a, b, count, bound


@numba.njit
def brute_force(a, b, count, bound, mask):
    """Return whether an x < count has b - a x mod 1 <= bound, by trying them all."""
    out = np.empty(a.size, np.bool_)
    for i in range(a.size):
        y = least = b[i]
        for _ in range(count[i]):
            least = min(least, y)
            y = (y - a[i]) & mask
        out[i] = least <= bound[i]
    return out


def run_test(test, dtype, a, b, count, bound):
    """Return the answers and the rounds of a Boolean test for all problems."""

    @numba.njit
    def loop(a, b, count, bound, out, rounds):
        for i in range(a.size):
            out[i], rounds[i] = test(a[i], b[i], count[i], bound[i])

    out, rounds = np.empty(a.size, np.bool_), np.empty(a.size, np.int64)
    loop(*(x.astype(dtype) for x in (a, b, count, bound)), out, rounds)
    return out, rounds


# Every test runs once with floats and once with integers, and every division once.
QUICK = {(a, d) for a in ALGORITHMS for d in ("reciprocal", "integer")}
QUICK |= {("clipped", d) for d in DIVISIONS}


@pytest.mark.parametrize(
    ("algorithm", "division"),
    [
        pytest.param(*case, marks=() if case in QUICK else pytest.mark.slow)
        for case in itertools.product(ALGORITHMS, DIVISIONS)
    ],
)
def test_no_miss_and_few_false_alarms(algorithm, division):
    number = DIVISIONS[division][1]
    bits = UNIT_BITS[number]
    dtype = np.float64 if number is float else np.uint64
    a, b, count, bound = problems(bits)
    true = brute_force(a, b, count, bound, np.uint64((1 << bits) - 1))
    possible, _ = run_test(compile_test(algorithm, division), dtype, a, b, count, bound)
    assert 0.1 < true.mean() < 0.3
    assert not (true & ~possible).any()
    false = (possible & ~true).sum() / (~true).sum()
    assert false < (0.03 if algorithm in ("clipped", "lefevre", "swap") else 0.7)


@pytest.mark.parametrize("division", ["reciprocal", "float64"])
def test_float_quotients_are_exact(division):
    """Near multiples of the divisor a rounded quotient would be one too large."""
    rng = np.random.default_rng(3)
    y = np.floor(2.0 ** rng.uniform(0, 52, SIZE))
    k = np.floor(2.0 ** rng.uniform(0, 22, SIZE))
    k = np.minimum(k, np.floor(2.0**52 / y))
    x = np.clip(k * y + rng.integers(-2, 3, SIZE), 0, 2.0**52)
    compiled = scalar(DIVISIONS[division][0], cache=False)

    @numba.njit
    def loop(x, y, out):
        for i in range(x.size):
            out[i] = compiled(x[i], y[i], 1.0)

    out = np.empty_like(x)
    loop(x, y, out)
    expected = [int(a) // int(b) for a, b in zip(x, y, strict=True)]
    assert (out == np.array(expected)).all()
