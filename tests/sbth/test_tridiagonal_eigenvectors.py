"""Eigenvectors of tridiagonal matrices: LAPACK's ratios, checked by NumPy and mpmath."""

import mpmath
import numpy as np
import pytest
import scipy.linalg

import sbth
from sbth._divide_and_conquer import merge_tree
from tridiagonal_matrices import TYPES, dense, exact_pairs, known_spectrum, random

EPS = np.finfo(float).eps
THRESHOLD = 5.0
"""LAPACK's test programs accept 20; values below 1.2 were seen."""


def assert_eigenpairs(d, e, w, v, eps=EPS):
    """Check residual, orthogonality and eigenvalues in LAPACK's units."""
    n = len(d)
    a, unit = dense(d.astype(float), e.astype(float))
    w, norm = w / unit, np.linalg.norm(a, 1) or 1.0
    assert w.shape == (n,)
    assert v.shape == (n, n)
    assert np.all(np.diff(w) >= 0.0)
    assert np.linalg.norm(a @ v - v * w, 1) / (norm * n * eps) < THRESHOLD
    assert np.linalg.norm(v.T @ v - np.eye(n), 1) / (n * eps) < THRESHOLD
    assert np.max(np.abs(w - np.linalg.eigvalsh(a))) / (norm * n * eps) < THRESHOLD


@pytest.mark.simulator
@pytest.mark.parametrize(("kind", "n"), [("random", 1), ("split", 12)])
def test_small_matrices(device, kind, n):
    d, e = TYPES[kind](n)
    assert_eigenpairs(d, e, *sbth.eigh_tridiagonal(d, e, device=device, method="sbth"))


@pytest.mark.simulator
def test_merges_of_small_leaves(device, monkeypatch):
    """Two levels of merges, on so few rows that the simulator needs seconds."""
    monkeypatch.setattr(merge_tree, "LEAF_ROWS", 3)
    assert merge_tree.MergeTree.create(10).levels == 2
    d, e = TYPES["random"](10)
    assert_eigenpairs(d, e, *sbth.eigh_tridiagonal(d, e, device=device))


@pytest.mark.parametrize("n", [32, 33, 300])
@pytest.mark.parametrize("kind", TYPES)
def test_ratios(device, kind, n):
    d, e = TYPES[kind](n)
    assert_eigenpairs(d, e, *sbth.eigh_tridiagonal(d, e, device=device, method="sbth"))


@pytest.mark.parametrize("kind", ["spaced", "geometric", "clustered"])
def test_given_spectra(device, kind):
    """The spectra of LAPACK's test matrices: arithmetic and geometric series, and one cluster."""
    n = 70
    values = {
        "spaced": np.linspace(1.0, EPS, n),
        "geometric": EPS ** (np.arange(n) / (n - 1)),
        "clustered": np.where(np.arange(n) == 0, 1.0, EPS),
    }[kind] * np.where(np.arange(n) % 2, 1.0, -1.0)
    d, e = known_spectrum(values)
    w, v = sbth.eigh_tridiagonal(d, e, device=device, method="sbth")
    assert_eigenpairs(d, e, w, v)
    assert np.max(np.abs(w - np.sort(values))) < THRESHOLD * n * EPS


def test_thousands_of_equal_eigenvalues(device):
    """1500 copies of a 2 x 2 matrix, coupled below rounding: deflation removes everything."""
    n = 3000
    d, e = np.zeros(n), np.where(np.arange(1, n) % 2, 1.0, 1e-15)
    w, v = sbth.eigh_tridiagonal(d, e, device=device, method="sbth")
    np.testing.assert_allclose(w, np.repeat([-1.0, 1.0], n // 2), rtol=0, atol=1e-13)
    product = np.zeros((n, n))  # T v, without a dense T
    product[:-1] += e[:, None] * v[1:]
    product[1:] += e[:, None] * v[:-1]
    assert np.max(np.linalg.norm(product - v * w, axis=0)) < 1e-14
    assert np.linalg.norm(v.T @ v - np.eye(n), 1) < THRESHOLD * n * EPS


def test_extended_precision(device):
    """Vectors of well separated eigenvalues agree with those of 50 digits."""
    n = 40
    d, e = np.arange(n) / n, np.full(n - 1, 0.5)
    exact_w, exact_v = exact_pairs(d, e)
    w, v = sbth.eigh_tridiagonal(d, e, device=device, method="sbth")
    np.testing.assert_allclose(w, exact_w, rtol=0, atol=8 * EPS)
    signs = np.sign(np.sum(v * exact_v, axis=0))
    gaps = np.minimum(np.diff(exact_w, prepend=-9.0), np.diff(exact_w, append=9.0))
    assert np.max(np.abs(v * signs - exact_v) * gaps) < 16 * EPS


def test_secular_roots_in_extended_precision():
    """Roots are exact to rounding, with weights from 1 down to the tolerance of deflation.

    The interval of a root shrinks with every value of the secular equation, whatever the
    interpolation proposes, so that the search ends for any weights.
    """
    from sbth._divide_and_conquer.cpu import find_root

    rng = np.random.default_rng(5)
    for k in (1, 2, 3, 20):
        poles = np.cumsum(10.0 ** rng.uniform(-14, 0, k))
        weights = 10.0 ** rng.uniform(-16, 0, k)
        with mpmath.workdps(60):
            d, w = [[mpmath.mpf(float(x)) for x in values] for values in (poles, weights)]
            for j in range(k):
                origin, shift = find_root(poles, weights, j)
                assert origin in poles[j : j + 2]
                x = mpmath.mpf(float(origin)) + mpmath.mpf(float(shift))
                assert d[j] < x
                assert j == k - 1 or x < d[j + 1]
                terms = [b * b / (a - x) for a, b in zip(d, w, strict=True)]
                size = (
                    1
                    + sum(map(abs, terms))
                    + abs(shift) * sum(b * b / (a - x) ** 2 for a, b in zip(d, w, strict=True))
                )
                assert abs(1 + sum(terms)) <= 20 * EPS * size


@pytest.mark.parametrize(
    ("select", "select_range", "chosen"),
    [("i", (3, 40), slice(3, 41)), ("i", (0, 0), slice(0, 1)), ("v", (-0.5, 0.5), None)],
)
@pytest.mark.parametrize("kind", ["random", "split"])
def test_selections(device, kind, select, select_range, chosen):
    d, e = TYPES[kind](60)
    w, v = sbth.eigh_tridiagonal(d, e, device=device, method="sbth")
    if chosen is None:
        chosen = (w > select_range[0]) & (w <= select_range[1])
    some, vectors = sbth.eigh_tridiagonal(
        d, e, select=select, select_range=select_range, device=device, method="sbth"
    )
    np.testing.assert_array_equal(some, w[chosen])
    np.testing.assert_allclose(vectors, v[:, chosen], rtol=0, atol=1e-14)
    values = sbth.eigh_tridiagonal(
        d, e, eigvals_only=True, select=select, select_range=select_range, device=device
    )
    np.testing.assert_allclose(values, some, rtol=1e-12, atol=1e-13)


def test_an_empty_selection_and_an_empty_matrix(device):
    w, v = sbth.eigh_tridiagonal(
        [1.0, 2.0], [0.5], select="v", select_range=(5, 6), device=device, method="sbth"
    )
    assert (w.shape, v.shape) == ((0,), (2, 0))
    w, v = sbth.eigh_tridiagonal([], [], device=device, method="sbth")
    assert (w.shape, v.shape) == ((0,), (0, 0))


def test_float32(device):
    d, e = (x.astype(np.float32) for x in random(80))
    w, v = sbth.eigh_tridiagonal(d, e, device=device, method="sbth")
    assert w.dtype == v.dtype == np.float32
    assert_eigenpairs(d, e, w.astype(float), v.astype(float), np.finfo(np.float32).eps)


def test_results_are_reproducible(device):
    d, e = random(200)
    first, second = (sbth.eigh_tridiagonal(d, e, device=device, method="sbth") for _ in range(2))
    for x, y in zip(first, second, strict=True):
        np.testing.assert_array_equal(x, y)


def test_the_arguments_are_those_of_scipy():
    from scipy.linalg import eigh_tridiagonal

    d, e = random(50)
    ours = sbth.eigh_tridiagonal(d, e, False, "i", (2, 5), True, 0.0, device="cpu", method="sbth")
    theirs = eigh_tridiagonal(d, e, False, "i", (2, 5), True, 0.0)
    np.testing.assert_allclose(ours[0], theirs[0], atol=1e-14)
    np.testing.assert_allclose(np.abs(ours[1]), np.abs(theirs[1]), atol=1e-11)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0, np.nan], [0.0]), "d must be finite"),
        (([1.0, 2.0], [np.inf]), "e must be finite"),
        (([1.0, 2.0], [0.0, 1.0]), "d and e must have shapes"),
        (([1.0, 2.0], [0.0], False, "x"), "select must be one of"),
        (([1.0, 2.0], [0.0], False, "i", (0, 2)), "select_range must hold indices"),
        (([1e308, 1e308], [1e308]), "d, e is too large"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        sbth.eigh_tridiagonal(*arguments, device="cpu", method="sbth")
    with pytest.raises(TypeError, match="eigvals_only must be True or False"):
        sbth.eigh_tridiagonal([1.0], [], "no", device="cpu", method="sbth")


def test_memory_is_forecast(monkeypatch):
    from sbth._divide_and_conquer import merge_tree

    monkeypatch.setattr(merge_tree, "SMALL", 0)
    monkeypatch.setattr(merge_tree, "free_bytes", lambda device, need: need - 1)
    with pytest.raises(MemoryError, match="all eigenvectors of a matrix of order 50 needs"):
        sbth.eigh_tridiagonal(*random(50), device="cpu", method="sbth")


def test_leaves_beside_the_level_of_rounding(device):
    """One eigenvalue is 1, the others are rounding errors: no leaf can resolve their ratios."""
    n = 41
    for seed in range(6):
        rng = np.random.default_rng(seed)
        q = np.linalg.qr(rng.standard_normal((n, n)))[0]
        values = np.where(np.arange(n) == 0, 1.0, EPS) * rng.choice((-1.0, 1.0), n)
        h = scipy.linalg.hessenberg((q * values) @ q.T)
        d, e = np.diag(h).copy(), np.diag(h, -1).copy()
        assert_eigenpairs(d, e, *sbth.eigh_tridiagonal(d, e, device=device, method="sbth"))


def test_vectors_are_placed_before_the_eigenvalues_are_read(monkeypatch):
    """On a GPU, whatever is launched before that runs while the host waits."""
    from sbth._divide_and_conquer import cpu

    log, start_reading, place_vectors = [], cpu.start_reading, cpu.place_vectors

    def start(array, stream=0):
        read = start_reading(array, stream)
        return lambda: log.append(("read", array.shape)) or read()

    def place(*arguments):
        log.append(("place",))
        place_vectors(*arguments)

    monkeypatch.setattr(cpu, "start_reading", start)
    monkeypatch.setattr(cpu, "place_vectors", place)
    d, e = np.arange(70.0), np.ones(69)
    values, vectors = sbth.eigh_tridiagonal(d, e, method="sbth", device="cpu")
    assert log[-2:] == [("place",), ("read", (70,))]
    assert log.count(("read", (70,))) == 1
    matrix = np.diag(d) + np.diag(e, 1) + np.diag(e, -1)
    np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-12)
