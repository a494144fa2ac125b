"""Reduction to tridiagonal form: spectra, the reference, difficult matrices, invalid input."""

import numpy as np
import pytest
import scipy.linalg

import sbth
from sbth import reference
from sbth.tridiagonalization import METHODS

EPS = np.finfo(float).eps


def band(n, d, seed=0, dtype=float):
    """Return a random band matrix."""
    return np.random.default_rng(seed).standard_normal((d + 1, n)).astype(dtype)


def spectrum(d, e):
    """Return the eigenvalues of a tridiagonal matrix, by NumPy."""
    t = np.diag(d.astype(float)) + np.diag(e.astype(float), -1) + np.diag(e.astype(float), 1)
    return np.linalg.eigvalsh(t)


def ratio(computed, true, eps=EPS):
    """Return LAPACK's test ratio |D1 - D2| / (|D1| ulp), with n eps for ulp."""
    return np.max(np.abs(computed - true)) / (np.max(np.abs(true)) * eps * len(true))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("n", "d"),
    [(3, 2), (4, 3), (5, 2), (40, 5), (65, 16), (50, 49), (130, 32), (100, 33), (140, 64)],
)
def test_the_spectrum_is_preserved(device, n, d, dtype):
    ab = band(n, d, n, dtype)
    computed = sbth.tridiagonalize(ab, device=device)
    assert [v.dtype for v in computed] == [dtype, dtype]
    assert [v.shape for v in computed] == [(n,), (n - 1,)]
    true = np.linalg.eigvalsh(reference.dense_from_band(ab).astype(float))
    assert ratio(spectrum(*computed), true, np.finfo(dtype).eps) < 5


def test_agrees_with_the_reference_algorithm(device):
    ab = band(30, 4)
    d, e = sbth.tridiagonalize(ab, device=device)
    d_true, e_true = reference.tridiagonalize_dense(reference.dense_from_band(ab), 4)
    np.testing.assert_allclose(d, d_true, atol=1e-11)
    np.testing.assert_allclose(np.abs(e), np.abs(e_true), atol=1e-11)


@pytest.mark.parametrize("d", [5, 20])
def test_all_methods_give_identical_results(device, d):
    """This also detects races: results must not depend on which tasks run at once."""
    ab = band(150, d)
    base = sbth.tridiagonalize(ab, device=device)
    for method in METHODS[device]:
        for in_flight in (1, 2, None):
            computed = sbth.tridiagonalize(ab, method=method, in_flight=in_flight, device=device)
            np.testing.assert_array_equal(computed[0], base[0])
            np.testing.assert_array_equal(computed[1], base[1])


def test_closed_form_spectrum(device):
    ab, true = reference.cosine_matrix([2.0, -1.0, 0.5, 0.25, -0.125], 200)
    assert ratio(spectrum(*sbth.tridiagonalize(ab, device=device)), true) < 5


def test_upper_storage_and_entries_outside_the_matrix(device):
    ab = band(20, 3)
    dense = reference.dense_from_band(ab, lower=True)
    ab[1:, -1] = np.nan
    ab[3, -3:] = np.inf
    np.testing.assert_array_equal(sbth.dense_from_band(ab, lower=True), dense)
    upper = sbth.band_from_dense(dense, 3)
    for one, other in zip(
        sbth.tridiagonalize(ab, lower=True, device=device),
        sbth.tridiagonalize(upper, device=device),
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


def test_zero_identity_and_decoupled(device):
    zero = sbth.tridiagonalize(np.zeros((4, 9)), device=device)
    assert not zero[0].any()
    assert not zero[1].any()
    identity = np.zeros((4, 9))
    identity[0] = 1.0
    computed = sbth.tridiagonalize(identity, lower=True, device=device)
    np.testing.assert_array_equal(computed[0], np.ones(9))
    ab = band(24, 3)
    for j, k in ((9, 3), (10, 2), (10, 3), (11, 1), (11, 2), (11, 3)):  # two blocks of 12
        ab[k, j] = 0.0
    true = np.linalg.eigvalsh(reference.dense_from_band(ab, lower=True))
    assert ratio(spectrum(*sbth.tridiagonalize(ab, lower=True, device=device)), true) < 5


def test_columns_of_zeros(device):
    ab = band(40, 5)
    ab[:, 7:12] = 0.0
    ab[1:, 20:] = 0.0
    true = np.linalg.eigvalsh(reference.dense_from_band(ab, lower=True))
    assert ratio(spectrum(*sbth.tridiagonalize(ab, lower=True, device=device)), true) < 5


@pytest.mark.parametrize("shape", [(1, 0), (3, 0), (1, 1), (4, 1), (2, 2), (5, 2), (1, 5), (2, 5)])
def test_small_orders_and_bandwidths(device, shape):
    ab = np.random.default_rng(0).standard_normal(shape)
    d, e = sbth.tridiagonalize(ab, lower=True, device=device)
    n = shape[1]
    assert d.shape == (n,)
    assert e.shape == (max(n - 1, 0),)
    np.testing.assert_array_equal(d, ab[0])
    if shape[0] > 1 and n > 1:
        np.testing.assert_array_equal(e, ab[1, : n - 1])
    else:
        assert not e.any()


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
    ],
)
def test_bad_input(change, error, message):
    with pytest.raises(error, match=message):
        sbth.tridiagonalize(**({"ab": band(9, 3), "device": "cpu"} | change))


@pytest.mark.simulator
@pytest.mark.parametrize("device", ["cuda"])
def test_a_wait_times_out(require_cuda, device):
    """A block does not wait forever for a sweep that has failed."""
    from hetero.cuda.driver import cuda
    from hetero.jit import kernel
    from sbth._bulge_chasing.flags import wait_for_progress

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
    from scipy import sparse

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


def test_explicit_zeros_of_a_sparse_matrix_do_not_widen_the_band():
    from scipy import sparse

    a = sparse.coo_array(([1.0, 2.0, 0.0, 3.0], ([0, 2, 5, 2], [0, 1, 0, 1])), shape=(6, 6))
    ab = sbth.band_from_sparse(a, lower=True)
    assert ab.shape == (2, 6)
    assert ab[1, 1] == 5.0


def test_reflectors_of_an_empty_matrix_and_of_no_columns():
    for n, columns in ((0, 3), (0, 0), (9, 0)):
        q = sbth.tridiagonalize(band(n, 3), keep_reflectors=True, device="cpu")[2]
        assert q.apply(np.ones((n, columns))).shape == (n, columns)
    with pytest.raises(TypeError, match="x must hold numbers"):
        q.apply(["a"] * 9)


def test_results_are_named_and_unpack():
    ab = band(9, 2)
    reduced = sbth.tridiagonalize(ab, device="cpu")
    d, e = reduced
    assert reduced.d is d
    assert reduced.e is e
    assert "order" in reduced._repr_html_()
    reduced = sbth.tridiagonalize(ab, keep_reflectors=True, device="cpu")
    *diagonals, q = reduced
    assert np.array_equal(reduced.d, d)
    assert np.array_equal(diagonals[1], e)
    assert reduced.reflectors is q
    assert repr(q) == "Reflectors(order=9, dtype=float64, subdiagonals: 2 to 1)"
    assert "Reflectors" in reduced._repr_html_()


def test_one_stage_and_two_give_the_same_spectrum(device):
    ab = np.random.default_rng(3).standard_normal((41, 120))
    spectra = []
    for stages in (1, 2):
        d, e, q = sbth.tridiagonalize(
            ab, lower=True, stages=stages, keep_reflectors=True, device=device
        )
        assert len(q.stages) == stages
        spectra.append(scipy.linalg.eigvalsh_tridiagonal(d, e))
    true = scipy.linalg.eigvals_banded(ab, lower=True)
    np.testing.assert_allclose(spectra, [true, true], atol=1e-12 * np.abs(true).max())


def test_numbers_of_stages_that_cannot_be(device):
    with pytest.raises(ValueError, match="stages must be 1 for ab with 4 subdiagonals"):
        sbth.tridiagonalize(np.ones((5, 20)), stages=2, device=device)
    if device == "cuda":
        with pytest.raises(ValueError, match="stages must be 2 for ab with 70 subdiagonals"):
            sbth.tridiagonalize(np.ones((71, 90)), stages=1, device=device)
