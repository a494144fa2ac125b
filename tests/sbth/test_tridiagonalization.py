"""Reduction to tridiagonal form: the transformation, the reference, odd matrices, bad input."""

import numpy as np
import pytest
from scipy import sparse

import sbth
from hermitian_matrices import tridiagonal
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


@pytest.mark.parametrize("factor", [1e160, 1e-160, 1e300, 1e-300])
def test_huge_and_tiny_entries(device, factor):
    ab = band(40, 6)
    d, e = sbth.tridiagonalize(ab * factor, device=device)
    true = np.linalg.eigvalsh(reference.dense_from_band(ab))
    assert ratio(spectrum(d / factor, e / factor), true) < 5


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


def test_the_input_is_not_modified(device):
    ab = band(30, 4)[:, ::-1]
    before = ab.copy()
    ab.flags.writeable = False
    sbth.tridiagonalize(ab, device=device)
    np.testing.assert_array_equal(ab, before)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"ab": np.ones((2, 3), complex)}, TypeError, "ab must be real"),
        ({"ab": np.ones(3)}, ValueError, "ab must have the shape"),
        ({"ab": [["a"]]}, TypeError, "ab must hold real numbers"),
        ({"ab": [[1.0, 2.0], [3.0]]}, TypeError, "ab must be an array of real numbers"),
        ({"ab": [[0.0, 0.0], [1.0, np.nan]]}, ValueError, r"nan for element \(1, 1\)"),
        ({"ab": [[0.0, np.inf], [1.0, 1.0]]}, ValueError, r"inf for element \(1, 0\)"),
        ({"method": "magic"}, ValueError, "method must be one of"),
        ({"in_flight": 0}, ValueError, "in_flight must be an integer >= 1"),
        ({"stages": 2}, ValueError, "stages must be 1 for ab with 3 subdiagonals"),
    ],
)
def test_bad_input(change, error, message):
    with pytest.raises(error, match=message):
        sbth.tridiagonalize(**({"ab": band(9, 3), "device": "cpu"} | change))


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
    with pytest.raises(ValueError, match="bandwidth=2 is too small"):
        sbth.band_from_dense(dense, 2)
    with pytest.raises(TypeError, match="a must be a SciPy sparse matrix, got ndarray"):
        sbth.band_from_sparse(dense)
    # Explicit zeros of a sparse matrix do not widen the band, and equal places are added up.
    a = sparse.coo_array(([1.0, 2.0, 0.0, 3.0], ([0, 2, 5, 2], [0, 1, 0, 1])), shape=(6, 6))
    ab = sbth.band_from_sparse(a, lower=True)
    assert ab.shape == (2, 6)
    assert ab[1, 1] == 5.0


def test_results_are_named_and_unpack():
    ab = band(9, 2)
    reduced = sbth.tridiagonalize(ab, device="cpu")
    d, e = reduced
    assert reduced.d is d
    assert reduced.e is e
    assert "order" in reduced._repr_html_()
    reduced = sbth.tridiagonalize(ab, keep_reflectors=True, device="cpu")
    assert reduced[2] is reduced.reflectors
    assert repr(reduced[2]) == "Reflectors(order=9, dtype=float64, subdiagonals: 2 to 1)"
    assert "Reflectors" in reduced._repr_html_()
