"""All or a few eigenvectors of tridiagonal matrices: divide and conquer, inverse iteration."""

import mpmath
import numpy as np
import pytest
import scipy.linalg

import hetero
import sbth
from eigen_checks import EPS, assert_eigenpairs
from hermitian_matrices import tridiagonal
from hetero.arrays import Workspace
from sbth._tridiagonal.divide_and_conquer import merge_tree
from sbth._tridiagonal.inverse_iteration import iteration
from sbth._tridiagonal.inverse_iteration.iteration import compute_vectors
from tridiagonal_matrices import TYPES, dense, exact_pairs, glued_wilkinson, known_spectrum, random

THRESHOLD = 5.0
"""LAPACK's test programs accept 20; values below 1.2 were seen."""

FEW = {"cpu": (300, 25), "cuda": (2100, 105)}
"""An order from which on, and a number of vectors up to which, inverse iteration computes them."""


def solve(d, e, device, first=None, last=None):
    """Return eigenvalues and eigenvectors, all of them or those number first, ..., last."""
    chosen = {} if last is None else {"select": "i", "select_range": (first, last)}
    return sbth.eigh_tridiagonal(d, e, **chosen, device=device, method="sbth")


def steps_of(call):
    """Return the results of a call, and the names of the steps that computed them."""
    with hetero.profile() as profile:
        results = call()
    return results, set(profile.children)


def assert_pairs(d, e, w, v, first=0):
    """Check eigenpairs number first, first + 1, ... of a matrix in LAPACK's units."""
    a, unit = dense(d.astype(float), e.astype(float))
    assert_eigenpairs(a, w / w.dtype.type(unit), v, first=first, threshold=THRESHOLD)


def assert_repeated(d, e, w, v):
    """Check eigenpairs of 2 x 2 matrices coupled below rounding, whose eigenvalues are 1 and -1."""
    m = len(w)
    np.testing.assert_allclose(w, np.repeat([-1.0, 1.0], m // 2), rtol=0, atol=1e-13)
    product = np.zeros(v.shape)  # T v, without a dense T
    product[:-1] += e[:, None] * v[1:]
    product[1:] += e[:, None] * v[:-1]
    assert np.max(np.linalg.norm(product - v * w, axis=0)) < THRESHOLD * len(d) * EPS
    assert np.linalg.norm(v.T @ v - np.eye(m), 1) < THRESHOLD * len(d) * EPS


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


def equal_eigenvalues(n):
    """Return copies of a 2 x 2 matrix, coupled below rounding."""
    return np.zeros(n), np.where(np.arange(1, n) % 2, 1.0, 1e-15)


HARD = {
    **TYPES,
    **{
        f"glued by {glue}": lambda n, glue=glue: glued_wilkinson(n, 21, glue)
        for glue in (1e-5, 1e-7, 1e-12, 1e-14, 1e-16)
    },
    "equal eigenvalues": equal_eigenvalues,
    "few blocks": few_blocks,
    "twins": twins,
}


# ---- all eigenvectors, by divide and conquer ---------------------------------------------------


@pytest.mark.simulator
@pytest.mark.parametrize(("kind", "n"), [("random", 1), ("split", 12)])
def test_small_matrices(device, kind, n):
    d, e = TYPES[kind](n)
    assert_pairs(d, e, *solve(d, e, device))


@pytest.mark.simulator
def test_merges_of_small_leaves(device, monkeypatch):
    """Two levels of merges, on so few rows that the simulator needs seconds."""
    monkeypatch.setattr(merge_tree, "LEAF_ROWS", 3)
    assert merge_tree.count_levels(7) == 2
    d, e = TYPES["random"](7)
    assert_pairs(d, e, *sbth.eigh_tridiagonal(d, e, device=device))


@pytest.mark.parametrize("n", [32, 33, 300])
@pytest.mark.parametrize("kind", HARD)
def test_all_pairs(device, kind, n):
    d, e = HARD[kind](n)
    assert_pairs(d, e, *solve(d, e, device))


def test_secular_roots_in_extended_precision():
    """Roots are exact to rounding, with weights from 1 down to the tolerance of deflation.

    The interval of a root shrinks with every value of the secular equation, whatever the
    interpolation proposes, so that the search ends for any weights.
    """
    from sbth._tridiagonal.divide_and_conquer.cpu import find_root

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
                slope = sum(b * b / (a - x) ** 2 for a, b in zip(d, w, strict=True))
                size = 1 + sum(map(abs, terms)) + abs(shift) * slope
                assert abs(1 + sum(terms)) <= 20 * EPS * size


def test_leaves_beside_the_level_of_rounding(device):
    """One eigenvalue is 1, the others are rounding errors: no leaf can resolve their ratios."""
    n = 41
    for seed in range(6):
        rng = np.random.default_rng(seed)
        q = np.linalg.qr(rng.standard_normal((n, n)))[0]
        values = np.where(np.arange(n) == 0, 1.0, EPS) * rng.choice((-1.0, 1.0), n)
        h = scipy.linalg.hessenberg((q * values) @ q.T)
        d, e = np.diag(h).copy(), np.diag(h, -1).copy()
        assert_pairs(d, e, *solve(d, e, device))


# ---- some of them, by inverse iteration where it suits -----------------------------------------


@pytest.mark.parametrize("kind", HARD)
def test_some_pairs(device, kind):
    n, m = FEW[device]
    d, e = HARD[kind](n)
    for first, last in ((0, 0), (n // 2 - 5, n // 2 + 5), (n - m, n - 1), (0, m - 1)):
        pairs, steps = steps_of(lambda a=first, b=last: solve(d, e, device, a, b))
        assert_pairs(d, e, *pairs, first)
    if kind in ("random", "Laplace", "Wilkinson", "few blocks", "equal eigenvalues"):
        assert "inverse iteration" in steps
        assert "divide and conquer" not in steps


@pytest.mark.parametrize(
    ("n", "last", "kind"),
    [(199, 0, "random"), (300, 40, "random"), (300, 299, "random"), (300, 0, "split")],
)
def test_divide_and_conquer_takes_the_rest(n, last, kind):
    """Small matrices, many eigenvalues, and many blocks."""
    d, e = TYPES[kind](n)
    pairs, steps = steps_of(lambda: solve(d, e, "cpu", 0, last))
    assert "inverse iteration" not in steps
    assert_pairs(d, e, *pairs)


@pytest.mark.parametrize("failure", ["residual", "orthogonality", "dependent vectors"])
def test_failures_end_in_divide_and_conquer(device, failure, monkeypatch):
    """Results without small residuals, or that are not orthogonal, are never returned."""
    n, _ = FEW[device]

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
    pairs, steps = steps_of(lambda: solve(d, e, device, 0, 7))
    assert {"inverse iteration", "divide and conquer"} <= steps
    assert_pairs(d, e, *pairs)


@pytest.mark.parametrize("kind", ["random", "few blocks", "twins"])
def test_intervals_of_values(device, kind):
    n, m = FEW[device]
    d, e = HARD[kind](n)
    every = sbth.eigvalsh_tridiagonal(d, e, device=device, method="sbth")
    low, high = (every[n // 2 + k] + 1e-9 for k in (0, m // 2))
    options = {"select": "v", "device": device, "method": "sbth"}
    (w, v), steps = steps_of(
        lambda: sbth.eigh_tridiagonal(d, e, select_range=(low, high), **options)
    )
    first, stop = np.searchsorted(every, (low, high), side="right")
    assert 0 < stop - first == len(w)
    assert_pairs(d, e, w, v, first)
    assert "inverse iteration" in steps
    w, v = sbth.eigh_tridiagonal(d, e, select_range=(50.0, 60.0), **options)
    assert (w.shape, v.shape) == ((0,), (n, 0))


def test_growth_beyond_the_range_of_float64_is_scaled():
    """200 blocks with a common eigenvalue multiply the solution by 10^7 each: 10^1400 in all."""
    d, e = glued_wilkinson(2200, 11, 1e-9)
    w = solve(d, e, "cpu", 0, 0)[0]
    v = compute_vectors(d / 8.0, e / 8.0, w / 8.0, Workspace(hetero.Device("cpu")))[0]
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
    full = tridiagonal(d, e)
    w = np.linalg.eigvalsh(full)[4:7]
    v, other = (
        np.asarray(rows if name == "cpu" or isinstance(rows, np.ndarray) else rows.get()).T
        for name in (device, "cpu")
        for rows in [compute_vectors(d, e, w, Workspace(hetero.Device(name)))]
    )
    np.testing.assert_allclose(full @ v, v * w, atol=20 * EPS)
    np.testing.assert_allclose(v.T @ v, np.eye(3), atol=20 * EPS)
    np.testing.assert_allclose(v, other, atol=1e-12)


# ---- both --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["spaced", "geometric", "clustered"])
@pytest.mark.parametrize("is_long", [False, True])
def test_given_spectra(device, kind, is_long):
    """The spectra of LAPACK's test matrices: arithmetic and geometric series, and one cluster."""
    n = FEW[device][0] if is_long else 70
    values = {
        "spaced": np.linspace(1.0, EPS, n),
        "geometric": EPS ** (np.arange(n) / (n - 1)),
        "clustered": np.where(np.arange(n) == 0, 1.0, EPS),
    }[kind] * np.where(np.arange(n) % 2, 1.0, -1.0)
    d, e = known_spectrum(values)
    w, v = solve(d, e, device)
    assert_pairs(d, e, w, v)
    assert np.max(np.abs(w - np.sort(values))) < THRESHOLD * n * EPS
    for first in (0, 31, n - 8):
        assert_pairs(d, e, *solve(d, e, device, first, first + 7), first)


def test_thousands_of_equal_eigenvalues(device):
    """Deflation removes everything; inverse iteration finds orthogonal vectors."""
    d, e = equal_eigenvalues(3000)
    assert_repeated(d, e, *solve(d, e, device))
    pairs, steps = steps_of(lambda: solve(d, e, device, 1430, 1569))
    assert_repeated(d, e, *pairs)
    assert "divide and conquer" not in steps


def test_extended_precision(device):
    """Vectors of well separated eigenvalues agree with those of 50 digits."""
    n = 24
    d, e = np.arange(n) / n, np.full(n - 1, 0.5)
    exact_w, exact_v = exact_pairs(d, e)
    gaps = np.minimum(np.diff(exact_w, prepend=-9.0), np.diff(exact_w, append=9.0))
    w, v = solve(d, e, device)
    np.testing.assert_allclose(w, exact_w, rtol=0, atol=8 * EPS)
    signs = np.sign(np.sum(v * exact_v, axis=0))
    assert np.max(np.abs(v * signs - exact_v) * gaps) < 16 * EPS


@pytest.mark.parametrize("is_all", [True, False])
def test_float32_and_repeated_calls(device, is_all):
    n, m = FEW[device]
    d, e = (x.astype(np.float32) for x in random(n))
    chosen = (None, None) if is_all else (n - m, n - 1)
    w, v = solve(d, e, device, *chosen)
    assert w.dtype == v.dtype == np.float32
    assert_pairs(d, e, w, v, chosen[0] or 0)
    for dtype in (np.float32, np.float64):
        calls = (solve(d.astype(dtype), e.astype(dtype), device, *chosen) for _ in range(2))
        for x, y in zip(*calls, strict=True):
            np.testing.assert_array_equal(x, y)


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
    assert_pairs(d, e, *solve(d, e, "cpu", 0, 24))


@pytest.mark.parametrize("kind", ["random", "Laplace", "glued Wilkinson"])
def test_all_vectors_by_inverse_iteration_are_orthogonal(device, kind):
    """This holds for every pair, also of eigenvalues that are far from each other."""
    d, e = HARD[kind](120)
    w = sbth.eigvalsh_tridiagonal(d, e, device=device, method="sbth")
    unit = 2.0 * np.abs(w).max()
    rows = compute_vectors(d / unit, e / unit, w / unit, Workspace(hetero.Device.parse(device)))
    v = (rows if device == "cpu" else rows.get()).T
    assert_pairs(d, e, w, v / np.linalg.norm(v, axis=0))
