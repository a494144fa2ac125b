"""A few eigenvectors of tridiagonal matrices: LAPACK's ratios, LAPACK's vectors, and the limits."""

import numpy as np
import pytest
import scipy.linalg

import sbth
from hetero import Device
from hetero.arrays import Workspace
from sbth import _eigenpairs
from sbth._inverse_iteration import iteration, selected_pairs
from sbth._inverse_iteration.iteration import compute_vectors
from tridiagonal_matrices import TYPES, dense, exact_pairs, glued_wilkinson, known_spectrum, random

EPS = np.finfo(float).eps
THRESHOLD = 5.0
"""LAPACK's test programs accept 20; values below 1.1 were seen."""


@pytest.fixture(autouse=True)
def calls(monkeypatch):
    """Let small matrices be solved by inverse iteration; return whether its calls succeeded."""
    log = []

    def compute(*arguments):
        vectors = compute_vectors(*arguments)
        log.append(vectors is not None)
        return vectors

    monkeypatch.setattr(selected_pairs, "LEAST_ORDER", {"cpu": 20, "cuda": 20})
    monkeypatch.setattr(selected_pairs, "LARGEST_SHARE", {"cpu": 1 / 8, "cuda": 1 / 8})
    monkeypatch.setattr(selected_pairs, "compute_vectors", compute)
    return log


@pytest.fixture
def allow_all(monkeypatch):
    """Let inverse iteration compute any number of eigenvectors."""
    monkeypatch.setattr(selected_pairs, "LARGEST_SHARE", {"cpu": 1.0, "cuda": 1.0})


def solve(d, e, first, last, device="cpu"):
    return sbth.eigh_tridiagonal(
        d, e, select="i", select_range=(first, last), device=device, method="sbth"
    )


def assert_selected(d, e, w, v, first, eps=EPS):
    """Check residual, orthogonality and eigenvalues in LAPACK's units."""
    n, m = v.shape
    a, unit = dense(d.astype(float), e.astype(float))
    norm, scaled = np.linalg.norm(a, 1), w.astype(float) / unit
    v = v.astype(float)
    assert w.shape == (m,)
    assert np.all(np.diff(w) >= 0.0)
    assert np.linalg.norm(a @ v - v * scaled, 1) / (norm * n * eps) < THRESHOLD
    assert np.linalg.norm(v.T @ v - np.eye(m), 1) / (n * eps) < THRESHOLD
    exact = np.linalg.eigvalsh(a)[first : first + m]
    assert np.max(np.abs(scaled - exact)) / (norm * n * eps) < THRESHOLD


def few_blocks(n):
    """Return a random matrix with a tiny block, single rows, and blocks of the same magnitude."""
    d, e = random(n)
    e[[10, n // 2, n // 2 + 1, n - 2]] = 0.0
    d[:11] *= 1e-100
    e[:10] *= 1e-100
    return d, e


def twins(n):
    """Return two equal blocks, with pairs of equal eigenvalues."""
    d, e = random(n // 2)
    return np.concatenate([d, d]), np.concatenate([e, [0.0], e])


HARD = {
    **{kind: TYPES[kind] for kind in TYPES if kind not in ("zero", "identity")},
    **{
        f"glued by {glue}": lambda n, glue=glue: glued_wilkinson(n, 21, glue)
        for glue in (1e-5, 1e-7, 1e-12, 1e-14, 1e-16)
    },
    "equal eigenvalues": lambda n: (np.zeros(n), np.where(np.arange(1, n) % 2, 1.0, 1e-15)),
    "few blocks": few_blocks,
    "twins": twins,
}


@pytest.mark.parametrize("kind", HARD)
def test_ratios(device, kind):
    n = 300
    d, e = HARD[kind](n)
    for first, last in ((0, 0), (0, 29), (145, 155), (n - 30, n - 1), (n - 1, n - 1)):
        assert_selected(d, e, *solve(d, e, first, last, device), first)


@pytest.mark.parametrize(
    "kind", ["random", "Laplace", "Wilkinson", "glued by 1e-14", "few blocks", "equal eigenvalues"]
)
def test_inverse_iteration_is_taken_and_succeeds(device, kind, calls):
    d, e = HARD[kind](300)
    solve(d, e, 0, 29, device)
    assert calls
    assert all(calls)


@pytest.mark.parametrize("shape", ["spaced", "geometric", "clustered"])
def test_given_spectra(device, shape):
    n = 70
    values = {
        "spaced": np.linspace(1.0, EPS, n),
        "geometric": EPS ** (np.arange(n) / (n - 1)),
        "clustered": np.where(np.arange(n) == 0, 1.0, EPS),
    }[shape] * np.where(np.arange(n) % 2, 1.0, -1.0)
    d, e = known_spectrum(values)
    for first in (0, 31, n - 8):
        assert_selected(d, e, *solve(d, e, first, first + 7, device), first)


@pytest.mark.parametrize("kind", ["random", "Laplace", "glued Wilkinson", "twins"])
def test_all_vectors(device, kind, calls, allow_all):
    """Every pair of vectors is orthogonal, also of eigenvalues that are far from each other."""
    d, e = HARD[kind](120)
    assert_selected(d, e, *solve(d, e, 0, 119, device), 0)
    assert calls
    assert all(calls)


def test_thousands_of_equal_eigenvalues(device, calls):
    n = 3000
    d, e = HARD["equal eigenvalues"](n)
    w, v = solve(d, e, 1400, 1599, device)
    np.testing.assert_allclose(w, np.repeat([-1.0, 1.0], 100), rtol=0, atol=1e-13)
    product = np.zeros(v.shape)
    product[:-1] += e[:, None] * v[1:]
    product[1:] += e[:, None] * v[:-1]
    assert np.max(np.linalg.norm(product - v * w, axis=0)) < THRESHOLD * n * EPS
    assert np.linalg.norm(v.T @ v - np.eye(200), 1) < THRESHOLD * n * EPS
    assert calls == [True]


def test_vectors_are_those_of_lapack(device):
    """LAPACK's stein, also an inverse iteration, up to signs and to errors of eps over the gap."""
    n = 60
    d, e = np.arange(n) / 10.0, np.full(n - 1, 0.5)
    w, v = solve(d, e, 20, 26, device)
    values, vectors = scipy.linalg.eigh_tridiagonal(
        d, e, select="i", select_range=(20, 26), lapack_driver="stebz"
    )
    np.testing.assert_allclose(w, values, rtol=0, atol=1e-14)
    np.testing.assert_allclose(v * np.sign(np.sum(v * vectors, axis=0)), vectors, atol=1e-13)


def test_extended_precision(device):
    """Eigenvalues and vectors agree with those of 50 digits."""
    n = 24
    d, e = np.arange(n) / n, np.full(n - 1, 0.5)
    values, vectors = exact_pairs(d, e)
    w, v = solve(d, e, 10, 12, device)
    for k in range(3):
        exact = vectors[:, 10 + k]
        assert abs(w[k] - values[10 + k]) < 8 * EPS
        assert np.max(np.abs(v[:, k] * np.sign(v[:, k] @ exact) - exact)) < 1e-13


@pytest.mark.parametrize("kind", ["random", "few blocks", "twins"])
def test_intervals_of_values(device, kind, calls):
    d, e = HARD[kind](200)
    low, high = 0.1, 0.25
    every = sbth.eigvalsh_tridiagonal(d, e, device=device, method="sbth")
    w, v = sbth.eigh_tridiagonal(d, e, select="v", select_range=(low, high), device=device)
    first, stop = np.searchsorted(every, (low, high), side="right")
    assert 0 < stop - first == len(w)
    assert_selected(d, e, w, v, first)
    assert calls
    w, v = sbth.eigh_tridiagonal(d, e, select="v", select_range=(50.0, 60.0), device=device)
    assert (w.shape, v.shape) == ((0,), (200, 0))


def test_float32(device, calls):
    d, e = (x.astype(np.float32) for x in random(100))
    w, v = solve(d, e, 90, 99, device)
    assert w.dtype == v.dtype == np.float32
    assert_selected(d, e, w, v, 90, np.finfo(np.float32).eps)
    assert calls == [True]


@pytest.mark.parametrize("kind", ["random", "few blocks"])
def test_results_are_reproducible(device, kind):
    d, e = HARD[kind](300)
    first, second = (solve(d, e, 5, 20, device) for _ in range(2))
    for x, y in zip(first, second, strict=True):
        np.testing.assert_array_equal(x, y)


def test_bands_and_full_matrices(device, calls):
    rng = np.random.default_rng(3)
    ab = rng.standard_normal((4, 90))
    full = sbth.dense_from_band(ab, lower=True)
    solutions = (
        sbth.eig_banded(
            ab, lower=True, select="i", select_range=(0, 5), method="sbth", device=device
        ),
        sbth.eigh(full, subset_by_index=(0, 5), method="sbth", device=device),
    )
    for w, v in solutions:
        np.testing.assert_allclose(w, np.linalg.eigvalsh(full)[:6], atol=1e-13)
        np.testing.assert_allclose(full @ v, v * w, atol=1e-12)
        np.testing.assert_allclose(v.T @ v, np.eye(6), atol=1e-13)
    assert calls == [True, True]


def refuse(*_):
    raise AssertionError("inverse iteration was not to be taken")


@pytest.mark.parametrize(
    ("n", "last", "kind"),
    [(19, 0, "random"), (80, 10, "random"), (80, 79, "random"), (150, 0, "split")],
)
def test_divide_and_conquer_takes_the_rest(n, last, kind, monkeypatch):
    """Small matrices, many eigenvalues, and many blocks."""
    monkeypatch.setattr(selected_pairs, "compute_vectors", refuse)
    d, e = TYPES[kind](n)
    assert_selected(d, e, *solve(d, e, 0, last), 0)


@pytest.mark.parametrize("failure", ["residual", "orthogonality", "dependent vectors"])
def test_failures_end_in_divide_and_conquer(device, failure, monkeypatch, calls):
    """Results without small residuals, or that are not orthogonal, are never returned."""
    n = 90

    def first_column_only(xp, x):
        return xp.concatenate([x[:, :1]] * x.shape[1], axis=1)

    def fail(xp, x):
        raise np.linalg.LinAlgError

    wrong = {
        "residual": lambda xp, x: xp.eye(n)[:, : x.shape[1]],
        "orthogonality": first_column_only,
        "dependent vectors": fail,
    }[failure]
    monkeypatch.setattr(iteration, "ATTEMPTS", ((wrong, 2),))
    d, e = random(n)
    w, v = solve(d, e, 0, 7, device)
    assert calls == [False]
    assert_selected(d, e, w, v, 0)
    monkeypatch.setattr(_eigenpairs, "solve_selected", lambda *_: None)
    np.testing.assert_array_equal(v, solve(d, e, 0, 7, device)[1])


def test_the_second_attempt_takes_dependent_solutions(monkeypatch):
    """Reflections lead to an orthonormal basis where Cholesky's factorization does not exist."""
    first, second = iteration.ATTEMPTS
    dependent = np.ones((20, 3))
    with pytest.raises(np.linalg.LinAlgError):
        first[0](np, dependent)
    basis = second[0](np, dependent)
    np.testing.assert_allclose(basis.T @ basis, np.eye(3), atol=10 * EPS)
    monkeypatch.setattr(iteration, "ATTEMPTS", (second,))
    d, e = glued_wilkinson(300, 21, 1e-14)
    assert_selected(d, e, *solve(d, e, 0, 29), 0)


def test_growth_beyond_the_range_of_float64_is_scaled():
    """200 blocks with a common eigenvalue multiply the solution by 10^7 each: 10^1400 in all."""
    n = 2200
    d, e = glued_wilkinson(n, 11, 1e-9)
    w = solve(d, e, 0, 0)[0]
    space = Workspace(Device("cpu"))
    v = compute_vectors(d / 8.0, e / 8.0, w / 8.0, space)[0]
    assert np.all(np.isfinite(v))
    product = d * v - w[0] * v
    product[:-1] += e * v[1:]
    product[1:] += e * v[:-1]
    assert np.linalg.norm(product) < 100 * EPS


@pytest.mark.simulator
def test_both_targets_have_the_same_recurrences(device):
    """Bisection does not run in the simulator, so the eigenvalues are those of NumPy."""
    d, e = random(19)
    d, e = d / 4.0, e / 4.0
    e[7] = 1e-9
    full = np.diag(d) + np.diag(e, 1) + np.diag(e, -1)
    w = np.linalg.eigvalsh(full)[4:7]
    v, other = (
        np.asarray(rows if name == "cpu" or isinstance(rows, np.ndarray) else rows.get()).T
        for name in (device, "cpu")
        for rows in [compute_vectors(d, e, w, Workspace(Device(name)))]
    )
    np.testing.assert_allclose(full @ v, v * w, atol=20 * EPS)
    np.testing.assert_allclose(v.T @ v, np.eye(3), atol=20 * EPS)
    np.testing.assert_allclose(v, other, atol=1e-12)
