"""Sums that do not depend on the order of their terms."""

import math

import numpy as np

from lbm._parallel.ranks.exact_sum import ExactSum, exact_sum


def test_it_is_the_correctly_rounded_sum():
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((1000, 3)) * 10.0 ** rng.integers(-12, 5, (1000, 3))
    expected = [math.fsum(column) for column in rows.T]
    assert np.array_equal(exact_sum(rows), expected)


def test_it_depends_on_neither_order_nor_pieces():
    rng = np.random.default_rng(2)
    rows = rng.standard_normal((999, 2)) * 1e-3
    total = ExactSum(2)
    for piece in np.array_split(rows[rng.permutation(999)], 7):
        total.add(piece)
    assert np.array_equal(total.result(), exact_sum(rows))
    assert np.array_equal(exact_sum(np.concatenate([rows, -rows])), [0.0, 0.0])


def test_numbers_that_are_not_finite_or_too_large_give_nan():
    for bad in (np.nan, np.inf, 2.0**20):
        assert np.isnan(exact_sum(np.array([[1.0], [bad]]))).all()
    assert exact_sum(np.zeros((0, 3))).tolist() == [0.0, 0.0, 0.0]
