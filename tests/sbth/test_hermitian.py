"""Complex Hermitian matrices on a GPU by the kernels of this package, beside LAPACK."""

import numpy as np
import pytest

import sbth
from hetero.cuda.driver import SIMULATOR, cuda
from lapack_matrices import TYPES, small_beside_the_diagonal
from sbth import reference
from sbth._dense_to_band.back_transformation import apply_panels, join_panels
from sbth._dense_to_band.reduction import reduce_to_band
from sbth._reflections.compact_wy import qr_compact_wy

THRESHOLD = 20.0
"""Largest ratio that LAPACK's test program accepts."""

real_gpu = [
    pytest.mark.cuda,
    pytest.mark.usefixtures("require_cuda"),
    pytest.mark.skipif(SIMULATOR, reason="needs CuPy"),
]


def random_numbers(rng, shape, dtype=np.complex128) -> np.ndarray:
    """Return random numbers, complex ones for a complex type."""
    a = rng.standard_normal(shape)
    return (a + 1j * rng.standard_normal(shape) if np.dtype(dtype).kind == "c" else a).astype(dtype)


def random_matrix(n: int, d: int | None = None, dtype=np.complex128) -> np.ndarray:
    """Return a Hermitian matrix of order n with d subdiagonals, by default a full one."""
    a = random_numbers(np.random.default_rng(n), (n, n), dtype)
    a = a + a.conj().T
    distance = abs(np.subtract.outer(np.arange(n), np.arange(n)))
    return np.where(distance <= (n if d is None else d), a, 0).astype(dtype)


def storage(a: np.ndarray, d: int, lower: bool) -> np.ndarray:
    """Return LAPACK band storage with NaN in the entries outside the matrix."""
    n = len(a)
    ab = np.full((d + 1, n), np.nan, a.dtype)
    for k in range(min(d, n - 1) + 1):
        if lower:
            ab[k, : n - k] = np.diagonal(a, -k)
        else:
            ab[d - k, k:] = np.diagonal(a, k)
    return ab


def assert_ratios(a, values, vectors=None):
    """Check eigenvalues, residual and orthogonality, in the units of LAPACK's test program."""
    n, eps = max(len(a), 1), np.finfo(values.dtype).eps
    wide = a.astype(np.complex128)
    norm = np.linalg.norm(wide, 1) if len(a) else 1.0
    norm = norm or 1.0
    true = np.linalg.eigvalsh(wide / norm) * norm
    assert np.max(np.abs(values.astype(float) - true), initial=0.0) < THRESHOLD * norm * n * eps
    if vectors is not None and vectors.size:
        vectors = vectors.astype(np.complex128)
        residual = (wide / norm) @ vectors - vectors * (values.astype(float) / norm)
        assert np.linalg.norm(residual, 1) < THRESHOLD * n * eps
        gram = vectors.conj().T @ vectors
        assert np.linalg.norm(gram - np.eye(vectors.shape[1]), 1) < THRESHOLD * n * eps


# ---- kernels, in the simulator, too ------------------------------------------------------------


@pytest.mark.cuda
@pytest.mark.simulator
@pytest.mark.usefixtures("require_cuda")
@pytest.mark.parametrize("method", ["persistent", "wavefront"])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize(("n", "d"), [(7, 3), (6, 5)])
def test_chase(n, d, dtype, method):
    """The eigenvalues are kept, and Q, from the stored reflections, reduces the matrix."""
    from sbth._bulge_chasing.cuda import chase_bulges

    a = random_matrix(n, d, dtype)
    columns = np.zeros((n, 2 * d), dtype)
    for k in range(d + 1):
        columns[: n - k, k] = np.diagonal(a, -k)
    work, reflectors = cuda.to_device(columns), cuda.to_device(np.zeros((n - 2) * n, dtype))
    chase_bulges(work, d, method, None, reflectors)
    reduced, rows = work.copy_to_host(), reflectors.copy_to_host().reshape(n - 2, n)
    below = reduced[:-1, 1]
    t = np.diag(reduced[:, 0].real) + np.diag(below, -1) + np.diag(below.conj(), 1)
    q = np.eye(n, dtype=dtype)
    for column in range(n - 2):
        for start in range(column + 1, n, d):
            v = rows[column, start : start + d].copy()
            tau, v[0] = v[0].real, 1.0
            part = q[:, start : start + d]
            part -= tau * np.outer(part @ v, v.conj())
    np.testing.assert_allclose(q.conj().T @ a @ q, t, rtol=0, atol=1e-13)
    np.testing.assert_allclose(q.conj().T @ q, np.eye(n), rtol=0, atol=1e-14)


# ---- formulas, by NumPy ------------------------------------------------------------------------


@pytest.mark.parametrize(("m", "b"), [(7, 3), (3, 3), (2, 5)])
def test_panels_in_compact_wy_form(m, b):
    panel = random_numbers(np.random.default_rng(m), (m, b))
    v, u, r, _ = qr_compact_wy(np, panel)
    q = np.eye(m) - u @ v.conj().T
    np.testing.assert_allclose(q @ r, panel, rtol=0, atol=1e-14)
    np.testing.assert_allclose(q.conj().T @ q, np.eye(m), rtol=0, atol=1e-14)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize(("n", "b"), [(1, 2), (9, 2), (20, 3), (14, 13)])
def test_reduction_to_a_band(n, b, lower):
    a, panels = random_matrix(n), []
    given = np.tril(a) if lower else np.triu(a)
    ab, factor = reduce_to_band(
        np, given + 1j * np.diag(np.arange(n)), b, lower=lower, panels=panels
    )
    assert factor == 1.0
    band = np.diag(ab[0].real).astype(complex)
    for k in range(1, len(ab)):
        band += np.diag(ab[k, : n - k], -k) + np.diag(ab[k, : n - k].conj(), k)
    assert np.all(ab[0].imag == 0) or np.max(abs(ab[0].imag)) < 1e-13
    q = np.eye(n, dtype=complex)
    apply_panels(np, join_panels(np, panels, b), q)
    np.testing.assert_allclose(q @ band @ q.conj().T, a, rtol=0, atol=1e-13)


# ---- whole matrices, on a GPU ------------------------------------------------------------------


class TestFullMatrices:
    pytestmark = real_gpu

    @pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
    @pytest.mark.parametrize("n", [0, 1, 2, 3, 32, 33, 34, 65, 131, 400, 1001])
    def test_orders(self, n, dtype):
        a = random_matrix(n, dtype=dtype)
        values, vectors = sbth.eigh(np.tril(a), method="sbth", device="cuda")
        assert values.dtype == np.finfo(dtype).dtype
        assert vectors.dtype == dtype
        assert_ratios(a, values, vectors)
        alone = sbth.eigvalsh(np.tril(a), method="sbth", device="cuda")
        assert_ratios(a, alone)
        if n in (131, 1001):
            again = sbth.eigh(np.tril(a), method="sbth", device="cuda")
            np.testing.assert_array_equal(again[0], values)
            np.testing.assert_array_equal(again[1], vectors)

    @pytest.mark.parametrize("order", ["C", "F", "parts"])
    @pytest.mark.parametrize("lower", [True, False])
    def test_only_one_triangle_counts(self, lower, order):
        cupy = pytest.importorskip("cupy")
        a = random_matrix(150)
        rubbish = np.triu(np.full(a.shape, np.nan), 1)
        given = np.tril(a) + rubbish if lower else np.triu(a) + rubbish.T
        given = cupy.asarray(
            given + 1j * np.diag(np.arange(150.0)), order=order[0].replace("p", "C")
        )
        if order == "parts":
            wide = cupy.zeros((150, 300), given.dtype)
            wide[:, ::2] = given
            given = wide[:, ::2]
        before = given.copy()
        values, vectors = sbth.eigh(given, lower=lower, method="sbth")
        assert isinstance(vectors, cupy.ndarray)
        assert_ratios(a, values.get(), vectors.get())
        cupy.testing.assert_array_equal(given, before)
        alone = sbth.eigh(given, lower=lower, eigvals_only=True, method="sbth")
        assert_ratios(a, alone.get())

    def test_some(self):
        a = random_matrix(200)
        true = np.linalg.eigvalsh(a)
        values, vectors = sbth.eigh(a, subset_by_index=(3, 17), method="sbth", device="cuda")
        np.testing.assert_allclose(values, true[3:18], rtol=0, atol=1e-11)
        assert np.linalg.norm(a @ vectors - vectors * values, 1) < 1e-10
        low, high = (true[9] + true[10]) / 2, (true[99] + true[100]) / 2
        values, vectors = sbth.eigh(a, subset_by_value=(low, high), method="sbth", device="cuda")
        np.testing.assert_allclose(values, true[10:100], rtol=0, atol=1e-11)
        none = sbth.eigh(a, subset_by_value=(1e6, 2e6), method="sbth", device="cuda")
        assert none[0].shape == (0,)
        assert none[1].shape == (200, 0)
        values = sbth.eigvalsh(a, select="i", select_range=(5, 6), method="sbth", device="cuda")
        np.testing.assert_allclose(values, true[5:7], rtol=0, atol=1e-11)

    @pytest.mark.parametrize("scale", [1e-300, 1e300])
    def test_squares_that_leave_the_range(self, scale):
        a = random_matrix(40)
        values, vectors = sbth.eigh(a * scale, method="sbth", device="cuda")
        assert_ratios(a, values / scale, vectors)

    @pytest.mark.parametrize("value", [np.nan, np.inf, complex(0, -np.inf)])
    def test_what_is_not_finite_is_refused(self, value):
        a = random_matrix(50)
        a[40, 3] = value
        for solve in (sbth.eigh, sbth.eigvalsh):
            with pytest.raises(ValueError, match="triangle holds NaN or infinity"):
                solve(a, method="sbth", device="cuda")

    def test_torch(self):
        torch = pytest.importorskip("torch")
        a = random_matrix(60)
        values, vectors = sbth.eigh(torch.asarray(a, device="cuda"), method="sbth")
        assert vectors.device.type == "cuda"
        assert vectors.dtype == torch.complex128
        assert_ratios(a, values.cpu().numpy(), vectors.cpu().numpy())

    def test_generalized(self):
        a, b = random_matrix(90), random_matrix(90)
        b = b @ b + 90 * np.eye(90)
        values, vectors = sbth.eigh(a, b, method="sbth", device="cuda")
        assert np.max(abs(a @ vectors - (b @ vectors) * values)) < 1e-11
        assert np.max(abs(vectors.conj().T @ b @ vectors - np.eye(90))) < 1e-12


class TestBands:
    pytestmark = real_gpu

    @pytest.mark.parametrize("lower", [True, False])
    @pytest.mark.parametrize(
        ("n", "d"),
        [
            *((1, 0), (5, 0), (2, 1), (30, 1), (3, 2), (40, 2), (9, 8), (100, 16), (333, 31)),
            *((300, 32), (301, 33), (200, 50), (400, 64), (300, 65), (250, 120), (70, 90)),
        ],
    )
    def test_widths(self, n, d, lower):
        a = random_matrix(n, d)
        ab = storage(a, d, lower)
        values, vectors = sbth.eig_banded(ab, lower=lower, device="cuda")
        assert_ratios(a, values, vectors)
        alone = sbth.eigvals_banded(ab, lower=lower, device="cuda")
        assert_ratios(a, alone)

    @pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
    @pytest.mark.parametrize("d", [5, 20, 40, 80])
    def test_cupy(self, d, dtype):
        cupy = pytest.importorskip("cupy")
        a = random_matrix(150, d, dtype)
        ab = cupy.asarray(storage(a, d, True))
        values, vectors = sbth.eig_banded(ab, lower=True)
        assert isinstance(values, cupy.ndarray)
        assert vectors.dtype == dtype
        assert_ratios(a, values.get(), vectors.get())
        again = sbth.eig_banded(ab, lower=True)
        cupy.testing.assert_array_equal(again[1], vectors)
        alone = sbth.eigvals_banded(ab, lower=True)
        assert isinstance(alone, cupy.ndarray)
        assert alone.dtype == np.finfo(dtype).dtype
        assert_ratios(a, alone.get())

    def test_torch(self):
        torch = pytest.importorskip("torch")
        a = random_matrix(60, 7)
        ab = torch.asarray(storage(a, 7, False), device="cuda")
        values, vectors = sbth.eig_banded(ab)
        assert_ratios(a, values.cpu().numpy(), vectors.cpu().numpy())
        assert_ratios(a, sbth.eigvals_banded(ab).cpu().numpy())
        with_gradient = ab.clone().requires_grad_()
        assert_ratios(a, sbth.eigvals_banded(with_gradient).cpu().numpy())

    @pytest.mark.parametrize("kind", TYPES)
    def test_types_of_lapack(self, kind):
        """Unitary diagonal factors from both sides make real matrices complex."""
        ab, true = TYPES[kind](75, 9)
        phases = np.exp(2j * np.pi * np.random.default_rng(0).random(75))
        rotated = ab.astype(complex)
        for k in range(10):
            rotated[k, : 75 - k] *= phases[k:] * phases[: 75 - k].conj()
        unit = max(np.max(np.abs(ab)), np.finfo(float).tiny)
        a = reference.dense_from_band(ab / unit, lower=True)
        a = phases[:, None] * a * phases.conj()
        values, vectors = sbth.eig_banded(rotated, lower=True, device="cuda")
        assert_ratios(a, values / unit, vectors)
        if true is not None:
            largest = np.max(np.abs(true / unit))
            error = np.max(np.abs(values - true) / unit)
            assert error <= THRESHOLD * 75 * np.finfo(float).eps * largest

    def test_reflections_are_orthogonal_when_squares_underflow(self):
        ab, _ = small_beside_the_diagonal(53, 7, 1e-157, np.float64)
        _, vectors = sbth.eig_banded(ab * (1 + 0j), lower=True, device="cuda")
        assert np.linalg.norm(vectors.conj().T @ vectors - np.eye(53), 1) < 53 * 20 * 2.3e-16

    def test_blocks_keep_errors_relative_to_their_own_norms(self):
        small, large = random_matrix(20, 3) * 1e-12, random_matrix(30, 3)
        ab = np.hstack((storage(small, 3, True), storage(large, 3, True)))
        for k in range(1, 4):
            ab[k, 20 - k : 20] = 0
        values, vectors = sbth.eig_banded(ab, lower=True, device="cuda")
        true = np.sort(np.concatenate([np.linalg.eigvalsh(x) for x in (small, large)]))
        inner = np.argsort(abs(true))[:20]
        np.testing.assert_allclose(values[inner], true[inner], rtol=0, atol=1e-25)
        assert np.linalg.norm(vectors.conj().T @ vectors - np.eye(50), 1) < 1e-12
        np.testing.assert_allclose(
            sbth.eigvals_banded(ab, lower=True, device="cuda"), values, rtol=0, atol=1e-13
        )

    def test_some(self):
        a = random_matrix(120, 6)
        ab, true = storage(a, 6, True), np.linalg.eigvalsh(a)
        values, vectors = sbth.eig_banded(
            ab, lower=True, select="i", select_range=(100, 119), device="cuda"
        )
        np.testing.assert_allclose(values, true[100:], rtol=0, atol=1e-12)
        assert np.linalg.norm(a @ vectors - vectors * values, 1) < 1e-11
        middle = (true[49] + true[50]) / 2
        values = sbth.eigvals_banded(
            ab, lower=True, select="v", select_range=(middle, 1e9), device="cuda"
        )
        np.testing.assert_allclose(values, true[50:], rtol=0, atol=1e-12)

    def test_what_is_not_finite_is_refused(self):
        ab = storage(random_matrix(30, 4), 4, True)
        ab[2, 11] = complex(0, np.nan)
        for solve in (sbth.eig_banded, sbth.eigvals_banded):
            with pytest.raises(ValueError, match=r"holds nan for element \(13, 11\)"):
                solve(ab, lower=True, device="cuda")

    def test_lapack_and_cusolver_are_not_for_them(self):
        ab = storage(random_matrix(30, 4), 4, True)
        for method in ("lapack", "cusolver"):
            with pytest.raises(ValueError, match="method"):
                sbth.eig_banded(ab, lower=True, method=method, device="cuda")


def test_loops_of_the_cpu_are_for_real_matrices():
    ab = np.ones((2, 5), complex)
    for solve, a in ((sbth.eigvals_banded, ab), (sbth.eigh, np.eye(3, dtype=complex))):
        with pytest.raises(ValueError, match="real"):
            solve(a, method="sbth", device="cpu")
