"""Methods: LAPACK's drivers keep the package's rules, and `solver_for` says what is chosen."""

import mpmath
import numba
import numpy as np
import pytest

import sbth
from hetero.cpu.threads import use_threads
from lapack_matrices import TYPES
from sbth._lapack import choice

EPS = np.finfo(float).eps
THRESHOLD = 20.0
"""What LAPACK's test programs accept."""


def assert_eigenpairs(a, w, v, b=None, eps=EPS):
    """Check residual, B-orthogonality and order, in LAPACK's units."""
    n, unit = len(a), np.max(np.abs(a), initial=0.0) or 1.0
    b = np.eye(n) if b is None else b
    a, w = a / unit, w / unit
    norm, condition = np.linalg.norm(a, 1) or 1.0, np.linalg.cond(b)
    scale = n * eps * condition
    assert np.all(np.diff(w) >= 0.0)
    assert np.linalg.norm(a @ v - b @ v * w, 1) / (norm * scale) < THRESHOLD
    assert np.linalg.norm(v.conj().T @ b @ v - np.eye(v.shape[1]), 1) / scale < THRESHOLD


def random_matrix(n, dtype, seed=0):
    rng = np.random.default_rng((n, seed))
    a = rng.standard_normal((n, n))
    if np.dtype(dtype).kind == "c":
        a = a + 1j * rng.standard_normal((n, n))
    return (a + a.conj().T).astype(dtype)


def random_definite(n, dtype):
    a = random_matrix(n, dtype, seed=1)
    b = np.tril(a @ a.conj().T / n, -1)
    return b + b.conj().T + np.diag(1.0 + np.abs(b + b.conj().T).sum(axis=1))


def narrow(a, d):
    """Return the matrix whose elements beyond d subdiagonals are 0."""
    return np.triu(np.tril(a, d), -d)


def store(a, d, lower):
    """Return band storage, element by element."""
    n = len(a)
    ab = np.full((d + 1, n), np.nan, a.dtype)
    for i in range(n):
        for j in range(max(0, i - d), i + 1):
            ab[(i - j, j) if lower else (d + j - i, i)] = a[i, j] if lower else a[j, i]
    return ab


def oracle(a, b=None):
    """Return eigenvalues in 30 digits."""
    with mpmath.workdps(30):
        c = mpmath.matrix(a.tolist())
        if b is not None:
            inverse = mpmath.inverse(mpmath.cholesky(mpmath.matrix(b.tolist())))
            c = inverse * c * inverse.H
        return np.array([float(x) for x in mpmath.eighe(c, eigvals_only=True)])


@pytest.mark.parametrize("kind", TYPES)
def test_lapacks_drivers_over_lapacks_types(kind):
    for n, d in ((53, 3), (40, 20)):
        ab, _ = TYPES[kind](n, d)
        full = sbth.dense_from_band(ab, lower=True)
        w, v = sbth.eig_banded(ab, lower=True, device="cpu", method="lapack")
        assert_eigenpairs(full, w, v)
        values = sbth.eigvals_banded(ab, lower=True, device="cpu", method="sbth")
        largest = np.max(np.abs(values)) or 1.0
        for other in (
            w,
            sbth.eigvals_banded(ab, lower=True, device="cpu", method="lapack"),
            sbth.eigvalsh(full, device="cpu", method="lapack"),
        ):
            assert np.max(np.abs(other - values)) / largest < THRESHOLD * n * EPS
        assert_eigenpairs(full, *sbth.eigh(full, device="cpu", method="lapack"))


@pytest.mark.parametrize("dtype", [np.float64, np.complex128, np.complex64])
@pytest.mark.parametrize("n", [1, 2, 17])
def test_hermitian_matrices(dtype, n):
    a, eps = random_matrix(n, dtype), np.finfo(dtype).eps
    wide, true = a.astype(np.promote_types(dtype, float)), oracle(a)
    junk = np.triu(np.full((n, n), np.nan, a.real.dtype), 1)
    for lower, given in ((True, np.tril(a) + junk), (False, np.triu(a) + junk.T)):
        w, v = sbth.eigh(given, lower=lower, device="cpu")
        assert (w.dtype, v.dtype) == (a.real.dtype, a.dtype)
        assert_eigenpairs(wide, w.astype(float), v.astype(wide.dtype), eps=eps)
        np.testing.assert_allclose(w, true, rtol=0, atol=THRESHOLD * eps * np.abs(true).max())
    values = sbth.eigvalsh(a, device="cpu")
    np.testing.assert_allclose(values, true, rtol=0, atol=THRESHOLD * eps * np.abs(true).max())
    for d in (0, 1, min(n - 1, 5)):
        band = narrow(wide, min(d, n - 1))
        for lower in (False, True):
            ab = store(band, min(d, n - 1), lower).astype(dtype)
            w, v = sbth.eig_banded(ab, lower, device="cpu")
            assert_eigenpairs(band, w.astype(float), v.astype(wide.dtype), eps=eps)
            values = sbth.eigvals_banded(ab, lower, device="cpu")
            assert np.max(np.abs(values - w)) <= THRESHOLD * n * eps * np.abs(true).max()


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("width", [1, 3])
def test_subnormal_elements_of_complex_bands(dtype, width):
    """The phase of a subnormal number has few digits; LAPACK multiplies other elements by it."""
    n, tiny, eps = 30, float(np.finfo(dtype).smallest_subnormal), np.finfo(dtype).eps
    a = np.asfortranarray(narrow(random_matrix(n, dtype), width))
    for i in range(1, n - 2, 4):
        a[i + 1 :, : i + 1] = a[: i + 1, i + 1 :] = 0.0
        a[i + 1, i], a[i, i + 1] = tiny * (7 + 5j), tiny * (7 - 5j)
    true = np.linalg.eigvalsh(a.astype(complex))
    for lower in (True, False):
        band = np.asfortranarray(store(a, width, lower))
        w, v = sbth.eig_banded(band, lower, device="cpu")
        np.testing.assert_allclose(w, true, rtol=0, atol=THRESHOLD * n * eps)
        assert_eigenpairs(a.astype(complex), w.astype(float), v.astype(complex), eps=eps)
        values = sbth.eigvals_banded(band, lower, device="cpu")
        np.testing.assert_allclose(values, true, rtol=0, atol=THRESHOLD * n * eps)


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_hermitian_blocks_keep_their_own_accuracy(dtype):
    a = narrow(random_matrix(30, dtype), 2)
    a[:15, 15:] = a[15:, :15] = 0.0
    a[:15, :15] *= 1e140
    a[15:, 15:] *= 1e-140
    w, v = sbth.eig_banded(store(a, 2, True), True, device="cpu", method="lapack")
    large = np.abs(v[:15]).max(axis=0) > 0
    assert not np.any(large & (np.abs(v[15:]).max(axis=0) > 0))
    assert_eigenpairs(a[:15, :15], w[large], v[:15, large])
    assert_eigenpairs(a[15:, 15:], w[~large], v[15:, ~large])


@pytest.mark.parametrize("method", ["sbth", "lapack"])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_generalized_problems(dtype, method):
    method = "auto" if np.dtype(dtype).kind == "c" else method
    n = 12
    a, b = random_matrix(n, dtype), random_definite(n, dtype)
    true, options = oracle(a, b), {"device": "cpu", "method": method}
    accuracy = {"rtol": 0, "atol": THRESHOLD * n * EPS * np.linalg.cond(b) * np.abs(true).max()}
    for lower, part in ((True, np.tril), (False, np.triu)):
        w, v = sbth.eigh(part(a), part(b), lower=lower, **options)
        assert_eigenpairs(a, w, v, b)
        np.testing.assert_allclose(w, true, **accuracy)
        values = sbth.eigh(part(a), part(b), lower=lower, eigvals_only=True, **options)
        np.testing.assert_allclose(values, true, **accuracy)
        some, vectors = sbth.eigh(part(a), part(b), lower=lower, subset_by_index=(3, 5), **options)
        np.testing.assert_allclose(some, true[3:6], **accuracy)
        assert_eigenpairs(a, some, vectors, b)
    for d, k in ((4, 2), (2, 4), (3, 3), (0, 1), (11, 0)):
        band, of_b = narrow(a, d), narrow(b, k)
        of_b += np.diag(np.abs(of_b).sum(axis=1))
        true = oracle(band, of_b)
        for lower in (False, True):
            stored = store(band, d, lower), store(of_b, k, lower)
            w, v = sbth.eig_banded(stored[0], lower, b_band=stored[1], **options)
            assert_eigenpairs(band, w, v, of_b)
            np.testing.assert_allclose(w, true, **accuracy)
            values = sbth.eigvals_banded(stored[0], lower, b_band=stored[1], **options)
            np.testing.assert_allclose(values, true, **accuracy)


@pytest.mark.parametrize("scales", [(1e200, 1.0), (1e-200, 1.0), (1.0, 1e-200), (1e150, 1e180)])
def test_generalized_problems_of_odd_magnitudes(scales):
    a, b = random_matrix(12, float), random_definite(12, float)
    band, of_b = narrow(a, 2), narrow(b, 1) + 9 * np.eye(12)
    true = oracle(band, of_b)
    arguments = store(band, 2, True) * scales[0], True
    w, v = sbth.eig_banded(*arguments, b_band=store(of_b, 1, True) * scales[1], device="cpu")
    np.testing.assert_allclose(w / scales[0] * scales[1], true, rtol=1e-12)
    np.testing.assert_allclose(v.T @ (of_b * scales[1]) @ v, np.eye(12), atol=1e-13)


def test_few_vectors_of_tridiagonal_matrices():
    for d, e in (
        (np.random.default_rng(1).standard_normal(60), np.ones(59)),
        (np.abs(np.arange(63) % 21 - 10.0), np.where(np.arange(1, 63) % 21 == 0, 1e-9, 1.0)),
    ):
        a = np.diag(d) + np.diag(e, 1) + np.diag(e, -1)
        every, vectors = sbth.eigh_tridiagonal(d, e, device="cpu", method="lapack")
        assert_eigenpairs(a, every, vectors)
        for first, last in ((0, 0), (5, 9), (50, 59), (0, 40)):
            w, v = sbth.eigh_tridiagonal(
                d, e, select="i", select_range=(first, last), device="cpu", method="lapack"
            )
            np.testing.assert_allclose(w, every[first : last + 1], rtol=0, atol=1e-12)
            assert_eigenpairs(a, w, v)
        inside = (every > 0.5) & (every <= 2.5)
        w, v = sbth.eigh_tridiagonal(d, e, select="v", select_range=(0.5, 2.5), method="lapack")
        assert len(w) == inside.sum()
        assert_eigenpairs(a, w, v)


@pytest.mark.parametrize("window", [(-np.inf, 0.0), (1.0, np.inf), (1e9, 1e10), (-1.0, 2.0)])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_intervals(window, dtype):
    a = random_matrix(40, dtype)
    every = np.linalg.eigvalsh(a)
    w, v = sbth.eigh(a, subset_by_value=window, device="cpu", method="lapack")
    inside = every[(every > window[0]) & (every <= window[1])]
    np.testing.assert_allclose(w, inside, rtol=0, atol=1e-12)
    assert v.shape == (40, len(inside))
    assert_eigenpairs(a, w, v)


def test_bad_input():
    a, ab = np.eye(3), np.ones((2, 5))
    for call, message in (
        (lambda: sbth.eigh(a, method="fast"), "method must be one of 'auto', 'sbth', 'lapack'"),
        (lambda: sbth.eigh(a * 1j, method="sbth"), "method='sbth' reduces real matrices only"),
        (lambda: sbth.eig_banded(ab * 1j, method="sbth"), "a_band is complex: use 'auto'"),
        (lambda: sbth.eigh(a, np.eye(4)), "b must have the shape of a"),
        (lambda: sbth.eigh(a, -a), "b must be positive definite: its Cholesky factorization fails"),
        (lambda: sbth.eigh(a, a * np.nan), "b must be finite"),
        (lambda: sbth.eigh(a * np.nan, a), "a must be finite"),
        (lambda: sbth.eigh(a, np.ones(3)), "b must be a square matrix"),
        (lambda: sbth.eig_banded(ab, b_band=-ab), "b_band must be positive definite"),
        (lambda: sbth.eig_banded(ab, b_band=ab[:, 1:]), "b_band must be of the order of a_band, 5"),
        (lambda: sbth.eig_banded(ab, b_band=ab * np.nan), "b_band holds nan"),
        (lambda: sbth.eig_banded(ab * np.nan * 1j), "a_band holds"),
        (lambda: sbth.solver_for(9, dtype=complex, method="sbth"), "is for real matrices"),
        (lambda: sbth.eigvalsh(np.full((9, 9), 1e308), method="lapack"), "a is too large"),
        (lambda: sbth.eigvals_banded(np.full((9, 9), 1e308), method="lapack"), "is too large"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


@pytest.mark.simulator
def test_methods_of_a_gpu(device):
    if device == "cpu":
        with pytest.raises(ValueError, match="method must be one of 'auto', 'sbth', 'lapack' on"):
            sbth.eigvals_banded(np.ones((3, 9)), method="cusolver", device=device)
        return
    for call in (sbth.eigvals_banded, sbth.eig_banded):
        with pytest.raises(ValueError, match="method must be one of 'auto', 'sbth', 'cusolver' on"):
            call(np.ones((3, 9)), method="lapack", device=device)
        with pytest.raises(ValueError, match="method='cusolver' solves full matrices only"):
            call(np.ones((3, 9)), method="cusolver", device=device)
        with pytest.raises(ValueError, match="method='cusolver' solves full matrices only"):
            call(np.ones((3, 9)) * 1j, method="cusolver", device=device)
        with pytest.raises(ValueError, match="method='cusolver' solves full matrices only"):
            call(np.ones((3, 9)), b_band=np.ones((1, 9)), method="cusolver", device=device)


def test_solver_for_says_what_runs(monkeypatch):
    calls = []
    for name in ("band_values", "band_vectors", "full_values", "full_vectors"):
        true = getattr(choice_drivers(), name)
        monkeypatch.setattr(
            choice_drivers(),
            name,
            lambda *arguments, name=name, true=true: calls.append(name) or true(*arguments),
        )
    ab, a = np.random.default_rng(0).standard_normal((3, 60)), random_matrix(60, float)
    wide = np.random.default_rng(0).standard_normal((31, 60))
    for solve, matrix, size, expected, text in (
        (sbth.eigvals_banded, ab, (60, 2), "band_values", "as a band matrix"),
        (sbth.eig_banded, ab, (60, 2), "band_vectors", "as a band matrix"),
        (sbth.eigvals_banded, wide, (60, 30), "full_values", "as a full matrix"),
        (sbth.eig_banded, wide, (60, 30), "full_vectors", "as a full matrix"),
        (sbth.eigvalsh, a, (60,), "full_values", "LAPACK (syevd"),
        (sbth.eigh, a, (60,), "full_vectors", "LAPACK (syevd"),
    ):
        calls.clear()
        solve(matrix, device="cpu")
        assert calls == [expected]
        values = "vals" in solve.__name__
        assert text in sbth.solver_for(*size, eigvals_only=values, device="cpu")
        calls.clear()
        solve(matrix, method="sbth", device="cpu")
        assert not calls
        assert sbth.solver_for(*size, eigvals_only=values, method="sbth").startswith("sbth: ")
    assert "chasing" in sbth.solver_for(4000, 64, eigvals_only=True, device="cpu")


def choice_drivers():
    """Return the module of LAPACK's drivers."""
    from sbth._lapack import drivers

    return drivers


def test_every_size_has_a_method():
    for vectors in (False, True):
        for n in (0, 1, 2, 100, 10**5):
            for d in (0, 1, 2, 50, 10**4):
                driver = choice.band_driver("auto", n, d, float, vectors)
                assert driver in ("sbth", "band", "dense")
                assert choice.band_driver("lapack", n, 2 + d, float, vectors) != "sbth"


@pytest.mark.parametrize(
    ("memory", "multiprocessors", "largest"), [(65_536, 40, 2360), (232_448, 132, 3072)]
)
def test_one_stage_is_for_gpus_with_room_for_its_vectors(
    memory, multiprocessors, largest, monkeypatch
):
    """A matrix that is too large for the shared memory of a small GPU is reduced in two stages."""
    from hetero.cuda import launch
    from sbth._one_stage.reduction import fits_in_shared_memory

    monkeypatch.setattr(launch, "max_shared_memory", lambda: memory)
    monkeypatch.setattr(launch, "multiprocessors", lambda: multiprocessors)
    fitting = [n for n in range(1, 3073) if fits_in_shared_memory(n, np.dtype("f8"))]
    assert fitting == list(range(1, fitting[-1] + 1))
    assert fitting[-1] == pytest.approx(largest, abs=10)


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="needs two threads")
def test_several_threads_do_not_share_a_small_full_matrix():
    with use_threads(1):
        assert "as a full matrix" in sbth.solver_for(200, 16, device="cpu")
        assert "as a full matrix" in sbth.solver_for(400, 4, device="cpu")
    with use_threads(2):
        assert "as a band matrix" in sbth.solver_for(200, 16, device="cpu")
        assert "as a band matrix" in sbth.solver_for(400, 4, device="cpu")
        assert "as a full matrix" in sbth.solver_for(400, 32, device="cpu")
