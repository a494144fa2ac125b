"""Dense matrices: reduction to a band with the same spectrum, and eigenvalues."""

import numpy as np
import pytest

import sbth
from hermitian_matrices import hermitian


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "bandwidth"), [(1, 1), (2, 1), (5, 2), (30, 4), (64, 8), (65, 64)])
def test_the_spectrum_is_preserved(n, bandwidth, dtype):
    a = hermitian(n, dtype)
    ab = sbth.full_to_band(a, bandwidth, device="cpu")
    assert ab.dtype == dtype
    assert ab.shape == (min(bandwidth, n - 1) + 1, n)
    computed = np.linalg.eigvalsh(sbth.dense_from_band(ab).astype(float))
    true = np.linalg.eigvalsh(a.astype(float))
    scale = np.max(np.abs(true)) * np.finfo(dtype).eps * n
    assert np.max(np.abs(computed - true)) < 5 * scale


def test_only_the_lower_triangle_is_read_and_the_matrix_is_not_modified():
    a = hermitian(20)
    junk = a + np.triu(np.full((20, 20), np.nan), 1)
    before = junk.copy()
    ab = sbth.full_to_band(junk, 3, device="cpu")
    np.testing.assert_array_equal(ab, sbth.full_to_band(a, 3, device="cpu"))
    np.testing.assert_array_equal(junk, before)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((np.ones((2, 3)),), ValueError, "a must be a square matrix"),
        (([[np.nan]],), ValueError, "a must be finite"),
        ((np.eye(3, dtype=complex),), TypeError, "a must be real"),
        ((np.eye(3), 0), ValueError, "bandwidth must be an integer >= 1"),
    ],
)
def test_bad_input(arguments, error, message):
    with pytest.raises(error, match=message):
        sbth.full_to_band(*arguments, device="cpu")
