"""Eigenvalues of tridiagonal matrices by bisection, of bands, and of blocks that do not touch."""

import mpmath
import numpy as np
import pytest
import scipy.linalg

import sbth
from hermitian_matrices import tridiagonal

EPS = np.finfo(float).eps


def solve(d, e, device, **options):
    """Return eigenvalues by bisection."""
    return sbth.eigvalsh_tridiagonal(d, e, **options, device=device, method="sbth")


def error(computed, true):
    """Return the largest error in units of eps times the largest eigenvalue."""
    return np.max(np.abs(computed - true)) / (np.max(np.abs(true)) * EPS)


@pytest.mark.parametrize("n", [1, 2, 3, 17, 200, 1500])
def test_random_matrices(device, n):
    rng = np.random.default_rng(n)
    d, e = rng.standard_normal(n), rng.standard_normal(n - 1)
    assert error(solve(d, e, device), np.linalg.eigvalsh(tridiagonal(d, e))) < 10 + n


def test_arrays_of_the_other_byte_order_keep_their_precision():
    d, e = np.ones(3, ">f4"), np.full(2, 0.5, ">f4")
    computed = sbth.eigvalsh_tridiagonal(d, e)
    assert computed.dtype == np.float32
    np.testing.assert_array_equal(
        computed, sbth.eigvalsh_tridiagonal(d.astype(np.float32), e.astype(np.float32))
    )
    assert sbth.full_to_band(np.eye(3, dtype=">f4"), 1).dtype == np.float32
    assert sbth.tridiagonalize(np.ones((2, 3), ">f4"))[0].dtype == np.float32


def exact_pair(a, b, c):
    """Eigenvalues of [[a, b], [b, c]] with 700 digits, rounded once."""
    with mpmath.workdps(700):
        a, b, c = map(mpmath.mpf, (a, b, c))
        root = mpmath.sqrt((a - c) ** 2 + 4 * b * b)
        return [float((a + c - root) / 2), float((a + c + root) / 2)]


@pytest.mark.parametrize("lower", [False, True])
def test_each_block_is_accurate_to_its_own_norm(device, lower):
    rng = np.random.default_rng(2)
    band, expected = np.zeros((2, 60)), []
    for j in range(0, 60, 2):
        a, b, c = rng.standard_normal(3) * 10.0 ** rng.integers(-150, 150)
        band[:, j : j + 2] = ((a, c), (b, 0.0)) if lower else ((0.0, b), (a, c))
        expected += exact_pair(a, b, c)
    values = sbth.eigvals_banded(band, lower=lower, device=device, method="sbth")
    order = np.argsort(expected)
    norms = np.maximum.reduceat(np.abs(expected), np.arange(0, 60, 2)).repeat(2)[order]
    errors = np.abs(values - np.array(expected)[order])
    assert np.max(errors / norms) < 8 * np.finfo(float).eps
    diagonals = (band[0], band[1, :-1]) if lower else (band[1], band[0, 1:])
    values = sbth.eigvalsh_tridiagonal(*diagonals, device=device, method="sbth")
    assert np.max(np.abs(values - np.array(expected)[order]) / norms) < 8 * np.finfo(float).eps


def test_a_graded_matrix_that_is_not_split_by_zeros_is_split_where_it_may_be(device):
    """The off-diagonal elements are far below eps times the geometric mean of their neighbours."""
    d = 10.0 ** np.arange(0, -100, -10.0)
    e = 1e-20 * np.sqrt(d[:-1] * d[1:])
    np.testing.assert_allclose(
        sbth.eigvalsh_tridiagonal(d, e, device=device, method="sbth"), d[::-1], rtol=1e-15
    )


@pytest.mark.parametrize(
    ("select", "select_range"), [("i", (0, 6)), ("i", (20, 25)), ("v", (-1.0, 1e-30)), ("a", None)]
)
def test_selections_are_those_of_the_whole_matrix(device, select, select_range):
    rng = np.random.default_rng(3)
    blocks = [b + b.T for b in (rng.standard_normal((4, 4)) * s for s in (1e-60, 1.0, 1e50))]
    singles = rng.standard_normal(14)
    band = sbth.band_from_dense(scipy.linalg.block_diag(*blocks, *singles))
    expected = np.sort(np.concatenate([*map(np.linalg.eigvalsh, blocks), singles]))
    if select == "i":
        expected = expected[select_range[0] : select_range[1] + 1]
    elif select == "v":
        expected = expected[(expected > -1.0) & (expected <= 1e-30)]
    values = sbth.eigvals_banded(
        band, select=select, select_range=select_range, device=device, method="sbth"
    )
    np.testing.assert_allclose(values, expected, rtol=1e-13, atol=1e-75)


@pytest.mark.parametrize("dtype", [np.float64, np.complex128, np.float32, np.complex64])
@pytest.mark.parametrize("lower", [True, False])
def test_blocks_of_a_full_matrix_keep_their_digits(dtype, lower):
    """Three blocks in random order, of magnitudes that no common factor brings into range."""
    rng, n = np.random.default_rng(3), 9
    largest = 1e200 if np.finfo(dtype).dtype == np.float64 else 1e25
    a, expected = np.zeros((n, n), dtype), []
    order = rng.permutation(n)
    for rows, size in zip(np.split(order, 3), (largest, 1.0, 1.0 / largest), strict=True):
        block = rng.standard_normal((3, 3)) + 1j * rng.standard_normal((3, 3))
        block = (block + block.conj().T if np.iscomplexobj(a) else (block + block.T).real) * size
        block = block.astype(dtype)
        a[np.ix_(rows, rows)] = block
        expected += list(
            np.linalg.eigvalsh((block / block.real.dtype.type(size)).astype(complex)) * size
        )
    expected, eps = np.sort(expected), np.finfo(dtype).eps
    limit = 100 * eps * np.maximum(np.abs(expected), np.finfo(dtype).tiny)
    given = np.tril(a) if lower else np.triu(a)
    w, v = sbth.eigh(given, lower=lower, device="cpu")
    assert np.all(np.abs(w - expected) <= limit)
    assert np.max(np.abs(v.conj().T @ v - np.eye(n))) < 20 * eps
    wide = np.complex128 if largest < 1e100 else np.clongdouble
    residuals = np.abs(a.astype(wide) @ v - v.astype(wide) * w) / np.abs(expected)
    assert np.max(residuals) < 200 * eps
    w, v = sbth.eigh(given, lower=lower, subset_by_index=(2, 5), device="cpu")
    assert np.all(np.abs(w - expected[2:6]) <= limit[2:6])
    assert v.shape == (n, 4)
    stack = np.array([given, given])
    w, v = sbth.eigh(stack, lower=lower, device="cpu")
    assert np.all(np.abs(w - expected) <= limit)
    if lower:
        for values in (sbth.eigvalsh(given, device="cpu"), *sbth.eigvalsh(stack, device="cpu")):
            assert np.all(np.abs(values - expected) <= limit)
        values = sbth.eigsh(a, n - 1, which="LM", method="band", return_eigenvectors=False)
        np.testing.assert_array_less(
            np.min(np.abs(expected[:, None] - values), axis=0), limit.max()
        )


def test_small_elements_beside_huge_ones_are_exact(device):
    diagonal = 10.0 ** np.linspace(-200, 200, 41) * np.where(np.arange(41) % 3, 1.0, -1.0)
    expected = np.sort(diagonal)
    np.testing.assert_array_equal(
        sbth.eigvals_banded(diagonal[None], device=device, method="sbth"), expected
    )
    none = np.zeros(40)
    np.testing.assert_array_equal(
        sbth.eigvalsh_tridiagonal(diagonal, none, device=device, method="sbth"), expected
    )
