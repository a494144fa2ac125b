"""Subsets of eigenpairs at clusters: their number, residuals, orthogonality and indices.

The oracle is NumPy's list of all eigenvalues, and products of the dense matrices.
"""

import numpy as np
import pytest

import sbth
from hetero.cpu.threads import use_threads
from tridiagonal_matrices import dense, glued_wilkinson

EPS = np.finfo(float).eps


def assert_pairs(a, w, v, b=None):
    """Check residuals and orthogonality to n eps."""
    n, eps = len(a), np.finfo(w.dtype).eps
    b = np.eye(n) if b is None else b
    v = v.astype(np.promote_types(v.dtype, float))
    assert v.shape == (n, len(w))
    assert np.linalg.norm(v.conj().T @ b @ v - np.eye(len(w)), 1) < n * eps
    residuals = np.linalg.norm(a @ v - b @ v * w, axis=0)
    assert np.max(residuals, initial=0.0) <= n * eps * np.linalg.norm(a, 2)


def assert_subset(a, every, w, v, first, last, b=None):
    """Check that (w, v) are the pairs number first, ..., last, whose values `every` lists."""
    assert_pairs(a, w, v, b)
    assert w.shape == (last - first + 1,)
    limit = len(a) * np.finfo(w.dtype).eps * np.abs(every).max()
    assert np.max(np.abs(w - every[first : last + 1])) < limit


def reflection(n, dtype):
    """Return I - 2 v v^H for a random unit vector v."""
    rng = np.random.default_rng(n)
    v = rng.standard_normal(n) + (1j * rng.standard_normal(n) if dtype in "FD" else 0)
    v /= np.linalg.norm(v)
    a = np.eye(n) - 2.0 * np.outer(v, v.conj())
    return (0.5 * (a + a.conj().T)).astype(dtype)


@pytest.mark.parametrize("dtype", "fdFD")
@pytest.mark.parametrize("n", [66, 100, 200])
def test_as_many_pairs_of_a_reflection_as_asked(n, dtype):
    projection = (np.eye(n) - np.full((n, n), 1.0 / n)).astype(dtype)
    for a in (projection, reflection(n, dtype)):
        wide = a.astype(np.promote_types(dtype, float))
        every = np.linalg.eigvalsh(wide)
        for first, last in ((0, 0), (n - 1, n - 1), (n - 3, n - 2), (n // 2, n // 2 + 5)):
            pairs = sbth.eigh(a, subset_by_index=(first, last), device="cpu")
            assert_subset(wide, every, *pairs, first, last)
            band = np.array([np.append(np.diag(a, -k), np.zeros(k)) for k in range(n)])
            options = {"select": "i", "select_range": (first, last), "device": "cpu"}
            assert_subset(wide, every, *sbth.eig_banded(band, lower=True, **options), first, last)


def test_as_many_pairs_of_a_pencil_of_a_projection_as_asked():
    n = 100
    p, b = np.eye(n) - np.full((n, n), 1.0 / n), 2.0 * np.eye(n)
    every = np.linalg.eigvalsh(p) / 2.0
    for first, last in ((n - 1, n - 1), (n - 3, n - 2)):
        w, v = sbth.eigh(p, b, subset_by_index=(first, last), device="cpu")
        assert_subset(p, every, w, v, first, last, b)


def repeated_diagonal(n):
    """Return a matrix with clusters of n / 4 eigenvalues."""
    return np.resize([0.0, 5.0, 10.0, 15.0], n), np.full(n - 1, 0.05)


CLUSTERS = {
    "repeated diagonal": repeated_diagonal,
    **{f"glue {g:g}": lambda n, g=g: glued_wilkinson(n, 21, g) for g in (1e-14, 1e-8, 1e-4)},
}


@pytest.mark.parametrize("kind", CLUSTERS)
@pytest.mark.parametrize("n", [50, 105, 190])
def test_tridiagonal_subsets_at_clusters(n, kind):
    d, e = CLUSTERS[kind](n)
    a, unit = dense(d, e)
    d, e = d / unit, e / unit
    every = np.linalg.eigvalsh(a)
    band = np.vstack([d, np.append(e, 0.0)])
    for first in (0, n // 4, (9 * n) // 11):
        for count in (1, n // 12, n // 6):
            last = min(first + count, n) - 1
            index = {"select": "i", "select_range": (first, last), "device": "cpu"}
            for method in ("auto", "lapack"):
                pairs = sbth.eigh_tridiagonal(d, e, **index, method=method)
                assert_subset(a, every, *pairs, first, last)
            assert_subset(a, every, *sbth.eig_banded(band, lower=True, **index), first, last)
            low, high = every[first] - n * EPS, every[last] + n * EPS
            low = low if first else -np.inf
            w, v = sbth.eigh_tridiagonal(d, e, select="v", select_range=(low, high), device="cpu")
            assert_pairs(a, w, v)
            inside = np.searchsorted(every, (low + 2 * n * EPS, high - 2 * n * EPS))
            around = np.searchsorted(every, (low - n * EPS, high + n * EPS))
            assert inside[1] - inside[0] <= len(w) <= around[1] - around[0]
            assert np.all(np.min(np.abs(every[:, None] - w), axis=0) < n * EPS)


def projection(n, rank):
    """Return a projection to a random space."""
    q = np.linalg.qr(np.random.default_rng(n).standard_normal((n, rank)))[0]
    return q @ q.T


def test_intervals_without_a_number_in_single_precision():
    a = projection(54, 3).astype(np.complex64)
    w, v = sbth.eigh(a, subset_by_value=(0.99999999, 1.0 + 1e-9), device="cpu")
    assert_pairs(a.astype(complex), w, v)
    assert len(w) <= 3
    w, v = sbth.eigh(a, subset_by_value=(0.5, 0.5 + 1e-12), device="cpu")
    assert v.shape == (54, 0)


@pytest.mark.parametrize("size", [1e-150, 1e150])
def test_matrices_near_the_ends_of_the_range(size):
    d, e = glued_wilkinson(105, 21, 1e-8)
    w, v = sbth.eigh_tridiagonal(
        d * size, e * size, select="i", select_range=(89, 104), device="cpu"
    )
    a, unit = dense(d, e)
    assert_subset(a, np.linalg.eigvalsh(a), w / size / unit, v, 89, 104)


def adjacency_of_a_hypercube(dimension):
    """Return the adjacency matrix of a hypercube, with the eigenvalues d - 2 j, d over j times."""
    a = np.zeros((1, 1))
    for _ in range(dimension):
        a = np.kron(a, np.eye(2)) + np.kron(np.eye(len(a)), [[0.0, 1.0], [1.0, 0.0]])
    return a


BOTH_ENDS = {
    **{f"hypercube of order {2**d}": adjacency_of_a_hypercube(d) for d in (4, 6, 7)},
    "identity": np.eye(60),
    "zero": np.zeros((60, 60)),
    "equal to rounding": np.diag(1.0 + 1e-14 * np.random.default_rng(0).standard_normal(90)),
    "projection": projection(90, 3),
    "1 and -1": np.diag(np.resize([1.0, -1.0], 80)),
    "repeated diagonal": dense(*repeated_diagonal(120))[0],
}
"""Matrices with clusters that are met from both ends."""


@pytest.mark.parametrize("kind", BOTH_ENDS)
@pytest.mark.parametrize("which", ["LM", "SM", "BE", "LA", "SA"])
def test_ranges_of_a_reduction_share_no_vector(which, kind):
    a = BOTH_ENDS[kind]
    every = np.linalg.eigvalsh(a)
    for sigma in (None, 0.0, 1.0, 0.5):
        for k in (1, 2, 5, 10, 23):
            with use_threads(1):
                if k >= len(a):
                    continue
                w, v = sbth.eigsh(a, k, which=which, sigma=sigma, method="band")
            assert_pairs(a, w, v)
            nearest = np.abs(every[:, None] - w).min(axis=0)
            assert np.max(nearest) < len(a) * EPS * max(np.abs(every).max(), 1.0)


def test_intervals_that_end_at_a_pivot_or_an_eigenvalue():
    """Sturm's count has a pivot of 0 at the first d; strided arrays are no arrays for LAPACK."""
    d, e = np.random.default_rng(3).integers(-2, 3, (2, 12)).astype(float)
    e = np.where(e[1:] == 0.0, 1.0, e[1:])
    every = np.linalg.eigvalsh(np.diag(d) + np.diag(e, 1) + np.diag(e, -1))
    for ends in ((-np.inf, d[0]), (d[0], np.inf), (every[3], every[5]), (-1e-300, every[7])):
        for diagonal in (d, d[::-1].copy()[::-1], d.astype(np.float32)):
            below, slack = e.astype(diagonal.dtype), 500 * np.finfo(diagonal.dtype).eps
            for method in ("auto", "sbth"):
                w, v = sbth.eigh_tridiagonal(diagonal, below, False, "v", ends, method=method)
                assert v.shape == (12, len(w))
                assert np.all((ends[0] < w.astype(float)) & (w.astype(float) <= ends[1]))
                around = np.sum((ends[0] - slack < every) & (every <= ends[1] + slack))
                inside = np.sum((ends[0] + slack < every) & (every <= ends[1] - slack))
                assert inside <= len(w) <= around


def test_an_eigenvector_of_an_interval_is_a_number():
    """LAPACK's cheevr gives NaN for the only eigenvector in this interval, and info = 0."""
    a = np.diag(np.array([-9.5688766e11, 3.3199984e11, -9.3867821e-17, 1.6582355, -3.0072748e12]))
    a = a.astype(np.complex64)
    below = [3.3381414e11 + 1.2779777e12j, -1.9942861e-02 + 1.5696961e-02j]
    below += [6.7226535e-09 + 1.9337392e-09j, -9.4980590e06 + 1.3921827e07j]
    a[range(1, 5), range(4)] = below
    w, v = sbth.eigh(a, subset_by_value=(-3007274811486.4478, -1.0), device="cpu")
    whole = a + np.tril(a, -1).conj().T
    assert np.abs(whole @ v - v * w).max() < 1e-6 * 3e12


def test_dust_on_a_diagonal_leaves_eigenvalues_as_they_are():
    """LAPACK's sterf divides by squares of it, which are subnormal: it gave 4.84 for 5."""
    d, e = np.array([1e-151, 8e-162, 4e-161]), np.array([5.0, 1e-151])
    for scale in (1.0, 1e-100, 1e150):
        values = sbth.eigvalsh_tridiagonal(d * scale, e * scale, method="lapack")
        np.testing.assert_allclose(values / scale, [-5.0, 0.0, 5.0], atol=4 * EPS)
