"""Complex Hermitian matrices on a GPU by the kernels of this package, beside LAPACK."""

import numpy as np
import pytest

import sbth
from eigen_checks import EPS, THRESHOLD, assert_eigenpairs
from hermitian_matrices import hermitian, narrow, store
from hetero.cuda.driver import cuda
from lapack_matrices import TYPES
from sbth import reference
from sbth._reduction.dense_to_band.back_transformation import apply_panels, join_panels
from sbth._reduction.dense_to_band.reduction import reduce_panels

real_gpu = [pytest.mark.cuda, pytest.mark.usefixtures("require_cuda")]

COMPLEX = np.complex128
OURS = {"method": "sbth", "device": "cuda"}
LOWER = {"lower": True, "device": "cuda"}


def random_band(n: int, d: int, dtype=COMPLEX) -> np.ndarray:
    """Return a Hermitian matrix of order n with d subdiagonals."""
    return narrow(hermitian(n, dtype), d)


# ---- kernels, in the simulator, too ------------------------------------------------------------


@pytest.mark.cuda
@pytest.mark.simulator
@pytest.mark.usefixtures("require_cuda")
@pytest.mark.parametrize("method", ["persistent", "wavefront"])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize(("n", "d"), [(7, 3), (6, 5)])
def test_chase(n, d, dtype, method):
    """The eigenvalues are kept, and Q, from the stored reflections, reduces the matrix."""
    from sbth._reduction.bulge_chasing.cuda import chase_bulges

    a = random_band(n, d, dtype)
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


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize(("n", "b"), [(1, 2), (9, 2), (20, 3), (14, 13)])
def test_reduction_to_a_band(n, b, lower):
    a, panels = hermitian(n, COMPLEX), []
    given = np.tril(a) if lower else np.triu(a)
    given = given + 1j * np.diag(np.arange(n))
    reduced, factor = reduce_panels(np, given, b, lower=lower, panels=panels)
    assert factor == 1.0
    ab = [np.diagonal(reduced, -k) for k in range(min(b, n - 1) + 1)]
    band = np.diag(ab[0].real).astype(complex)
    for k in range(1, len(ab)):
        band += np.diag(ab[k], -k) + np.diag(ab[k].conj(), k)
    assert np.max(abs(ab[0].imag)) < 1e-13
    q = np.eye(n, dtype=complex)
    apply_panels(np, join_panels(np, panels, b), q)
    np.testing.assert_allclose(q @ band @ q.conj().T, a, rtol=0, atol=1e-13)


# ---- whole matrices, on a GPU ------------------------------------------------------------------


class TestFullMatrices:
    pytestmark = real_gpu

    @pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
    @pytest.mark.parametrize("n", [0, 1, 2, 3, 32, 33, 34, 65, 131, 400, 1001])
    def test_orders(self, n, dtype):
        a = hermitian(n, dtype)
        values, vectors = sbth.eigh(np.tril(a), **OURS)
        assert values.dtype == np.finfo(dtype).dtype
        assert vectors.dtype == dtype
        assert_eigenpairs(a, values, vectors)
        assert_eigenpairs(a, sbth.eigvalsh(np.tril(a), **OURS))
        again = sbth.eigh(np.tril(a), **OURS)
        np.testing.assert_array_equal(again[0], values)
        np.testing.assert_array_equal(again[1], vectors)

    def test_some(self):
        a = hermitian(200, COMPLEX)
        true = np.linalg.eigvalsh(a)
        low, high = (true[9] + true[10]) / 2, (true[99] + true[100]) / 2
        for chosen, first, count in (
            ({"subset_by_index": (3, 17)}, 3, 15),
            ({"subset_by_value": (low, high)}, 10, 90),
            ({"subset_by_value": (1e6, 2e6)}, 200, 0),
        ):
            values, vectors = sbth.eigh(a, **chosen, **OURS)
            assert vectors.shape == (200, count)
            assert_eigenpairs(a, values, vectors, first=first)
        values = sbth.eigvalsh(a, select="i", select_range=(5, 6), **OURS)
        assert_eigenpairs(a, values, first=5)


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
        a = random_band(n, d)
        ab = store(a, d, lower)
        assert_eigenpairs(a, *sbth.eig_banded(ab, lower=lower, device="cuda"))
        assert_eigenpairs(a, sbth.eigvals_banded(ab, lower=lower, device="cuda"))

    @pytest.mark.parametrize("d", [7, None])
    def test_torch(self, d):
        """A band is stored in the upper triangle; gradients are left out."""
        torch = pytest.importorskip("torch")
        a = hermitian(60, COMPLEX) if d is None else random_band(60, d)
        there = torch.asarray(a if d is None else store(a, d, False), device="cuda")
        pairs = sbth.eigh(there, method="sbth") if d is None else sbth.eig_banded(there)
        assert pairs[1].device.type == "cuda"
        assert pairs[1].dtype == torch.complex128
        assert_eigenpairs(a, *(x.cpu().numpy() for x in pairs))
        for given in (there, there.clone().requires_grad_()) if d else ():
            assert_eigenpairs(a, sbth.eigvals_banded(given).cpu().numpy())

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
        values, vectors = sbth.eig_banded(rotated, **LOWER)
        assert_eigenpairs(a, values / unit, vectors)
        if true is not None:
            largest = np.max(np.abs(true / unit))
            assert np.max(np.abs(values - true) / unit) <= THRESHOLD * 75 * EPS * largest

    def test_blocks_keep_errors_relative_to_their_own_norms(self):
        small, large = random_band(20, 3) * 1e-12, random_band(30, 3)
        ab = np.hstack((store(small, 3, True), store(large, 3, True)))
        for k in range(1, 4):
            ab[k, 20 - k : 20] = 0
        values, vectors = sbth.eig_banded(ab, **LOWER)
        true = np.sort(np.concatenate([np.linalg.eigvalsh(x) for x in (small, large)]))
        inner = np.argsort(abs(true))[:20]
        np.testing.assert_allclose(values[inner], true[inner], rtol=0, atol=1e-25)
        assert np.linalg.norm(vectors.conj().T @ vectors - np.eye(50), 1) < 1e-12
        alone = sbth.eigvals_banded(ab, **LOWER)
        np.testing.assert_allclose(alone, values, rtol=0, atol=1e-13)
