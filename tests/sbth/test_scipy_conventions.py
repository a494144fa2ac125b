"""The functions have the arguments of SciPy's, in the same order and with the same meaning."""

import inspect

import numpy as np
import pytest
import scipy.linalg
from scipy import sparse

import sbth
from hermitian_matrices import hermitian, narrow
from sbth import reference

RNG = np.random.default_rng(8)
BAND = RNG.standard_normal((4, 30))
EPS = np.finfo(float).eps


def assert_close(computed, true):
    """Check eigenvalues to a few eps."""
    np.testing.assert_allclose(computed, true, rtol=0, atol=100 * EPS * np.max(np.abs(BAND)))


def test_signature_of_eigvals_banded_is_scipys():
    ours = inspect.signature(sbth.eigvals_banded).parameters
    scipys = inspect.signature(scipy.linalg.eigvals_banded).parameters
    assert list(ours)[: len(scipys)] == list(scipys)
    for name, parameter in scipys.items():
        assert ours[name].default == parameter.default, name
        assert ours[name].kind == parameter.kind, name
    assert list(ours)[len(scipys) :] == ["b_band", "tol", "method", "progress", "device"]


def test_storage_is_read_as_scipy_reads_it(device):
    """The default is the upper triangle; the same array is another matrix in lower storage."""
    for options in ({}, {"lower": False}, {"lower": True}):
        true = scipy.linalg.eigvals_banded(BAND, **options)
        assert_close(sbth.eigvals_banded(BAND, **options, device=device), true)
        d, e = sbth.tridiagonalize(BAND, **options, device=device)
        assert_close(sbth.eigvalsh_tridiagonal(d, e, device=device), true)
        assert_close(np.linalg.eigvalsh(sbth.dense_from_band(BAND, **options)), true)
        assert_close(np.linalg.eigvalsh(reference.dense_from_band(BAND, **options)), true)


@pytest.mark.parametrize("select", ["a", "v", "i", "all", "value", "index", "Index", 0, 1, 2])
def test_selections_are_words_letters_and_numbers(select):
    kind = {"a": 0, "v": 1, "i": 2}.get(str(select)[0].lower(), select)
    window = (None, (-1.0, 1.5), (2, 5))[kind]
    true = scipy.linalg.eigvals_banded(BAND, select=select, select_range=window)
    assert true.size
    assert_close(sbth.eigvals_banded(BAND, select=select, select_range=window), true)
    d, e = BAND[0], BAND[1, :-1]
    true = scipy.linalg.eigvalsh_tridiagonal(d, e, select=select, select_range=window)
    assert_close(sbth.eigvalsh_tridiagonal(d, e, select=select, select_range=window), true)
    full = reference.dense_from_band(BAND)
    computed = sbth.eigvalsh(full, select=select, select_range=window, device="cpu")
    assert_close(computed, scipy.linalg.eigvals_banded(BAND, select=select, select_range=window))


@pytest.mark.parametrize("lower", [False, True, np.True_])
def test_all_functions_agree_on_storage(lower):
    full = reference.dense_from_band(BAND)
    true = np.linalg.eigvalsh(full)
    for ab in (
        sbth.band_from_dense(full, lower=lower),
        sbth.band_from_sparse(sparse.csr_array(full), lower=lower),
        sbth.full_to_band(full, 2, lower=lower, device="cpu"),
    ):
        assert_close(scipy.linalg.eigvals_banded(ab, lower=bool(lower)), true)
    ab, true = reference.cosine_matrix([1.0, -0.5, 0.25], 20, lower=lower)
    assert_close(scipy.linalg.eigvals_banded(ab, lower=bool(lower)), true)


def test_a_tolerance_stops_the_bisection_early(device):
    true = scipy.linalg.eigvals_banded(BAND)
    for tol in (1e-3, 1e-8):
        computed = sbth.eigvals_banded(BAND, tol=tol, method="sbth", device=device)
        assert np.max(np.abs(computed - true)) <= tol
    computed = sbth.eigvals_banded(BAND, tol=0.1, method="sbth", device=device)
    assert np.max(np.abs(computed - true)) > 1e-9
    for default in (None, 0.0, -1.0):
        assert_close(sbth.eigvals_banded(BAND, tol=default, device=device), true)
    with pytest.raises(TypeError, match="tol must be a real number"):
        sbth.eigvals_banded(BAND, tol="small", device=device)


@pytest.mark.parametrize("name", ["overwrite_a_band", "check_finite"])
def test_scipys_other_options_are_accepted(name):
    before = BAND.copy()
    for value in (False, True):
        assert_close(sbth.eigvals_banded(BAND, **{name: value}), scipy.linalg.eigvals_banded(BAND))
    np.testing.assert_array_equal(BAND, before)
    with pytest.raises(TypeError, match=f"{name} must be True or False"):
        sbth.eigvals_banded(BAND, **{name: "no"})


def test_conversions_of_complex_matrices():
    with pytest.raises(TypeError, match="must hold numbers"):
        sbth.band_from_dense([["a"]])
    a = narrow(hermitian(9, complex), 2)
    for lower in (False, True):
        ab = sbth.band_from_sparse(sparse.csr_array(a), lower=lower)
        values = sbth.eigvals_banded(ab, lower)
        np.testing.assert_allclose(values, np.linalg.eigvalsh(a), atol=1e-13)
