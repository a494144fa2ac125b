"""Tabulated differences on the CPU: threads share the polynomials, eight of which go together."""

import numba
import numpy as np

from hetero.jit import parallel
from studies.tmd.differences.formulas import add_words

LANES = 8
"""Polynomials that are moved on side by side: as many words as the widest vector holds."""


@parallel
def _advance(coefficients, out):
    count, words, polynomials = coefficients.shape
    for group in numba.prange((polynomials + LANES - 1) // LANES):
        begin = group * LANES
        lanes = min(LANES, polynomials - begin)
        c = np.zeros((count, words, LANES), np.uint64)
        carry = np.empty(LANES, np.uint64)
        c[:, :, :lanes] = coefficients[:, :, begin : begin + lanes]
        for i in range(out.shape[1]):
            out[0, i, begin : begin + lanes] = c[0, words - 1, :lanes]
            out[1, i, begin : begin + lanes] = c[0, words - 2, :lanes]
            for k in range(count - 1):
                carry[:] = 0
                for w in range(words):
                    for l in range(LANES):
                        c[k, w, l], carry[l] = add_words(c[k, w, l], c[k + 1, w, l], carry[l])


def upload(coefficients):
    """Return the coefficients, which the host's loops read where they are."""
    return coefficients


def advance(coefficients, out):
    """Fill `out` with the values of all polynomials; see `Loops.advance`."""
    _advance(coefficients, out)


def wait():
    """Do nothing: `advance` returns when it is done."""
