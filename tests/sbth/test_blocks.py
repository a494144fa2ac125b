"""Matrices of blocks that do not touch: each block is as accurate as if it were alone."""

import mpmath
import numpy as np
import pytest
import scipy.linalg

import sbth


def exact_pair(a, b, c):
    """Eigenvalues of [[a, b], [b, c]] with 700 digits, rounded once."""
    with mpmath.workdps(700):
        a, b, c = map(mpmath.mpf, (a, b, c))
        root = mpmath.sqrt((a - c) ** 2 + 4 * b * b)
        return [float((a + c - root) / 2), float((a + c + root) / 2)]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("rows", [1, 3])
def test_a_diagonal_matrix_gives_its_elements(device, dtype, rows):
    diagonal = np.random.default_rng(1).standard_normal(100).astype(dtype)
    band = np.zeros((rows, 100), dtype)
    band[-1] = diagonal
    values = sbth.eigvals_banded(band, device=device, method="sbth")
    np.testing.assert_array_equal(values, np.sort(diagonal))
    assert values.dtype == dtype


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


def test_small_and_bad_matrices():
    assert sbth.eigvals_banded(np.zeros((1, 0))).shape == (0,)
    assert sbth.eigvalsh_tridiagonal([3.0], []).tolist() == [3.0]
    assert sbth.eigvals_banded(np.zeros((3, 4))).tolist() == [0.0] * 4
    for band, place in (
        ([[1.0, 2.0, 3.0, np.nan, 5.0]], r"\(3, 3\)"),
        ([[1.0, 2.0, 3.0, np.inf, 5.0]], r"\(3, 3\)"),
        ([[0.0, 0.0, np.nan, 0.0], [1.0, 2.0, 3.0, 4.0]], r"\(2, 1\)"),
    ):
        with pytest.raises(ValueError, match=rf"a_band holds (nan|inf) for element {place}"):
            sbth.eigvals_banded(np.array(band))


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
