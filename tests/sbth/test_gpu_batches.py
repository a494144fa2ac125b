"""Batches that a GPU solves, a block of threads for each matrix."""

import numpy as np
import pytest
import scipy.linalg

import sbth
from batches_of_matrices import assert_solves, hermitian, tridiagonal
from hetero.cuda import launch
from hetero.cuda.driver import SIMULATOR
from lapack_matrices import TYPES
from recorded_bars import RecordedBars

pytestmark = [pytest.mark.cuda, pytest.mark.usefixtures("require_cuda")]


@pytest.fixture(autouse=True)
def _keep_to_kernels(monkeypatch):
    """Let no test pass because matrices were solved one by one."""

    def refuse(*_, **__):
        raise AssertionError("the batch was not solved by the kernels")

    monkeypatch.setattr("sbth._batches._solve_batch", refuse)


ORDERS = (1, 5, 8) if SIMULATOR else (1, 2, 3, 31, 32, 33, 64, 100, 128, 160, 161, 168, 200, 300)
TYPES_OF_NUMBERS = [np.float64, np.complex128]
if not SIMULATOR:  # which does not check types
    TYPES_OF_NUMBERS += [np.float32, np.complex64]


@pytest.mark.simulator
@pytest.mark.parametrize("dtype", TYPES_OF_NUMBERS)
@pytest.mark.parametrize("n", ORDERS)
def test_full_matrices(n, dtype):
    a = hermitian(3, n, dtype)
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
@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("lower", [True, False])
def test_band_matrices(lower, dtype):
    n, d = (6, 2) if SIMULATOR else (100, 8)
    bands, full = random_bands(2, d, n, lower, dtype)
    assert_solves(full, *sbth.eig_banded(bands, lower=lower, device="cuda"))
    assert_solves(full, sbth.eigvals_banded(bands, lower=lower, device="cuda"))


def random_bands(count, d, n, lower, dtype):
    """Return random matrices in band storage and as full ones."""
    bands = np.random.default_rng(2).standard_normal((count, d + 1, n)).astype(dtype)
    if dtype is complex:
        bands += 1j * bands[::-1, :, ::-1]
    full = np.zeros((count, n, n), dtype)
    for k in range(d + 1):
        for j in range(n - k):
            diagonal = bands[:, k, j] if lower else bands[:, d - k, j + k].conj()
            full[:, j + k, j] = diagonal if k else diagonal.real
            full[:, j, j + k] = full[:, j + k, j].conj()
    return bands, full


@pytest.mark.simulator
def test_tridiagonal_matrices():
    n = 5 if SIMULATOR else 250
    rng = np.random.default_rng(3)
    d, e = rng.standard_normal((2, 1, n)), rng.standard_normal((3, n - 1))
    full = [tridiagonal(x, y) for x in d[:, 0] for y in e]
    values, vectors = sbth.eigh_tridiagonal(d, e, device="cuda")
    assert values.shape == (2, 3, n)
    assert_solves(np.array(full), values.reshape(6, n), vectors.reshape(6, n, n))
    alone = sbth.eigvalsh_tridiagonal(d, e, device="cuda").reshape(6, n)
    assert_solves(np.array(full), alone)


@pytest.mark.simulator
def test_selections_and_leading_dimensions():
    a = hermitian(6, 5).reshape(2, 3, 5, 5)
    values, vectors = sbth.eigh(a, device="cuda")
    some, columns = sbth.eigh(a, subset_by_index=(1, 3), device="cuda")
    np.testing.assert_array_equal(some, values[..., 1:4])
    np.testing.assert_array_equal(columns, vectors[..., 1:4])
    first = sbth.eigvalsh(a, select="i", select_range=(0, 0), device="cuda")
    np.testing.assert_allclose(first, values[..., :1], rtol=0, atol=1e-14)
    assert sbth.eigh(a, eigvals_only=True, device="cuda").shape == (2, 3, 5)


def test_chunks_give_the_same(monkeypatch):
    a = hermitian(5, 6)
    a[2] = np.diag(a[2, 0])
    whole = sbth.eigh(a, device="cuda")
    monkeypatch.setattr("sbth._gpu_batches.solver._CHUNK", 2 * 36)
    for x, y in zip(whole, sbth.eigh(a, device="cuda"), strict=True):
        np.testing.assert_array_equal(x, y)
    np.testing.assert_allclose(sbth.eigvalsh(a, device="cuda"), whole[0], rtol=0, atol=1e-14)


@pytest.mark.simulator
def test_short_rounds_of_sweeps_give_the_same(monkeypatch):
    """Small matrices are solved in rounds, of which more than the first ones are needed here."""
    n = 4 if SIMULATOR else 32
    a = hermitian(3, n)
    whole = sbth.eigh(a, device="cuda")
    monkeypatch.setattr("sbth._gpu_batches.solver._SWEEPS", 2)
    monkeypatch.setattr("sbth._gpu_batches.solver._USUAL_SWEEPS", 0.1)
    for x, y in zip(whole, sbth.eigh(a, device="cuda"), strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("dtype", [pytest.param(float, marks=pytest.mark.simulator), complex])
def test_matrices_in_global_memory_give_the_same(monkeypatch, dtype):
    n = 6 if SIMULATOR else 90
    a = hermitian(3, n, dtype)
    d, e = a[:, 0].real, a[:, 1, 1:].real
    monkeypatch.setattr(launch, "max_shared_memory", lambda: 0)
    assert_solves(a, *sbth.eigh(a, device="cuda"))
    assert_solves(a, sbth.eigvalsh(a, device="cuda"))
    full = np.array([tridiagonal(x, y) for x, y in zip(d, e, strict=True)])
    assert_solves(full, *sbth.eigh_tridiagonal(d, e, device="cuda"))


@pytest.mark.parametrize("kind", TYPES)
def test_types_of_matrices(kind):
    band, _ = TYPES[kind](53, 7)
    unit = np.abs(band).max() or 1.0
    full = sbth.dense_from_band(band, lower=True)
    a = np.array([full, -full])
    values, vectors = sbth.eigh(a, device="cuda")
    assert_solves(a / unit, values / unit, vectors)
    assert_solves(a / unit, sbth.eigvalsh(a, device="cuda") / unit)


@pytest.mark.parametrize("kind", TYPES)
def test_types_of_complex_matrices(kind):
    """A diagonal matrix of phases makes real matrices complex, with the same eigenvalues."""
    band, _ = TYPES[kind](53, 7)
    unit = np.abs(band).max() or 1.0
    phases = np.exp(2j * np.pi * np.random.default_rng(8).random(53))
    full = sbth.dense_from_band(band, lower=True)
    a = np.array([full, -full]) * np.outer(phases, phases.conj())
    values, vectors = sbth.eigh(a, device="cuda")
    assert_solves(a / unit, values / unit, vectors)
    assert_solves(a / unit, sbth.eigvalsh(a, device="cuda") / unit)


@pytest.mark.parametrize("size", [1e-300, 1e-150, 1e-100, 1e100, 1e150, 1e300])
def test_magnitudes(size):
    a = hermitian(2, 5)
    for values in (sbth.eigvalsh(a * size, device="cuda"), sbth.eigh(a * size, device="cuda")[0]):
        assert_solves(a, values / size)


def test_glued_wilkinson_matrices():
    blocks, n = 12, 21
    d = np.tile(np.abs(np.arange(n) - n // 2).astype(float), blocks)
    e = np.ones(blocks * n - 1)
    e[n - 1 :: n] = 1e-8
    full = tridiagonal(d, e)
    a = np.array([full, full])
    assert_solves(a, *sbth.eigh_tridiagonal(np.array([d, d]), np.array([e, e]), device="cuda"))
    assert_solves(a, *sbth.eigh(a, device="cuda"))


def test_equal_eigenvalues():
    """Projections to a plane have the eigenvalue 0 many times and 1 twice."""
    n = 100
    q = np.linalg.qr(np.random.default_rng(1).standard_normal((4, n, 2)))[0]
    a = q @ q.transpose(0, 2, 1)
    values, vectors = sbth.eigh(a, device="cuda")
    assert_solves(a, values, vectors)
    assert np.abs(values[:, :-2]).max() < 1e-13


@pytest.mark.simulator
def test_batches_of_one_and_orders_without_reflections():
    """A batch of one matrix, matrices of order 1, and non-contiguous and read-only arrays."""
    a = hermitian(4, 4, np.complex128)
    one = sbth.eigh(a[:1], device="cuda")
    assert_solves(a[:1], *one)
    strided = np.asfortranarray(a)[::-2, ::2, ::2]
    strided.flags.writeable = False
    assert_solves(strided.copy(), *sbth.eigh(strided, device="cuda"))
    values, vectors = sbth.eigh(np.full((3, 1, 1), 2.0 + 5.0j), device="cuda")
    np.testing.assert_array_equal(values, np.full((3, 1), 2.0))
    np.testing.assert_array_equal(vectors, np.ones((3, 1, 1)))


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


def test_sums_of_projections_have_equal_eigenvalues():
    """A complex matrix with three eigenvalues 1 and the rest 0."""
    n = 80
    rng = np.random.default_rng(1)
    x = rng.standard_normal((2, n, 3)) + 1j * rng.standard_normal((2, n, 3))
    q = np.linalg.qr(x)[0]
    a = q @ q.conj().transpose(0, 2, 1)
    values, vectors = sbth.eigh(a, device="cuda")
    assert_solves(a, values, vectors)
    assert np.abs(values[:, :-3]).max() < 1e-13


@pytest.mark.simulator
def test_progress_does_not_change_results(monkeypatch):
    a = hermitian(5, 3)
    bars = RecordedBars(monkeypatch)
    monkeypatch.setattr("sbth._gpu_batches.solver._SHOWN_CHUNK", 2 * 9)
    shown = sbth.eigvalsh(a, progress=True, device="cuda")
    assert bars.steps == [("batch of matrices", 5), 2, 4, 5]
    np.testing.assert_array_equal(shown, sbth.eigvalsh(a, device="cuda"))
    assert len(bars.steps) == 4


@pytest.mark.simulator
def test_errors_name_the_matrix():
    a = hermitian(4, 5).reshape(2, 2, 5, 5)
    a[1, 0, 3, 1] = np.nan
    for solve in (sbth.eigh, sbth.eigvalsh):
        with pytest.raises(
            ValueError, match=r"a, matrix \(1, 0\) of the batch: a must be finite: its lower"
        ):
            solve(a, device="cuda")
    with pytest.raises(
        ValueError, match=r"matrix \(1,\).*an eigenvalue exceeds the largest float64"
    ):
        sbth.eigh(np.array([np.eye(3), np.full((3, 3), 1e308)]), device="cuda")
    with pytest.raises(ValueError, match="subset_by_index must hold indices"):
        sbth.eigh(hermitian(2, 4), subset_by_index=(0, 4), device="cuda")
    with pytest.raises(ValueError, match=r"d, e, matrix \(0,\) of the batch: d, e must be finite"):
        sbth.eigvalsh_tridiagonal(np.full((2, 3), np.inf), np.ones((2, 2)), device="cuda")


@pytest.mark.parametrize("library", ["cupy", "torch"])
def test_arrays_on_a_gpu(library):
    xp = pytest.importorskip(library)
    if SIMULATOR:
        pytest.skip("the simulator has no arrays of other libraries")
    a = hermitian(6, 40).reshape(2, 3, 40, 40)
    here = xp.as_tensor(a, device="cuda") if library == "torch" else xp.asarray(a)
    values, vectors = sbth.eigh(here)
    assert type(values) is type(vectors) is type(here)
    host = [x.cpu().numpy() if library == "torch" else x.get() for x in (values, vectors)]
    for x, y in zip(host, sbth.eigh(a, device="cuda"), strict=True):
        np.testing.assert_array_equal(x, y)
    assert sbth.eigvalsh(here).shape == (2, 3, 40)
    bands = here[..., :4, :]
    reference = scipy.linalg.eigvals_banded(a[1, 2, :4])
    ours = sbth.eigvals_banded(bands)[1, 2]
    np.testing.assert_allclose(
        ours.cpu().numpy() if library == "torch" else ours.get(), reference, rtol=0, atol=1e-13
    )
    d, e = here[0, :, 0], here[0, :1, 0, 1:]
    assert sbth.eigh_tridiagonal(d, e)[1].shape == (3, 40, 40)
