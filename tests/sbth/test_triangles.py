"""Triangles of full matrices on a GPU."""

import numpy as np
import pytest

import sbth
from hermitian_matrices import hermitian
from hetero.cuda.driver import cuda

on_gpu = [pytest.mark.cuda, pytest.mark.usefixtures("require_cuda")]

N = 11


def triangle_with_rubbish(dtype, lower: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return a Hermitian matrix, and a copy with NaN in the triangle that does not count."""
    a = hermitian(N, dtype)
    rubbish = np.triu(np.full((N, N), np.nan), 1)
    return a, a + (rubbish if lower else rubbish.T)


def largest_by_kernel(a, lower: bool) -> float:
    from sbth._reduction.dense_to_band.triangle_kernels import KERNELS, THREADS

    real = a.real.dtype
    numbers, largest = cuda.to_device(a.reshape(-1).view(real)), cuda.to_device(np.zeros(1))
    parts = a.itemsize // real.itemsize
    KERNELS[f"find_largest_{real}"][3, THREADS](numbers, len(a), parts, lower, largest)
    return float(largest.copy_to_host()[0])


@pytest.mark.simulator
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
class TestLargestMagnitude:
    pytestmark = on_gpu

    def test_it_is_that_of_one_triangle(self, dtype, lower):
        a, given = triangle_with_rubbish(dtype, lower)
        assert largest_by_kernel(given, lower) == np.abs(a.view(a.real.dtype)).max()

    @pytest.mark.parametrize("value", [np.nan, -np.inf])
    @pytest.mark.parametrize("place", [(0, 0), (9, 4), (10, 10)])
    def test_it_is_infinite_if_an_element_is_not_finite(self, dtype, lower, value, place):
        a, _ = triangle_with_rubbish(dtype, lower)
        a[place if lower else place[::-1]] = value
        assert largest_by_kernel(a, lower) == np.inf


@pytest.mark.simulator
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("n", [1, 4, N])
class TestMirror:
    pytestmark = on_gpu

    def test_it_is_the_whole_matrix_times_the_factor(self, n, dtype, lower):
        from sbth._reduction.dense_to_band.triangle_kernels import KERNELS, THREADS, TILE

        a, given = (x[:n, :n].copy() for x in triangle_with_rubbish(dtype, lower))
        if a.dtype.kind == "c":
            given += 1j * np.diag(np.arange(1.0, n + 1))  # which is ignored
        out = cuda.to_device(np.full(n * n, np.nan, dtype))
        tiles = -(-n // TILE)
        mirror = KERNELS[f"mirror_{a.dtype}"]
        mirror[tiles * tiles, THREADS](cuda.to_device(given.reshape(-1)), n, lower, 0.25, out)
        np.testing.assert_array_equal(out.copy_to_host().reshape(n, n), a / 4)


@pytest.mark.parametrize("order", ["C", "F", "parts"])
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize(
    ("n", "dtype", "method"),
    [
        *((300, "f8", "auto"), (300, "c16", "auto"), (300, "c16", "sbth")),
        *((2800, "f8", "auto"), (3600, "f4", "auto")),
    ],
)
class TestWholeMatrices:
    """Orders that cuSOLVER solves, or an own reduction in two stages."""

    pytestmark = on_gpu

    def matrix(self, n, dtype, lower, order):
        """Return a Hermitian matrix, and one with rubbish outside a triangle, on the GPU."""
        cupy = pytest.importorskip("cupy")
        rng = cupy.random.default_rng(n)
        a = rng.standard_normal((n, n)) + 1j * rng.standard_normal((n, n))
        a = (a if dtype == "c16" else a.real).astype(dtype)
        a = a + a.conj().T
        given = cupy.tril(a) if lower else cupy.triu(a)
        given += (cupy.triu if lower else cupy.tril)(
            cupy.full((n, n), np.nan, a.real.dtype), 1 if lower else -1
        )
        if order == "F":
            given = cupy.asfortranarray(given)
        elif order == "parts":
            wide = cupy.zeros((n, 2 * n), a.dtype)
            wide[:, ::2] = given
            given = wide[:, ::2]
        return a, given

    def test_only_one_triangle_counts(self, n, dtype, lower, order, method):
        import cupy

        a, given = self.matrix(n, dtype, lower, order)
        true = cupy.linalg.eigvalsh(a.astype(np.complex128 if dtype == "c16" else np.float64))
        before, options = given.copy(), {"lower": lower, "method": method}
        values, vectors = sbth.eigh(given, **options)
        cupy.testing.assert_array_equal(given, before)
        eps, norm = float(np.finfo(dtype).eps), float(abs(true).max())
        assert float(abs(values - true).max()) < 20 * eps * norm * np.sqrt(n)
        assert float(abs(a @ vectors - vectors * values).max()) < 20 * eps * norm * np.sqrt(n)
        alone = sbth.eigh(given, eigvals_only=True, **options)
        assert float(abs(alone - true).max()) < 20 * eps * norm * np.sqrt(n)


@pytest.mark.cuda
@pytest.mark.usefixtures("require_cuda")
@pytest.mark.parametrize("dtype", ["f8", "c16", "f4"])
@pytest.mark.parametrize("exponent", [-0.7, 0.7])
def test_tiny_and_huge_elements_are_scaled_for_the_vendor(dtype, exponent):
    cupy = pytest.importorskip("cupy")
    rng = cupy.random.default_rng(3)
    a = rng.standard_normal((120, 120)) + 1j * rng.standard_normal((120, 120))
    a = (a if dtype == "c16" else a.real).astype(dtype)
    factor = 2.0 ** int(exponent * np.finfo(dtype).maxexp)
    values, vectors = sbth.eigh(a * a.real.dtype.type(factor))
    plain = sbth.eigh(a)
    np.testing.assert_allclose(
        values.get() / factor, plain[0].get(), rtol=0, atol=1e-3 if dtype == "f4" else 1e-12
    )
    assert float(abs(vectors.conj().T @ vectors - cupy.eye(120)).max()) < 1e-4
