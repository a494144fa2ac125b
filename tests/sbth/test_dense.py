"""Dense matrices: reduction to a band with the same spectrum, and eigenvalues."""

import numpy as np
import pytest

import sbth


def symmetric(n, dtype=float):
    a = np.random.default_rng(n).standard_normal((n, n)).astype(dtype)
    return a + a.T


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "bandwidth"), [(1, 1), (2, 1), (5, 2), (30, 4), (64, 8), (65, 64)])
def test_the_spectrum_is_preserved(n, bandwidth, dtype):
    a = symmetric(n, dtype)
    ab = sbth.full_to_band(a, bandwidth, device="cpu")
    assert ab.dtype == dtype
    assert ab.shape == (min(bandwidth, n - 1) + 1, n)
    computed = np.linalg.eigvalsh(sbth.dense_from_band(ab).astype(float))
    true = np.linalg.eigvalsh(a.astype(float))
    scale = np.max(np.abs(true)) * np.finfo(dtype).eps * n
    assert np.max(np.abs(computed - true)) < 5 * scale


def test_only_the_lower_triangle_is_read_and_the_matrix_is_not_modified():
    a = symmetric(20)
    junk = a + np.triu(np.full((20, 20), np.nan), 1)
    before = junk.copy()
    ab = sbth.full_to_band(junk, 3, device="cpu")
    np.testing.assert_array_equal(ab, sbth.full_to_band(a, 3, device="cpu"))
    np.testing.assert_array_equal(junk, before)


@pytest.mark.parametrize("factor", [1e160, 1e-160])
def test_huge_and_tiny(factor):
    a = symmetric(40)
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


@pytest.mark.cuda
def test_on_a_gpu(require_cuda):
    pytest.importorskip("cupy")
    a = symmetric(300)
    true = np.linalg.eigvalsh(a)
    computed = sbth.eigvalsh(a, device="cuda")
    np.testing.assert_allclose(computed, true, atol=1e-12 * np.max(np.abs(true)))


def test_bad_input():
    with pytest.raises(ValueError, match="a must be a square matrix"):
        sbth.full_to_band(np.ones((2, 3)), device="cpu")
    with pytest.raises(ValueError, match="a must be finite"):
        sbth.full_to_band([[np.nan]], device="cpu")
    with pytest.raises(TypeError, match="a must be real"):
        sbth.full_to_band(np.eye(3, dtype=complex), device="cpu")
    with pytest.raises(ValueError, match="bandwidth must be an integer >= 1"):
        sbth.full_to_band(np.eye(3), 0, device="cpu")
