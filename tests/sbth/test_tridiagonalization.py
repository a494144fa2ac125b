"""Reductions of bands and full matrices: the transformation, the reference, odd matrices, Q."""

import numpy as np
import pytest
from scipy import sparse

import sbth
from hermitian_matrices import hermitian, tridiagonal
from sbth import reference
from sbth._reduction.bands import METHODS


def band(n, d, seed=0, dtype=float):
    """Return a random band matrix."""
    return np.random.default_rng(seed).standard_normal((d + 1, n)).astype(dtype)


def spectrum(d, e):
    """Return the eigenvalues of a tridiagonal matrix, by NumPy."""
    return np.linalg.eigvalsh(tridiagonal(d.astype(float), e.astype(float)))


def ratio(computed, true):
    """Return LAPACK's test ratio |D1 - D2| / (|D1| ulp), with n eps for ulp."""
    eps = np.finfo(float).eps
    return np.max(np.abs(computed - true)) / (np.max(np.abs(true)) * eps * len(true))


ONE_STAGE = [
    *((3, 2), (4, 3), (5, 2), (20, 19), (40, 5), (61, 5)),
    *((65, 16), (50, 49), (130, 32), (100, 33), (130, 64)),
]
TWO_STAGES = [(34, 33), (100, 40), (200, 64), (301, 77), (300, 299)]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("n", "d", "stages"), [*((n, d, 1) for n, d in ONE_STAGE), *((n, d, 2) for n, d in TWO_STAGES)]
)
def test_reflections_rebuild_the_matrix(device, n, d, stages, dtype):
    """The ratios |A - Q T Q^T| / (n eps |A|) and |1 - Q^T Q| / (n eps) are LAPACK's."""
    ab = band(n, d, n, dtype)
    options = {"stages": stages, "device": device}
    a, unit = reference.dense_from_band(ab).astype(float), n * np.finfo(dtype).eps
    for method in METHODS[device]:
        diagonal, below, q = sbth.tridiagonalize(ab, method=method, keep_reflectors=True, **options)
        assert (diagonal.dtype, below.dtype) == (dtype, dtype)
        assert (diagonal.shape, below.shape) == ((n,), (n - 1,))
        assert len(q.stages) == stages
        full = q.apply(np.eye(n))
        t = tridiagonal(diagonal.astype(float), below.astype(float))
        assert np.linalg.norm(full @ t @ full.T - a, 1) < 20 * unit * np.linalg.norm(a, 1)
        assert np.linalg.norm(full.T @ full - np.eye(n), 1) < 20 * unit
        true = np.linalg.eigvalsh(a)
        assert np.max(np.abs(np.linalg.eigvalsh(t) - true)) < 5 * unit * np.max(np.abs(true))
    for x, y in zip((diagonal, below), sbth.tridiagonalize(ab, **options), strict=True):
        np.testing.assert_array_equal(x, y)


def test_agrees_with_the_reference_algorithm(device):
    ab = band(30, 4)
    d, e = sbth.tridiagonalize(ab, device=device)
    d_true, e_true = reference.tridiagonalize_dense(reference.dense_from_band(ab), 4)
    np.testing.assert_allclose(d, d_true, atol=1e-11)
    np.testing.assert_allclose(np.abs(e), np.abs(e_true), atol=1e-11)


@pytest.mark.parametrize(("n", "d", "stages"), [(150, 5, 1), (150, 20, 1), (300, 40, 2)])
def test_all_methods_give_identical_results(device, n, d, stages):
    """This also detects races: results must not depend on which tasks run at once."""
    ab = band(n, d)
    base = sbth.tridiagonalize(ab, stages=stages, device=device)
    for method in METHODS[device]:
        for in_flight in (1, 2, 3, None):
            options = {"method": method, "in_flight": in_flight, "stages": stages}
            computed = sbth.tridiagonalize(ab, **options, device=device)
            np.testing.assert_array_equal(computed[0], base[0])
            np.testing.assert_array_equal(computed[1], base[1])


@pytest.mark.parametrize(("n", "d"), [(20, 3), (75, 34)])
def test_upper_storage_and_entries_outside_the_matrix(device, n, d):
    ab = band(n, d)
    dense = reference.dense_from_band(ab, lower=True)
    ab[1:, -1] = np.nan
    ab[3, -3:] = np.inf
    np.testing.assert_array_equal(sbth.dense_from_band(ab, lower=True), dense)
    upper, stages = sbth.band_from_dense(dense, d), 2 if d > 33 else 1
    for one, other in zip(
        sbth.tridiagonalize(ab, lower=True, stages=stages, device=device),
        sbth.tridiagonalize(upper, stages=stages, device=device),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_subnormal_entries(device, dtype):
    """All elements are the smallest positive number; one eigenvalue is n times it, the others 0."""
    ab = np.full((9, 9), np.finfo(dtype).smallest_subnormal, dtype)
    computed = sbth.eigvals_banded(ab, device=device)
    np.testing.assert_array_equal(computed / np.finfo(dtype).smallest_subnormal, [0] * 8 + [9])


def test_decoupled_blocks_and_columns_of_zeros(device):
    ab, zeros = band(24, 3), band(40, 5)
    for j, k in ((9, 3), (10, 2), (10, 3), (11, 1), (11, 2), (11, 3)):  # two blocks of 12
        ab[k, j] = 0.0
    zeros[:, 7:12] = 0.0
    zeros[1:, 20:] = 0.0
    for matrix in (ab, zeros):
        true = np.linalg.eigvalsh(reference.dense_from_band(matrix, lower=True))
        assert ratio(spectrum(*sbth.tridiagonalize(matrix, lower=True, device=device)), true) < 5


@pytest.mark.parametrize("shape", [(1, 0), (3, 0), (1, 1), (4, 1), (2, 2), (5, 2), (1, 5), (2, 5)])
def test_small_orders_and_bandwidths(device, shape):
    ab, n = np.random.default_rng(0).standard_normal(shape), shape[1]
    d, e = sbth.tridiagonalize(ab, lower=True, device=device)
    np.testing.assert_array_equal(d, ab[0])
    below = ab[1, : n - 1] if shape[0] > 1 and n > 1 else np.zeros(max(n - 1, 0))
    np.testing.assert_array_equal(e, below)


@pytest.mark.cuda
def test_a_gpu_reduces_a_wide_band_in_two_stages(require_cuda):
    with pytest.raises(ValueError, match="stages must be 2 for ab with 70 subdiagonals"):
        sbth.tridiagonalize(np.ones((71, 90)), stages=1, device="cuda")


@pytest.mark.simulator
@pytest.mark.parametrize("device", ["cuda"])
def test_a_wait_times_out(require_cuda, device):
    """A block does not wait forever for a sweep that has failed."""
    from hetero.cuda.driver import cuda
    from hetero.jit import kernel
    from sbth._gpu.flags import wait_for_progress

    @kernel(cache=False)
    def wait_twice(progress, control, results):
        results[0] = wait_for_progress(progress, 4, 3, control, 20)
        results[1] = wait_for_progress(progress, 2, 3, control, 20)

    progress, control, results = (cuda.to_device(np.zeros(6, np.int32)) for _ in range(3))
    progress[2] = 3
    wait_twice[1, 1](progress, control, results)
    assert list(results.copy_to_host()[:2]) == [1, 0]
    assert control.copy_to_host()[1] == 5  # sweep 5 waited for sweep 4


def test_conversions():
    dense = reference.dense_from_band(band(12, 3))
    for lower in (True, False):
        ab = sbth.band_from_dense(dense, lower=lower)
        assert ab.shape == (4, 12)
        np.testing.assert_array_equal(sbth.dense_from_band(ab, lower=lower), dense)
        computed = sbth.band_from_sparse(sparse.csr_matrix(dense), lower=lower)
        np.testing.assert_array_equal(computed, ab)
    # Explicit zeros of a sparse matrix do not widen the band, and equal places are added up.
    a = sparse.coo_array(([1.0, 2.0, 0.0, 3.0], ([0, 2, 5, 2], [0, 1, 0, 1])), shape=(6, 6))
    for dtype, kept in ((float, float), (np.int8, float), (np.float32, np.float32)):
        ab = sbth.band_from_sparse(a.astype(dtype), lower=True)
        assert (ab.shape, ab.dtype, ab[1, 1]) == ((2, 6), kept, 5.0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "bandwidth"), [(1, 1), (2, 1), (5, 2), (30, 4), (64, 8), (65, 64)])
def test_the_spectrum_is_preserved(n, bandwidth, dtype):
    a = hermitian(n, dtype)
    ab = sbth.full_to_band(a, bandwidth, device="cpu")
    assert ab.dtype == dtype
    assert ab.shape == (min(bandwidth, n - 1) + 1, n)
    computed = np.linalg.eigvalsh(sbth.dense_from_band(ab).astype(float))
    true = np.linalg.eigvalsh(a.astype(float))
    scale = np.max(np.abs(true)) * np.finfo(dtype).eps * n
    assert np.max(np.abs(computed - true)) < 5 * scale


def test_only_the_lower_triangle_is_read_and_the_matrix_is_not_modified():
    a = hermitian(20)
    junk = a + np.triu(np.full((20, 20), np.nan), 1)
    before = junk.copy()
    ab = sbth.full_to_band(junk, 3, device="cpu")
    np.testing.assert_array_equal(ab, sbth.full_to_band(a, 3, device="cpu"))
    np.testing.assert_array_equal(junk, before)


def reduce_random_band(n, d, dtype=np.float64, **options):
    """Return Q of the reduction of a random band matrix."""
    ab = np.random.default_rng(n).standard_normal((d + 1, n)).astype(dtype)
    return sbth.tridiagonalize(ab, keep_reflectors=True, **options)[2]


def test_products_with_vectors():
    q = reduce_random_band(12, 3, device="cpu")
    x = np.arange(12.0)
    np.testing.assert_allclose(q.apply(q.apply(x), transposed=True), x, atol=1e-13)
    np.testing.assert_array_equal(q.apply(x[:, None])[:, 0], q.apply(x))
    tridiagonal = reduce_random_band(4, 1, device="cpu")
    np.testing.assert_array_equal(tridiagonal.apply(np.eye(4)), np.eye(4))
    for n, columns in ((0, 3), (0, 0), (9, 0)):
        q = reduce_random_band(n, 3, device="cpu")
        assert q.apply(np.ones((n, columns))).shape == (n, columns)


def test_vectors_of_any_type_are_multiplied_in_float64():
    """x is exact in float32, so the product must be that of the same x in float64."""
    q = reduce_random_band(40, 4, device="cpu")
    x = np.random.default_rng(0).integers(-8, 8, (40, 3))
    exact = q.apply(x.astype(float))
    for dtype in (np.float32, np.float16, np.int8, np.longdouble):
        result = q.apply(x.astype(dtype))
        assert result.dtype == np.float64
        np.testing.assert_array_equal(result, exact)
    result = q.apply(x.astype(np.complex64))
    assert result.dtype == np.complex128
    np.testing.assert_array_equal(result.real, exact)


def test_the_input_is_not_modified(device):
    ab = band(30, 4)[:, ::-1]
    before = ab.copy()
    ab.flags.writeable = False
    sbth.tridiagonalize(ab, device=device)
    np.testing.assert_array_equal(ab, before)


@pytest.mark.simulator
@pytest.mark.parametrize("device", ["cuda"])
def test_memory_for_reflections_is_zero(require_cuda, device):
    """Memory is reused, so it must be cleared."""
    from hetero.cuda.driver import cuda
    from sbth._problem.working_matrix.cuda import zeros

    for size in (0, 1, 700):
        cuda.to_device(np.full(max(size, 1), np.nan, np.float32))
        values = zeros(size, np.dtype(np.float32))
        assert values.dtype == np.float32
        assert values.shape == (size,)
        if size:
            assert not values.copy_to_host().any()
