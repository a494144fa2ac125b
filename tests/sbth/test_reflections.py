"""Q is accurate, is not uploaded as zeros, and costs as much as the documentation says."""

import numpy as np
import pytest

import hetero
import sbth
from sbth import reference
from sbth._dense_to_band import reduction


def reduce_random_band(n, d, dtype, **options):
    """Return Q of the reduction of a random band matrix."""
    ab = np.random.default_rng(n).standard_normal((d + 1, n)).astype(dtype)
    return sbth.tridiagonalize(ab, keep_reflectors=True, **options)[2]


def test_vectors_of_any_type_are_multiplied_in_float64():
    """x is exact in float32, so the product must be that of the same x in float64."""
    q = reduce_random_band(40, 4, np.float64, device="cpu")
    x = np.random.default_rng(0).integers(-8, 8, (40, 3))
    exact = q.apply(x.astype(float))
    for dtype in (np.float32, np.float16, np.int8):
        result = q.apply(x.astype(dtype))
        assert result.dtype == np.float64
        np.testing.assert_array_equal(result, exact)
    result = q.apply(x.astype(np.complex64))
    assert result.dtype == np.complex128
    np.testing.assert_array_equal(result.real, exact)


def test_results_have_the_more_precise_of_both_types():
    q = reduce_random_band(40, 4, np.float32, device="cpu")
    for dtype, expected in (("f4", "f4"), ("f8", "f8"), ("i8", "f8"), ("c8", "c8")):
        assert q.apply(np.ones(40, dtype)).dtype == np.dtype(expected)
    identity = reduce_random_band(2, 1, np.float64, device="cpu")  # Q = 1, without a stage
    assert identity.apply(np.ones(2, np.float32)).dtype == np.float64


@pytest.mark.parametrize("d", [5, 40])
def test_only_the_band_is_uploaded(device, d, monkeypatch):
    """The reflections start as zeros, which a GPU can store itself."""
    from sbth import tridiagonalization

    monkeypatch.setattr(tridiagonalization, "TWO_STAGE_BANDWIDTH", {"cpu": 33, "cuda": 33})
    n = 120
    ab = np.random.default_rng(0).standard_normal((d + 1, n))
    with hetero.profile() as profile:
        *_, q = sbth.tridiagonalize(ab, keep_reflectors=True, device=device)
    assert profile.bytes_to_device <= ab.nbytes
    full = q.apply(np.eye(n))
    assert np.linalg.norm(full.T @ full - np.eye(n)) < 1e-12


@pytest.mark.simulator
@pytest.mark.parametrize("device", ["cuda"])
def test_memory_for_reflections_is_zero(require_cuda, device):
    """Memory is reused, so it must be cleared."""
    from hetero.cuda.driver import cuda
    from sbth._working_matrix.cuda import zeros

    for size in (0, 1, 700):
        cuda.to_device(np.full(max(size, 1), np.nan, np.float32))
        values = zeros(size, np.dtype(np.float32))
        assert values.dtype == np.float32
        assert values.shape == (size,)
        if size:
            assert not values.copy_to_host().any()


class Counted(np.ndarray):
    """An array that counts the multiply-adds of its matrix products."""

    operations = 0

    def __matmul__(self, other):
        a, b = (np.asarray(x) for x in (self, other))
        Counted.operations += a.shape[0] * b.size
        return (a @ b).view(Counted)

    def __rmatmul__(self, other):
        return np.asarray(other).view(Counted) @ self


class Counting:
    """NumPy, with an hstack that returns counting arrays."""

    def __getattr__(self, name):
        return getattr(np, name)

    def hstack(self, arrays):
        return np.hstack(arrays).view(Counted)


def test_full_to_band_needs_as_many_operations_as_documented(monkeypatch):
    """n^3 multiply-adds: b m^2 for the product and 2 b m^2 for the update of each panel."""
    n, b = 300, 4
    rng = np.random.default_rng(0)
    a = rng.standard_normal((n, n))
    a = (a + a.T).view(Counted)
    monkeypatch.setattr(Counted, "operations", 0)
    for start in range(0, n - b - 1, b):
        reduction.reduce_panel(Counting(), a, b, start)
    true = np.linalg.eigvalsh(np.asarray(reference.dense_from_band(sbth.full_to_band(a, b))))
    band = np.tril(np.triu(np.asarray(a), -b), b)
    np.testing.assert_allclose(np.linalg.eigvalsh(band), true, atol=1e-11)
    assert Counted.operations == pytest.approx(n**3, rel=0.03)
    assert "n^3 multiply-adds" in sbth.full_to_band.__doc__
    assert "4/3 n^3" not in sbth.full_to_band.__doc__
