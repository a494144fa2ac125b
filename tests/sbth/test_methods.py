"""Methods: LAPACK's drivers keep the package's rules, and `solver_for` says what is chosen."""

import numpy as np
import pytest

import hetero
import sbth
from eigen_checks import EPS, THRESHOLD, assert_eigenpairs, exact_eigenvalues
from hermitian_matrices import definite, hermitian, narrow, store
from lapack_matrices import TYPES


@pytest.mark.parametrize("kind", TYPES)
def test_lapacks_drivers_over_lapacks_types(kind):
    for n, d in ((53, 3), (40, 20)):
        ab, _ = TYPES[kind](n, d)
        full, options = sbth.dense_from_band(ab, lower=True), {"device": "cpu", "method": "lapack"}
        assert_eigenpairs(full, *sbth.eig_banded(ab, lower=True, **options))
        assert_eigenpairs(full, *sbth.eigh(full, **options))
        values = sbth.eigvals_banded(ab, lower=True, device="cpu", method="sbth")
        largest = np.max(np.abs(values)) or 1.0
        for other in (
            sbth.eigvals_banded(ab, lower=True, **options),
            sbth.eigvalsh(full, **options),
        ):
            assert np.max(np.abs(other - values)) / largest < THRESHOLD * n * EPS


@pytest.mark.parametrize("dtype", [np.float64, np.complex128, np.complex64])
@pytest.mark.parametrize("n", [1, 2, 17])
def test_hermitian_matrices(dtype, n):
    a, eps = hermitian(n, dtype), np.finfo(dtype).eps
    wide, true = a.astype(np.promote_types(dtype, float)), exact_eigenvalues(a)
    accuracy = {"rtol": 0, "atol": THRESHOLD * eps * np.abs(true).max()}
    junk = np.triu(np.full((n, n), np.nan, a.real.dtype), 1)
    for lower, given in ((True, np.tril(a) + junk), (False, np.triu(a) + junk.T)):
        w, v = sbth.eigh(given, lower=lower, device="cpu")
        assert (w.dtype, v.dtype) == (a.real.dtype, a.dtype)
        assert_eigenpairs(wide, w, v)
        np.testing.assert_allclose(w, true, **accuracy)
    np.testing.assert_allclose(sbth.eigvalsh(a, device="cpu"), true, **accuracy)
    for d in (0, 1, min(n - 1, 5)):
        band = narrow(wide, min(d, n - 1))
        for lower in (False, True):
            ab = store(band, min(d, n - 1), lower).astype(dtype)
            assert_eigenpairs(band, *sbth.eig_banded(ab, lower, device="cpu"))
            assert_eigenpairs(band, sbth.eigvals_banded(ab, lower, device="cpu"))


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("width", [1, 3])
def test_subnormal_elements_of_complex_bands(dtype, width):
    """The phase of a subnormal number has few digits; LAPACK multiplies other elements by it."""
    n, tiny, eps = 30, float(np.finfo(dtype).smallest_subnormal), np.finfo(dtype).eps
    a = np.asfortranarray(narrow(hermitian(n, dtype), width))
    for i in range(1, n - 2, 4):
        a[i + 1 :, : i + 1] = a[: i + 1, i + 1 :] = 0.0
        a[i + 1, i], a[i, i + 1] = tiny * (7 + 5j), tiny * (7 - 5j)
    true = np.linalg.eigvalsh(a.astype(complex))
    for lower in (True, False):
        band = np.asfortranarray(store(a, width, lower))
        w, v = sbth.eig_banded(band, lower, device="cpu")
        np.testing.assert_allclose(w, true, rtol=0, atol=THRESHOLD * n * eps)
        assert_eigenpairs(a, w, v)
        values = sbth.eigvals_banded(band, lower, device="cpu")
        np.testing.assert_allclose(values, true, rtol=0, atol=THRESHOLD * n * eps)


@pytest.mark.parametrize(("dtype", "method"), [("d", "auto"), ("d", "lapack"), ("D", "auto")])
def test_generalized_problems(dtype, method):
    n = 12
    a, b = hermitian(n, dtype), definite(n, dtype)
    true, options = exact_eigenvalues(a, b), {"device": "cpu", "method": method}
    accuracy = {"rtol": 0, "atol": THRESHOLD * n * EPS * np.linalg.cond(b) * np.abs(true).max()}
    for lower, part in ((True, np.tril), (False, np.triu)):
        pencil, options["lower"] = (part(a), part(b)), lower
        w, v = sbth.eigh(*pencil, **options)
        assert_eigenpairs(a, w, v, b)
        values = sbth.eigh(*pencil, eigvals_only=True, **options)
        for computed in (w, values):
            np.testing.assert_allclose(computed, true, **accuracy)
        assert_eigenpairs(a, *sbth.eigh(*pencil, subset_by_index=(3, 5), **options), b, first=3)


@pytest.mark.simulator
def test_methods_of_a_gpu(device):
    ab, full_only = np.ones((3, 9)), "method='cusolver' solves full matrices only"
    if device == "cpu":
        with pytest.raises(ValueError, match="method must be one of 'auto', 'sbth', 'lapack' on"):
            sbth.eigvals_banded(ab, method="cusolver", device=device)
        return
    for call in (sbth.eigvals_banded, sbth.eig_banded):
        with pytest.raises(ValueError, match="method must be one of 'auto', 'sbth' on"):
            call(ab, method="lapack", device=device)
        for arguments in ({}, {"b_band": np.ones((1, 9))}):
            for matrix in (ab, ab * 1j):
                with pytest.raises(ValueError, match=full_only):
                    call(matrix, **arguments, method="cusolver", device=device)


STEPS = {
    "bulge chasing": "band to tridiagonal",
    "bisection": "eigenvalues of the tridiagonal matrix",
    "(sterf)": "eigenvalues of the tridiagonal matrix",
    "divide and conquer": "divide and conquer",
    "back-transformation": "back-transformation",
}
"""Words of `solver_for`, and the regions of a profile in which these steps run."""


def test_solver_for_and_the_log_say_what_runs(caplog):
    rng = np.random.default_rng(0)
    ab, wide, a = rng.standard_normal((3, 60)), rng.standard_normal((31, 60)), hermitian(60)
    caplog.set_level("INFO", logger="sbth._route.route")
    for solve, matrix, size, text in (
        (sbth.eigvals_banded, ab, (60, 2), "as a band matrix"),
        (sbth.eig_banded, ab, (60, 2), "as a band matrix"),
        (sbth.eigvals_banded, ab[1:], (60, 1), "sbth: LAPACK's QL iteration"),
        (sbth.eigvals_banded, wide, (60, 30), "as a full matrix"),
        (sbth.eig_banded, wide, (60, 30), "as a full matrix"),
        (sbth.eigvalsh, a, (60,), "LAPACK (syevd"),
        (sbth.eigh, a, (60,), "LAPACK (syevd"),
    ):
        for method, expected in (("auto", text), ("sbth", "sbth: "))[: len(size)]:
            options = {"method": method, "device": "cpu"}
            with hetero.profile() as profile:
                solve(matrix, **options)
            said = sbth.solver_for(*size, eigvals_only="vals" in solve.__name__, **options)
            assert expected in said
            assert caplog.messages[-1] == f"order 60, on cpu: {said}"
            steps = {region for words, region in STEPS.items() if words in said}
            assert {*profile.children} == (steps or {"LAPACK"})
    assert "chasing" in sbth.solver_for(4000, 64, eigvals_only=True, device="cpu")
