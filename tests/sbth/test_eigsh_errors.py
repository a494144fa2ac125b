"""Errors of `sbth.eigsh`: bad input, no convergence, too little memory, Ctrl-C."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import sbth
from sparse_spectra import laplacian, require_pairs


def test_what_has_not_converged_is_an_error_with_what_has():
    spectrum = np.concatenate([np.linspace(0.0, 1.0, 397), [1.5, 2.5, 4.0]])
    a = sp.diags(spectrum, format="csr")
    with pytest.raises(sbth.NoConvergenceError, match="3 of 6 eigenpairs have converged") as caught:
        sbth.eigsh(a, 6, which="LA", method="lanczos", maxiter=3)
    error = pickle.loads(pickle.dumps(caught.value))
    values, vectors = error.eigenvalues, error.eigenvectors
    require_pairs(a, values, vectors, 4.0)
    np.testing.assert_allclose(values, spectrum[-3:], atol=1e-13 * 4)
    with pytest.raises(sbth.NoConvergenceError, match="copies of theirs may be missing") as caught:
        sbth.eigsh(a, 3, which="LA", method="lanczos", maxiter=4)
    assert caught.value.eigenvectors.shape == (400, 3)


def matrix_with(place, value):
    """Return a symmetric matrix with another element at one place."""
    a = laplacian(20, 20).tolil()
    a[place] = value
    return a.tocsr()


def image_of(function, n=400, dtype=float):
    """Return an operator on vectors of length n."""

    class Operator:
        shape = (n, n)

        def matvec(self, x):
            return function(x)

    Operator.dtype = np.dtype(dtype)
    return Operator()


BAD = {
    "k is the order": (laplacian(20), {"k": 20}, ValueError, "k must be less than the order"),
    "not square": (sp.csr_matrix((3, 4)), {}, ValueError, "square"),
    "dense, not square": (np.ones((3, 4)), {}, ValueError, "square"),
    "not symmetric": (matrix_with((3, 70), 1e-9), {}, ValueError, r"be symmetric.*\(3, 70\)"),
    "not Hermitian": (matrix_with((3, 3), 1.0) * 1j, {}, ValueError, "a must be Hermitian"),
    "operator, not symmetric": (
        aslinearoperator(sp.diags([np.ones(399)], [1])), {}, ValueError, "a must be symmetric"),
    "NaN": (matrix_with((5, 5), np.nan), {}, ValueError, "a must be finite"),
    "operator of NaN": (image_of(lambda x: x * np.nan), {}, ValueError, "a must have finite"),
    "another shape": (image_of(lambda x: x[:-1]), {}, ValueError, "a must map vectors"),
    "no array": (image_of(lambda x: None), {}, ValueError, "got no array"),
    "complex images": (image_of(lambda x: x * 1j), {}, TypeError, "a must map vectors of float64"),
    "text": (image_of(lambda x: x, dtype="U3"), {}, TypeError, "numeric dtype"),
    "which": (laplacian(20), {"which": "XX"}, ValueError, "which must be"),
    "method": (laplacian(20), {"method": "qr"}, ValueError, "method must be"),
    "small ncv": (laplacian(20), {"ncv": 6}, ValueError, "ncv must"),
    "maxiter": (laplacian(20), {"maxiter": 0}, ValueError, "maxiter must"),
    "tol": (laplacian(20), {"tol": -1.0}, ValueError, "tol must"),
    "sigma": (laplacian(20), {"sigma": np.inf}, ValueError, "sigma must"),
    "v0 of another length": (laplacian(20), {"v0": np.ones(3)}, ValueError, "v0 must have"),
    "v0 of zeros": (laplacian(20), {"v0": np.zeros(20)}, ValueError, "v0 must be finite and not"),
    "complex v0": (laplacian(20), {"v0": np.ones(20) * 1j}, TypeError, "v0 must be real"),
    "band of an operator": (
        aslinearoperator(np.eye(9)), {"method": "band"}, TypeError, "method='band'"),
    "flag": (laplacian(20), {"return_eigenvectors": 1}, TypeError, "return_eigenvectors must"),
    "operator without OPinv": (aslinearoperator(np.eye(9)), {"sigma": 0.0}, TypeError, "be given"),
    "OPinv alone": (laplacian(20), {"OPinv": np.eye(20)}, ValueError, "sigma must be given with"),
    "dense OPinv": (laplacian(20), {"sigma": 0.0, "OPinv": np.eye(3)}, TypeError, "a linear"),
    "OPinv of another order": (
        laplacian(20), {"sigma": 0.0, "OPinv": aslinearoperator(np.eye(3))}, ValueError, "shape"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_named(name):
    a, options, error, message = BAD[name]
    with pytest.raises(error, match=message):
        sbth.eigsh(a, **options)


def test_operators_that_change_their_minds():
    """An operator whose images change their kind in the midst of an iteration is refused."""
    for late, error in ((lambda x: x * np.inf, ValueError), (lambda x: x * 1j, TypeError)):
        calls = []

        def multiply(x, late=late, calls=calls):
            calls.append(1)
            return late(x) if len(calls) > 30 else np.arange(400.0) * x

        with pytest.raises(error, match="a must"):
            sbth.eigsh(image_of(multiply), 5)


def test_too_little_memory_is_said_before_the_start(monkeypatch):
    monkeypatch.setattr("sbth._lanczos.solve.free_bytes", lambda device, need: 1 << 20)
    with pytest.raises(MemoryError, match="Lanczos with k=20 and ncv=41 for order 80000"):
        sbth.eigsh(sp.identity(80_000, format="csr"), 20, method="lanczos")


def test_ctrl_c_ends_an_iteration():
    calls = []

    def multiply(x):
        calls.append(1)
        if len(calls) == 60:
            raise KeyboardInterrupt
        return np.arange(400.0) * x

    with pytest.raises(KeyboardInterrupt):
        sbth.eigsh(image_of(multiply), 5, which="SA")
    assert len(calls) == 60


def test_the_arguments_are_not_changed():
    a = sp.csr_matrix(laplacian(20, 20))
    before, v0 = a.copy(), np.arange(1.0, 401.0)
    sbth.eigsh(a, 3, v0=v0, sigma=0.1)
    assert (a != before).nnz == 0
    np.testing.assert_array_equal(v0, np.arange(1.0, 401.0))
