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


@pytest.mark.parametrize("factor", [1e160, 1e-160])
def test_huge_and_tiny(factor):
    a = hermitian(40)
    computed = sbth.eigvalsh(a * factor, device="cpu")
    true = np.linalg.eigvalsh(a)
    np.testing.assert_allclose(computed / factor, true, atol=1e-12 * np.max(np.abs(true)))


def test_special_matrices():
    np.testing.assert_allclose(sbth.eigvalsh(np.eye(90), device="cpu"), np.ones(90), rtol=1e-14)
    zero = sbth.full_to_band(np.zeros((90, 90)), 8, device="cpu")
    assert not zero.any()
    diagonal = np.diag(np.arange(90.0))
    np.testing.assert_allclose(sbth.eigvalsh(diagonal, device="cpu"), np.arange(90), atol=1e-12)
    assert sbth.eigvalsh(np.zeros((0, 0)), device="cpu").shape == (0,)


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
