"""Batches of matrices and of pencils A - lambda B that a GPU solves, a block of threads each."""

import numpy as np
import pytest
import scipy.linalg

import hetero
import sbth
from eigen_checks import exact_eigenvalues
from hermitian_matrices import (
    assert_solves,
    definite,
    full_matrix,
    hermitian,
    random_numbers,
    tridiagonal,
)
from hetero.cuda import launch
from hetero.cuda.driver import SIMULATOR
from lapack_matrices import TYPES

pytestmark = [pytest.mark.cuda, pytest.mark.usefixtures("require_cuda")]

ORDERS = (1, 5) if SIMULATOR else (1, 2, 3, 31, 32, 33, 64, 100, 128, 160, 161, 168, 200, 300)
DTYPES = [np.float64, np.complex128]
if not SIMULATOR:  # which does not check types
    DTYPES += [np.float32, np.complex64]

STEPS_FOR_ONE_MATRIX = {
    *("LAPACK", "cuSOLVER", "band to tridiagonal", "divide and conquer", "back-transformation")
}


@pytest.fixture(autouse=True)
def _keep_to_kernels():
    """Let no test pass because matrices were solved one by one, by steps with other names."""
    with hetero.profile() as profile:
        yield
    assert not set(profile.children) & STEPS_FOR_ONE_MATRIX


def pencil(n, dtype=np.float64, count=3):
    """Return a batch of Hermitian matrices and one of positive definite matrices."""
    return hermitian(n, dtype, count), definite(n, dtype, count)


@pytest.mark.simulator
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", ORDERS)
def test_full_matrices(n, dtype):
    a = hermitian(n, dtype, 3)
    lower, upper = np.tril(a), np.triu(a)
    if lower.dtype.kind == "c":
        lower += 1j * np.eye(n, dtype=dtype)  # imaginary parts of the diagonal are ignored
    values, vectors = sbth.eigh(lower, device="cuda")
    assert vectors.dtype == dtype
    assert values.dtype == np.zeros(0, dtype).real.dtype
    assert_solves(a, values, vectors)
    assert_solves(a, sbth.eigvalsh(lower, device="cuda"))
    again = sbth.eigh(lower, device="cuda")
    np.testing.assert_array_equal(values, again[0])
    np.testing.assert_array_equal(vectors, again[1])
    assert_solves(a, *sbth.eigh(upper, lower=False, device="cuda"))


@pytest.mark.simulator
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [n for n in ORDERS if n not in (8, 160, 161, 168, 200)])
def test_full_pencils(n, dtype):
    a, b = pencil(n, dtype)
    values, vectors = sbth.eigh(np.tril(a), np.tril(b), device="cuda")
    assert vectors.dtype == dtype
    assert_solves(a, values, vectors, b)
    alone = sbth.eigh(np.triu(a), np.triu(b), lower=False, eigvals_only=True, device="cuda")
    assert_solves(a, alone, b=b)


@pytest.mark.simulator
@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("lower", [True, False])
def test_band_matrices(lower, dtype):
    n, d = (6, 2) if SIMULATOR else (100, 8)
    bands = random_numbers(np.random.default_rng(2), (2, d + 1, n), dtype)
    full = np.array([full_matrix(band, lower) for band in bands])
    assert_solves(full, *sbth.eig_banded(bands, lower=lower, device="cuda"))
    assert_solves(full, sbth.eigvals_banded(bands, lower=lower, device="cuda"))


@pytest.mark.simulator
@pytest.mark.parametrize("lower", [True, False])
def test_band_pencils(lower):
    """The bandwidths of both matrices differ."""
    n = 6 if SIMULATOR else 150
    bands = random_numbers(np.random.default_rng(4), (3, 4, n), complex)
    second = np.full((2, n), 0.4 - 0.1j)
    second[0 if lower else 1] = 2.0
    a, b = np.array([full_matrix(band, lower) for band in bands]), full_matrix(second, lower)
    options = {"lower": lower, "b_band": second, "device": "cuda"}
    metric = np.broadcast_to(b, a.shape)
    assert_solves(a, *sbth.eig_banded(bands, **options), metric)
    assert_solves(a, sbth.eigvals_banded(bands, **options), b=metric)


@pytest.mark.simulator
def test_tridiagonal_matrices():
    n = 5 if SIMULATOR else 250
    rng = np.random.default_rng(3)
    d, e = rng.standard_normal((2, 1, n)), rng.standard_normal((3, n - 1))
    full = np.array([tridiagonal(x, y) for x in d[:, 0] for y in e])
    values, vectors = sbth.eigh_tridiagonal(d, e, device="cuda")
    assert values.shape == (2, 3, n)
    assert_solves(full, values.reshape(6, n), vectors.reshape(6, n, n))
    assert_solves(full, sbth.eigvalsh_tridiagonal(d, e, device="cuda").reshape(6, n))


@pytest.mark.simulator
def test_selections_and_leading_dimensions():
    a = hermitian(4, count=6).reshape(2, 3, 4, 4)
    values, vectors = sbth.eigh(a, device="cuda")
    some, columns = sbth.eigh(a, subset_by_index=(1, 2), device="cuda")
    np.testing.assert_array_equal(some, values[..., 1:3])
    np.testing.assert_array_equal(columns, vectors[..., 1:3])
    first = sbth.eigvalsh(a, select="i", select_range=(0, 0), device="cuda")
    np.testing.assert_allclose(first, values[..., :1], rtol=0, atol=1e-14)
    assert sbth.eigh(a, eigvals_only=True, device="cuda").shape == (2, 3, 4)


@pytest.mark.simulator
def test_types_are_mixed_and_matrices_shared():
    """Real A, one complex B for all of them, which is given as a list."""
    n = 4
    a, b = hermitian(n, count=6).reshape(2, 3, n, n), definite(n, np.complex128)
    values, vectors = sbth.eigh(a, b.tolist(), device="cuda")
    assert values.shape == (2, 3, n)
    assert vectors.dtype == np.complex128
    many = np.broadcast_to(b, (6, n, n))
    assert_solves(a.reshape(6, n, n), values.reshape(6, n), vectors.reshape(6, n, n), many)


def test_chunks_give_the_same(monkeypatch):
    a = hermitian(6, count=5)
    a[2] = np.diag(a[2, 0])
    problems = (a,), pencil(6, np.complex128, 5)
    whole = [sbth.eigh(*problem, device="cuda") for problem in problems]
    monkeypatch.setattr("sbth._batch.solver._CHUNK", 2 * 36)
    for problem, expected in zip(problems, whole, strict=True):
        for x, y in zip(expected, sbth.eigh(*problem, device="cuda"), strict=True):
            np.testing.assert_array_equal(x, y)
    np.testing.assert_allclose(sbth.eigvalsh(a, device="cuda"), whole[0][0], rtol=0, atol=1e-14)


@pytest.mark.simulator
def test_short_rounds_of_sweeps_give_the_same(monkeypatch):
    """Small matrices are solved in rounds, of which more than the first ones are needed here."""
    a = hermitian(4 if SIMULATOR else 32, count=3)
    whole = sbth.eigh(a, device="cuda")
    monkeypatch.setattr("sbth._batch.solver._SWEEPS", 2)
    monkeypatch.setattr("sbth._batch.solver._USUAL_SWEEPS", 0.1)
    for x, y in zip(whole, sbth.eigh(a, device="cuda"), strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("dtype", [pytest.param(float, marks=pytest.mark.simulator), complex])
def test_matrices_in_global_memory_give_the_same(monkeypatch, dtype):
    a, b = pencil(3, dtype, 2) if SIMULATOR else pencil(90, dtype)
    d, e = a[:, 0].real, a[:, 1, 1:].real
    monkeypatch.setattr(launch, "max_shared_memory", lambda: 0)
    assert_solves(a, *sbth.eigh(a, device="cuda"))
    if SIMULATOR:  # where each solver takes many seconds, and the others use the same kernels
        return
    assert_solves(a, sbth.eigvalsh(a, device="cuda"))
    full = np.array([tridiagonal(x, y) for x, y in zip(d, e, strict=True)])
    assert_solves(full, *sbth.eigh_tridiagonal(d, e, device="cuda"))
    if dtype is complex:
        assert_solves(a, *sbth.eigh(a, b, device="cuda"), b)


@pytest.mark.parametrize("is_complex", [False, True])
@pytest.mark.parametrize("kind", TYPES)
def test_types_of_matrices(kind, is_complex):
    """A diagonal matrix of phases makes real matrices complex, with the same eigenvalues."""
    band, _ = TYPES[kind](53, 7)
    unit = np.abs(band).max() or 1.0
    full = sbth.dense_from_band(band, lower=True)
    a = np.array([full, -full])
    if is_complex:
        phases = np.exp(2j * np.pi * np.random.default_rng(8).random(53))
        a = a * np.outer(phases, phases.conj())
    values, vectors = sbth.eigh(a, device="cuda")
    assert_solves(a / unit, values / unit, vectors)
    assert_solves(a / unit, sbth.eigvalsh(a, device="cuda") / unit)


@pytest.mark.simulator
def test_phases_of_small_elements():
    """Elements beside the diagonal whose squares underflow have phases of magnitude 1, too."""
    a = np.diag(np.array([1.0, 2.0, 3.0, 4.0], complex))
    for k, size in enumerate((1e-160, 1e-310, 0.0)):
        a[k + 1, k] = size * (0.6 - 0.8j)
    a[3, 0] = 1e-170j
    values, vectors = sbth.eigh(a[None], device="cuda")
    np.testing.assert_allclose(values, [[1.0, 2.0, 3.0, 4.0]], rtol=1e-15)
    v = vectors[0]
    assert np.abs(v.conj().T @ v - np.eye(4)).max() < 1e-15


@pytest.mark.parametrize("condition", [1e4, 1e8])
def test_ill_conditioned_metrics(condition):
    """Errors of eigenvalues are of the size of SciPy's, both against 40 digits."""
    n = 20
    q = np.linalg.qr(np.random.default_rng(1).standard_normal((n, n)))[0]
    b = (q * np.geomspace(1.0, 1.0 / condition, n)) @ q.T
    b = (b + b.T) / 2
    a = hermitian(n, count=2)
    values = sbth.eigh(a, b, eigvals_only=True, device="cuda")
    for matrix, w in zip(a, values, strict=True):
        of_scipy = scipy.linalg.eigh(matrix, b, eigvals_only=True)
        error, expected = (np.abs(x - exact_eigenvalues(matrix, b)).max() for x in (w, of_scipy))
        assert error < 5 * expected + 1e-15 * np.linalg.norm(matrix, 2) * condition


@pytest.mark.simulator
def test_errors_name_the_matrix():
    a, b = (x.reshape(2, 2, 3, 3) for x in pencil(3, count=4))
    for wrong_a, wrong_b, words in (
        (np.nan, 1.0, r"a, b, matrix \(1, 0\) of the batch: a must be finite: its lower triangle"),
        (1.0, np.inf, r"matrix \(1, 0\) of the batch: b must be finite: its lower triangle"),
        (1.0, -1.0, r"matrix \(1, 0\) of the batch: b must be positive definite: its Cholesky"),
        (np.nan, np.nan, r"matrix \(1, 0\) of the batch: a must be finite"),
    ):
        first, second = a.copy(), b.copy()
        first[1, 0, 2, 1] *= wrong_a
        second[1, 0, 2, 2] *= wrong_b
        with pytest.raises(ValueError, match=words):
            sbth.eigh(first, second, device="cuda")
        if np.isnan(wrong_a):
            for solve in (sbth.eigh, sbth.eigvalsh):
                with pytest.raises(ValueError, match=r"^a, matrix \(1, 0\) .* its lower"):
                    solve(first, device="cuda")
    with pytest.raises(ValueError, match=r"matrix \(0, 0\).*an eigenvalue exceeds the largest"):
        sbth.eigh(a * 1e200, b * 1e-200, device="cuda")
    huge, inf = np.array([np.eye(3), np.full((3, 3), 1e308)]), np.full((2, 3), np.inf)
    with pytest.raises(ValueError, match=r"matrix \(1,\).*exceeds the largest float64"):
        sbth.eigh(huge, device="cuda")
    with pytest.raises(ValueError, match=r"d, e, matrix \(0,\) of the batch: d, e must be finite"):
        sbth.eigvalsh_tridiagonal(inf, np.ones((2, 2)), device="cuda")


@pytest.mark.parametrize("name", ["cupy", "torch"])
def test_arrays_on_a_gpu(name):
    library = pytest.importorskip(name)

    def upload(x):
        return library.as_tensor(x, device="cuda") if name == "torch" else library.asarray(x)

    def download(x):
        return x.cpu().numpy() if name == "torch" else x.get()

    a, b = hermitian(40, np.complex128, 6).reshape(2, 3, 40, 40), definite(40)
    here = upload(a)
    for matrices in ((a,), (a, b)):
        results = sbth.eigh(*map(upload, matrices))
        assert type(results[0]) is type(results[1]) is type(here)
        for x, y in zip(results, sbth.eigh(*matrices, device="cuda"), strict=True):
            np.testing.assert_array_equal(download(x), y)
    assert sbth.eigvalsh(here).shape == (2, 3, 40)
    reference = scipy.linalg.eigvals_banded(a[1, 2, :4])
    ours = sbth.eigvals_banded(here[..., :4, :])[1, 2]
    np.testing.assert_allclose(download(ours), reference, rtol=0, atol=1e-13)
    d, e = (upload(np.ascontiguousarray(x.real)) for x in (a[0, :, 0], a[0, :1, 0, 1:]))
    assert sbth.eigh_tridiagonal(d, e)[1].shape == (3, 40, 40)
