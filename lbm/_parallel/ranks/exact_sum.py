"""Sums of floating-point numbers that do not depend on their order, nor on the number of ranks."""

from __future__ import annotations

from typing import Any

import numpy as np

_BOUND = 2.0**20
"""Numbers must be smaller than this; in lattice units all forces and momenta are."""

_DIGIT_BITS, _DIGITS = 30, 4
"""Each number is cut into four integers of 30 bits; the remainder, below 2^-100, is lost."""


class ExactSum:
    """A sum of rows of numbers, kept in integers.

    The integers of 2^33 rows do not overflow. If a number is not finite or too large, the sum is
    NaN.

    Parameters
    ----------
    count : numbers in a row
    """

    def __init__(self, count: int):
        self._digits = np.zeros((_DIGITS, count), np.int64)
        self._valid = True

    def add(self, rows: np.ndarray) -> None:
        """Add rows [i, k] in float64."""
        if not (np.abs(rows) < _BOUND).all():
            self._valid = False
            return
        remainder, unit = rows.astype(np.float64), _BOUND
        for digit in self._digits:
            unit *= 2.0**-_DIGIT_BITS
            whole = np.rint(remainder / unit)
            remainder = remainder - whole * unit  # exact: unit is a power of two
            digit += whole.astype(np.int64).sum(axis=0)

    def result(self, ranks: Any = None) -> np.ndarray:
        """Return the sum [k], over all ranks if there are several."""
        digits, valid = self._digits, self._valid
        if ranks is not None:
            digits, valid = ranks.sum(digits), ranks.all(valid)
        if not valid:
            return np.full(digits.shape[1], np.nan)
        total = [0] * digits.shape[1]
        for digit in digits:
            total = [(t << _DIGIT_BITS) + int(d) for t, d in zip(total, digit, strict=True)]
        scale = _BOUND * 2.0 ** (-_DIGIT_BITS * _DIGITS)
        return np.array([float(t) * scale for t in total])


def exact_sum(rows: np.ndarray, ranks: Any = None) -> np.ndarray:
    """Return the sum over rows [i, k] of all ranks."""
    total = ExactSum(rows.shape[1])
    total.add(rows)
    return total.result(ranks)
