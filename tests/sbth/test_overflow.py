"""Overflow is an error that names the user's argument; everything else is computed."""

import numpy as np
import pytest

import sbth

N = 9
ONES = np.ones((N, N))
"""All ones: one eigenvalue is N, the others are 0."""


def limits(dtype):
    """Return a factor with which N overflows, and a large one with which it does not."""
    largest = np.finfo(dtype).max
    return largest / dtype(2.0), largest / dtype(16.0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_an_eigenvalue_that_overflows_is_an_error(device, dtype):
    large, small = limits(dtype)
    ab, full = ONES.astype(dtype), ONES.astype(dtype)
    message = f"is too large: an eigenvalue exceeds the largest {np.dtype(dtype)}"
    with pytest.raises(ValueError, match=f"^a_band {message}"):
        sbth.eigvals_banded(ab * large, device=device, method="sbth")
    with pytest.raises(ValueError, match=f"^a {message}"):
        sbth.eigvalsh(full * large, device="cpu")
    values = sbth.eigvals_banded(ab * small, device=device, method="sbth")
    np.testing.assert_allclose(values / small, [0] * (N - 1) + [N], atol=1e-5)
    with pytest.raises(ValueError, match=r"^ab is too large: its tridiagonal form exceeds"):
        sbth.tridiagonalize(ab * large, device=device)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_tridiagonal_eigenvalues_do_not_become_infinite(device, dtype):
    """2 d cos(pi / 31) and the like: the outermost overflow, those in the middle do not."""
    large = np.finfo(dtype).max
    d, e = np.zeros(30, dtype), np.full(29, large, dtype)
    with pytest.raises(ValueError, match=r"^d, e is too large: an eigenvalue exceeds"):
        sbth.eigvalsh_tridiagonal(d, e, device=device, method="sbth")
    middle = sbth.eigvalsh_tridiagonal(d, e, "i", (12, 17), device=device, method="sbth")
    true = np.sort(2.0 * np.cos(np.pi * np.arange(1, 31) / 31))[12:18]
    assert middle.dtype == dtype
    np.testing.assert_allclose(middle / large, true, atol=1e-6)


@pytest.mark.filterwarnings("error")
def test_selected_eigenvalues_survive_an_overflow_of_others(device):
    """The tridiagonal form of this matrix overflows; the selected eigenvalue is 0."""
    large, _ = limits(np.float64)
    low = {"select": "i", "select_range": (0, 3), "method": "sbth"}
    for values in (
        sbth.eigvals_banded(ONES * large, **low, device=device),
        sbth.eigvalsh(ONES * large, select="i", select_range=(0, 3), device="cpu"),
        sbth.eigh(ONES * large, subset_by_index=(0, 3), device="cpu")[0],
    ):
        assert np.max(np.abs(values)) < 1e-13 * large
    window = {"select": "v", "select_range": (-0.1 * large, 0.1 * large), "method": "sbth"}
    assert sbth.eigvals_banded(ONES * large, **window, device=device).shape == (N - 1,)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("lower", [False, True])
def test_storage_beyond_the_matrix_is_no_part_of_it(lower):
    """LAPACK scales such a matrix, and refused to with more subdiagonals than rows."""
    band = np.full((6, 3), np.inf)
    for k in range(3):
        band[k, : 3 - k] = 1.0
    band = band if lower else band[::-1, ::-1].copy()
    for method, size, dtype in (("lapack", 1e147, "d"), ("sbth", 1e147, "d"), ("auto", 1e160, "D")):
        ab = (band * size).astype(dtype)
        values = sbth.eigvals_banded(ab, lower, method=method, device="cpu")
        np.testing.assert_allclose(values / size, [0.0, 0.0, 3.0], atol=1e-15)


def test_bands_and_batches_that_overflow_are_errors():
    large, small = limits(np.float64)
    with pytest.raises(ValueError, match=r"^a is too large: its band form exceeds the largest flo"):
        sbth.full_to_band(ONES * large, 2, device="cpu")
    assert np.isfinite(sbth.full_to_band(ONES * small, 2, device="cpu")).all()
    with pytest.raises(ValueError, match=r"a is too large: an eigenvalue exceeds"):
        sbth.eigvalsh(np.stack([ONES, ONES * large, ONES]), device="cpu")


@pytest.mark.parametrize("vectors", [False, True])
def test_a_complex_element_whose_magnitude_overflows_is_an_error(vectors):
    """The parts of the element are finite, but not its magnitude, which is an eigenvalue."""
    x = 1.5e308 + 1.5e308j
    full = np.array([[0, np.conj(x)], [x, 0]])
    options = {"eigvals_only": not vectors, "device": "cpu", "lower": True}
    with pytest.raises(ValueError, match=r"^a is too large: an eigenvalue exceeds"):
        sbth.eigh(full, **options)
    with pytest.raises(ValueError, match=r"^a_band is too large: an eigenvalue exceeds"):
        sbth.eig_banded(np.array([[0, 0], [x, 0]]), **options)
