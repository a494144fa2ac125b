"""Batches of generalized problems A x = lambda B x that a GPU solves, a block for each."""

import mpmath
import numpy as np
import pytest
import scipy.linalg

import sbth
from batches_of_matrices import assert_solves, definite, hermitian
from hetero.cuda import launch
from hetero.cuda.driver import SIMULATOR

pytestmark = [pytest.mark.cuda, pytest.mark.usefixtures("require_cuda")]

ORDERS = (1, 5) if SIMULATOR else (1, 2, 3, 31, 32, 33, 64, 100, 128, 165, 300)


@pytest.fixture(autouse=True)
def _keep_to_kernels(monkeypatch):
    """Let no test pass because matrices were solved one by one."""

    def refuse(*_, **__):
        raise AssertionError("the batch was not solved by the kernels")

    monkeypatch.setattr("sbth._batches._solve_batch", refuse)


@pytest.mark.simulator
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("n", ORDERS)
def test_full_matrices(n, dtype):
    a, b = hermitian(3, n, dtype), definite(3, n, dtype)
    values, vectors = sbth.eigh(np.tril(a), np.tril(b), device="cuda")
    assert vectors.dtype == dtype
    assert_solves(a, values, vectors, b)
    alone = sbth.eigh(np.triu(a), np.triu(b), lower=False, eigvals_only=True, device="cuda")
    assert_solves(a, alone, b=b)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
@pytest.mark.parametrize("n", [1, 5, 40, 200])
def test_single_precision(n, dtype):
    a, b = hermitian(3, n, dtype), definite(3, n, dtype)
    values, vectors = sbth.eigh(a, b, device="cuda")
    assert vectors.dtype == dtype
    assert_solves(a, values, vectors, b)


@pytest.mark.simulator
def test_types_are_mixed_and_matrices_shared():
    """Real A, one complex B for all of them, which is given as a list."""
    n = 4
    a, b = hermitian(6, n).reshape(2, 3, n, n), definite(1, n, np.complex128)
    values, vectors = sbth.eigh(a, b[0].tolist(), device="cuda")
    assert values.shape == (2, 3, n)
    assert vectors.dtype == np.complex128
    many = np.broadcast_to(b, (6, n, n))
    assert_solves(a.reshape(6, n, n), values.reshape(6, n), vectors.reshape(6, n, n), many)
    some, columns = sbth.eigh(a, b[0], subset_by_index=(1, 2), device="cuda")
    np.testing.assert_array_equal(some, values[..., 1:3])
    np.testing.assert_array_equal(columns, vectors[..., 1:3])


@pytest.mark.simulator
@pytest.mark.parametrize("lower", [True, False])
def test_band_matrices(lower):
    """The bandwidths of both matrices differ."""
    n = 6 if SIMULATOR else 150
    rng = np.random.default_rng(4)
    bands = rng.standard_normal((3, 4, n)) + 1j * rng.standard_normal((3, 4, n))
    second = np.full((2, n), 0.4 - 0.1j)
    second[0 if lower else 1] = 2.0
    values, vectors = sbth.eig_banded(bands, lower=lower, b_band=second, device="cuda")
    alone = sbth.eigvals_banded(bands, lower=lower, b_band=second, device="cuda")
    for band, w, v, only in zip(bands, values, vectors, alone, strict=True):
        true = sbth.eigvals_banded(band, lower=lower, b_band=second, device="cpu")
        for computed in (w, only):
            np.testing.assert_allclose(computed, true, rtol=0, atol=1e-13 * n)
        a, b = full_matrix(band, lower), full_matrix(second, lower)
        assert np.abs(a @ v - b @ v * w).max() < 1e-13 * n
        assert np.abs(v.conj().T @ b @ v - np.eye(n)).max() < 1e-13 * n


def full_matrix(band: np.ndarray, lower: bool) -> np.ndarray:
    """Return the full matrix of a band, whose storage is read element by element."""
    d, n = len(band) - 1, band.shape[1]
    a = np.zeros((n, n), complex)
    for i in range(n):
        for j in range(max(0, i - d), i + 1):
            a[i, j] = band[i - j, j] if lower else band[d + j - i, i].conj()
    np.fill_diagonal(a, a.diagonal().real)
    return a + np.tril(a, -1).conj().T


@pytest.mark.simulator
def test_errors_name_the_matrix():
    a, b = hermitian(4, 3).reshape(2, 2, 3, 3), definite(4, 3).reshape(2, 2, 3, 3)
    where = r"a, b, matrix \(1, 0\) of the batch: "
    for bad, message in (
        ((np.nan, 1.0), where + "a must be finite: its lower triangle"),
        ((1.0, np.inf), where + "b must be finite: its lower triangle"),
        ((1.0, -1.0), where + "b must be positive definite: its Cholesky"),
        ((np.nan, np.nan), where + "a must be finite"),
    ):
        first, second = a.copy(), b.copy()
        first[1, 0, 2, 2] *= bad[0]
        second[1, 0, 2, 2] *= bad[1]
        with pytest.raises(ValueError, match=message):
            sbth.eigh(first, second, device="cuda")
    with pytest.raises(ValueError, match=r"matrix \(0, 0\).*an eigenvalue exceeds the largest"):
        sbth.eigh(a * 1e200, b * 1e-200, device="cuda")


@pytest.mark.simulator
def test_magnitudes():
    """Cholesky factors and substitutions need no scaling."""
    a, b = hermitian(2, 4), definite(2, 4)
    values, vectors = sbth.eigh(a, b, device="cuda")
    far, columns = sbth.eigh(a * 2.0**-600, b * 2.0**400, device="cuda")
    np.testing.assert_allclose(far * 2.0**1000, values, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(abs(columns * 2.0**200), abs(vectors), rtol=0, atol=1e-12)


def test_chunks_give_the_same(monkeypatch):
    a, b = hermitian(5, 6, np.complex128), definite(5, 6, np.complex128)
    whole = sbth.eigh(a, b, device="cuda")
    monkeypatch.setattr("sbth._gpu_batches.solver._CHUNK", 2 * 36)
    for x, y in zip(whole, sbth.eigh(a, b, device="cuda"), strict=True):
        np.testing.assert_array_equal(x, y)


def test_matrices_in_global_memory(monkeypatch):
    a, b = hermitian(3, 90, np.complex128), definite(3, 90, np.complex128)
    monkeypatch.setattr(launch, "max_shared_memory", lambda: 0)
    assert_solves(a, *sbth.eigh(a, b, device="cuda"), b)


@pytest.mark.parametrize("condition", [1e4, 1e8])
def test_ill_conditioned_metrics(condition):
    """Errors of eigenvalues are of the size of SciPy's, both against 40 digits."""
    n = 20
    q = np.linalg.qr(np.random.default_rng(1).standard_normal((n, n)))[0]
    b = (q * np.geomspace(1.0, 1.0 / condition, n)) @ q.T
    b = (b + b.T) / 2
    a = hermitian(2, n)
    values = sbth.eigh(a, b, eigvals_only=True, device="cuda")
    for matrix, w in zip(a, values, strict=True):
        true = precise_values(matrix, b)
        error, of_scipy = (
            float(max(abs(mpmath.mpf(float(x)) - t) for x, t in zip(computed, true, strict=True)))
            for computed in (w, scipy.linalg.eigh(matrix, b, eigvals_only=True))
        )
        assert error < 5 * of_scipy + 1e-15 * np.linalg.norm(matrix, 2) * condition


def precise_values(a, b):
    """Return the eigenvalues of a pencil, computed with 40 digits."""
    with mpmath.workdps(40):
        inverse = mpmath.inverse(mpmath.cholesky(mpmath.matrix(b.tolist())))
        matrix = inverse * mpmath.matrix(a.tolist()) * inverse.T
        return sorted(mpmath.eigsy((matrix + matrix.T) / 2, eigvals_only=True))


@pytest.mark.parametrize("library", ["cupy", "torch"])
def test_arrays_on_a_gpu(library):
    xp = pytest.importorskip(library)
    if SIMULATOR:
        pytest.skip("the simulator has no arrays of other libraries")
    a, b = hermitian(6, 40, np.complex128).reshape(2, 3, 40, 40), definite(1, 40)[0]
    first, second = (
        xp.as_tensor(x, device="cuda") if library == "torch" else xp.asarray(x) for x in (a, b)
    )
    results = sbth.eigh(first, second)
    assert type(results[0]) is type(results[1]) is type(first)
    host = [x.cpu().numpy() if library == "torch" else x.get() for x in results]
    for x, y in zip(host, sbth.eigh(a, b, device="cuda"), strict=True):
        np.testing.assert_array_equal(x, y)
    assert sbth.eigvalsh(first).shape == (2, 3, 40)
