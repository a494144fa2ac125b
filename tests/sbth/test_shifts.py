"""Few eigenpairs next to a shift that is an eigenvalue, or nearly one: exact spectra, residuals."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator, splu

import sbth
from sparse_spectra import path_graph

LENGTH = 19
NORM = 8.0
DISTANCES = (0.0, 1e-17, 1e-14, 1e-11, 1e-8, 1e-5)


def neumann_grid():
    """Return the Laplacian of a grid with reflecting sides, and its eigenvalues."""
    path, of_path = path_graph(LENGTH)
    return sp.kronsum(path, path).tocsr(), np.sort(np.add.outer(of_path, of_path).ravel())


GRID, SPECTRUM = neumann_grid()
EIGENVALUES = {"single": 0.0, "double": SPECTRUM[1], "many": 4.0, "largest": SPECTRUM[-1]}


def nearest(sigma, k):
    """Return the k eigenvalues nearest to sigma."""
    order = np.argsort(np.abs(SPECTRUM - sigma), kind="stable")
    return np.sort(SPECTRUM[order[:k]])


def assert_pairs(a, w, v, expected, eps, limit=1e3):
    """Check eigenvalues, residuals and orthogonality in units of eps and the norm."""
    v = v.astype(np.promote_types(v.dtype, float))
    assert np.max(np.abs(w - expected)) < limit * eps * NORM
    assert np.max(np.linalg.norm(a @ v - v * w, axis=0)) < limit * eps * NORM
    assert np.max(np.abs(v.conj().T @ v - np.eye(v.shape[1]))) < 100 * eps


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("name", EIGENVALUES)
def test_residuals_are_small_at_any_distance(name, distance):
    for sign in (1.0, -1.0):
        sigma = EIGENVALUES[name] + sign * distance
        for matrix in (GRID, GRID.toarray()):
            pairs = sbth.eigsh(matrix, 6, sigma=sigma, method="lanczos")
            assert_pairs(GRID, *pairs, nearest(sigma, 6), np.finfo(float).eps)


@pytest.mark.parametrize("dtype", "fFD")
@pytest.mark.parametrize("name", EIGENVALUES)
def test_other_types(name, dtype):
    phases = np.exp(1j * np.arange(LENGTH**2)) if dtype in "FD" else np.ones(LENGTH**2)
    turn = sp.diags(phases)
    a = (turn @ GRID @ turn.conj()).astype(dtype)
    wide, eps = a.astype(np.promote_types(dtype, float)), np.finfo(a.dtype).eps
    for distance in (0.0, eps, 100 * eps, 1e-4, 1e-3):
        sigma = EIGENVALUES[name] + distance
        pairs = sbth.eigsh(a, 6, sigma=sigma, method="lanczos")
        assert_pairs(wide, *pairs, nearest(EIGENVALUES[name], 6), eps)


@pytest.mark.parametrize("which", ["LA", "SA", "BE"])
def test_other_ends_of_the_inverse(which):
    """An eigenvalue next to the shift that is not wanted may prevent the others."""
    for distance in (1e-13, 1e-9, 1e-6, 1e-3):
        sigma = float(SPECTRUM[40] + distance)
        below, above = SPECTRUM[SPECTRUM < sigma], SPECTRUM[SPECTRUM > sigma]
        nearest_ones = np.concatenate([below[-2:], above[:3]])
        expected = {"LA": above[:5], "SA": below[-5:], "BE": nearest_ones}[which]
        if which == "LA" and distance < 1e-6:
            with pytest.raises(sbth.NoConvergenceError, match=f"sigma={sigma!r}"):
                sbth.eigsh(GRID, 5, sigma=sigma, which=which, method="lanczos")
            continue
        pairs = sbth.eigsh(GRID, 5, sigma=sigma, which=which, method="lanczos")
        assert_pairs(GRID, *pairs, expected, np.finfo(float).eps, 1e5)


def inverse_for(sigma):
    """Return the inverse of the matrix less a shift, as an operator."""
    solve = splu((GRID - sigma * sp.identity(LENGTH**2)).tocsc()).solve
    return LinearOperator(GRID.shape, matvec=solve, dtype=float)


@pytest.mark.parametrize("distance", [1e-12, 1e-10, 1e-8])
def test_inverses_of_the_user(distance):
    for a in (GRID, aslinearoperator(GRID)):
        pairs = sbth.eigsh(a, 6, sigma=distance, OPinv=inverse_for(distance))
        assert_pairs(GRID, *pairs, nearest(distance, 6), np.finfo(float).eps)


def test_wrong_inverses():
    """That of another shift is an error, an inexact one a warning."""
    with pytest.raises(sbth.NoConvergenceError, match=r"sigma=0\.3 are up to") as caught:
        sbth.eigsh(GRID, 6, sigma=0.3, OPinv=inverse_for(0.7))
    assert caught.value.eigenvalues.shape == (6,)
    noise = np.random.default_rng(0).standard_normal((LENGTH**2, LENGTH**2))
    dense = np.linalg.inv(GRID.toarray() - 0.3 * np.eye(LENGTH**2))
    inverse = aslinearoperator(dense + 1e-9 * (noise + noise.T))
    with pytest.warns(RuntimeWarning, match="sigma=0.3"):
        w = sbth.eigsh(GRID, 6, sigma=0.3, OPinv=inverse, return_eigenvectors=False)
    np.testing.assert_allclose(w, nearest(0.3, 6), atol=1e-6)


def test_matrices_without_factors():
    identity, n = sp.identity(50, format="csr"), 50
    for a, value in ((identity, 1.0), (identity.toarray(), 1.0), (0.0 * identity, 0.0)):
        w, v = sbth.eigsh(a, 2, sigma=value, method="lanczos")
        np.testing.assert_allclose(w, value, rtol=0, atol=1e-14)
        np.testing.assert_allclose(v.T @ v, np.eye(2), rtol=0, atol=1e-14)
    path, of_path = path_graph(n)
    for scale in (1e-150, 1.0, 1e150):
        w, v = sbth.eigsh(path * scale, 4, sigma=0.0, method="lanczos")
        np.testing.assert_allclose(w / scale, of_path[:4], rtol=0, atol=1e-13)
        assert np.max(np.linalg.norm(path @ v - v * (w / scale), axis=0)) < 1e-13


def test_a_pivot_of_rounding_errors_of_rounding_errors():
    """In float32 the pivot is 1e-10 of a matrix of norm 4e15: its inverse hides all others."""
    n, values = 10, np.array([1.0, 2.0, 3.0, 4.0])
    d = np.resize(values, n).astype(np.float32)
    for size in (1e-10, 1e-12, 1e-14):
        a = sp.diags([np.full(n - 1, size), d, np.full(n - 1, size)], [-1, 0, 1])
        a = (a * 2.0**50).astype(np.float32).tocsr()
        w, v = sbth.eigsh(a, 7, sigma=2.0**51 + 1.0, method="lanczos")
        w, v, a = w / 2.0**50, v.astype(float), a.toarray().astype(float) / 2.0**50
        assert np.max(np.abs(np.sort(np.abs(w - 2.0)) - [0, 0, 0, 1, 1, 1, 1])) < 1e-4
        assert np.max(np.linalg.norm(a @ v - v * w, axis=0)) < 1e-4
