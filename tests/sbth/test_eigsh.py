"""A few eigenpairs of sparse matrices: exact spectra, multiple eigenvalues, types, shifts."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator
from scipy.sparse.linalg import eigsh as arpack

import sbth
from sparse_spectra import (
    THRESHOLD,
    cycle,
    hypercube,
    kac,
    laplacian,
    laplacian_spectrum,
    path_graph,
    require_pairs,
    select,
)

GRAPHS = {
    "path": path_graph(150),
    "cycle": cycle(200),
    "hypercube": hypercube(9),
    "grid": (laplacian(17, 17), laplacian_spectrum(17, 17)),
    "lattice": (laplacian(8, 8, 8), laplacian_spectrum(8, 8, 8)),
    "Kac": kac(120),
    "identity": (sp.identity(500, format="csr"), np.ones(500)),
    "zero": (sp.csr_matrix((400, 400)), np.zeros(400)),
}
"""Matrices and their exact spectra."""


@pytest.mark.parametrize("which", ["LA", "SA", "BE", "LM"])
@pytest.mark.parametrize("name", GRAPHS)
def test_exact_spectra_with_their_multiplicities(name, which):
    a, spectrum = GRAPHS[name]
    k = 11
    values, vectors = sbth.eigsh(a, k, which=which, method="lanczos")
    norm = np.abs(spectrum).max()
    expected = select(spectrum, k, which)
    if which == "LM":  # Kac's spectrum is symmetric, and k is odd
        values, expected = np.sort(np.abs(values)), np.sort(np.abs(expected))
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-13 * norm)
    if which != "LM":
        require_pairs(a, values, vectors, norm)


def test_without_the_search_copies_may_be_missed():
    """This is why the search is the default: eigenvalues of a lattice are triple or sixfold."""
    spectrum = laplacian_spectrum(12, 12, 12)
    a = laplacian(12, 12, 12)
    settings = {"which": "LA", "method": "lanczos", "return_eigenvectors": False, "tol": 1e-6}
    values = sbth.eigsh(a, 20, search_copies=False, **settings)
    assert np.abs(values - spectrum[-20:]).max() > 0.1
    values = sbth.eigsh(a, 20, **settings)
    np.testing.assert_allclose(values, spectrum[-20:], rtol=0, atol=1e-6 * spectrum[-1])


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("storage", [sp.csr_matrix, sp.coo_array, np.asarray, aslinearoperator])
def test_types_and_storages(dtype, storage):
    rng = np.random.default_rng(3)
    n, k = 220, 7
    dense = rng.standard_normal((n, n)) * (rng.random((n, n)) < 0.05)
    if np.dtype(dtype).kind == "c":
        dense = dense + 1j * rng.standard_normal((n, n)) * (dense != 0)
    dense = (dense + dense.conj().T).astype(dtype)
    expected = np.linalg.eigvalsh(dense.astype(np.result_type(dtype, float)))
    a = storage(dense)
    values, vectors = sbth.eigsh(a, k, which="SA", method="lanczos")
    assert values.dtype == np.dtype(dtype).char.lower()
    assert vectors.dtype == dtype
    assert vectors.shape == (n, k)
    norm, eps = np.abs(expected).max(), np.finfo(dtype).eps
    np.testing.assert_allclose(values, expected[:k], rtol=0, atol=THRESHOLD * n * eps * norm / 10)
    require_pairs(dense, values, vectors, norm)


@pytest.mark.parametrize("storage", ["sparse", "dense"])
@pytest.mark.parametrize("sigma", [0.0, 1.0001, 7.3])
def test_eigenvalues_nearest_to_a_shift(sigma, storage):
    a, spectrum = laplacian(13, 14), laplacian_spectrum(13, 14)
    expected = np.sort(spectrum[np.argsort(np.abs(spectrum - sigma), kind="stable")[:9]])
    matrix = a if storage == "sparse" else a.toarray()
    values, vectors = sbth.eigsh(matrix, 9, sigma=sigma, method="lanczos")
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-13 * 8.0)
    require_pairs(a, values, vectors, 8.0)
    by_band = sbth.eigsh(a, 9, sigma=sigma, method="band")[0]
    np.testing.assert_allclose(by_band, expected, atol=1e-13)


@pytest.mark.parametrize("which", ["LA", "SA", "BE", "LM", "SM"])
@pytest.mark.parametrize("sigma", [None, 0.3])
def test_a_reduction_gives_what_lanczos_gives(which, sigma):
    rng = np.random.default_rng(8)
    n = 70
    e = rng.standard_normal(n - 1) + 1j * rng.standard_normal(n - 1)
    a = sp.diags([e.conj(), rng.standard_normal(n), e], [-1, 0, 1], format="csr")
    order = rng.permutation(n)
    a = a[order][:, order]
    band = sbth.eigsh(a, 6, which=which, sigma=sigma, method="band")
    settings = {"which": which, "sigma": sigma, "method": "lanczos", "ncv": n}
    lanczos = sbth.eigsh(a, 6, **settings)
    np.testing.assert_allclose(band[0], lanczos[0], rtol=0, atol=1e-13 * 6)
    require_pairs(a, *band, 6.0)
    values = sbth.eigsh(a, 6, which=which, sigma=sigma, method="band", return_eigenvectors=False)
    np.testing.assert_allclose(values, band[0], rtol=0, atol=1e-13 * 6)
    if which != "BE":  # ARPACK has no "BE" for complex matrices
        reference = arpack(a, 6, which=which, sigma=sigma, return_eigenvectors=False, ncv=60)
        np.testing.assert_allclose(band[0], np.sort(reference), rtol=0, atol=1e-12 * 6)


@pytest.mark.parametrize("scale", [2.0**-990, 2.0**990])
def test_matrices_near_overflow_and_underflow(scale):
    a, spectrum = laplacian(15, 16) * scale, laplacian_spectrum(15, 16)
    values, vectors = sbth.eigsh(a, 5, which="LA", method="lanczos")
    np.testing.assert_allclose(values / scale, spectrum[-5:], rtol=1e-13)
    require_pairs(laplacian(15, 16), values / scale, vectors, 8.0)


def test_every_order_and_count_of_small_matrices():
    rng = np.random.default_rng(2)
    for n in range(2, 9):
        a = rng.standard_normal((n, n))
        a = a + a.T
        expected = np.linalg.eigvalsh(a)
        for k in range(1, n):
            for which in ("LA", "BE", "SA"):
                values, vectors = sbth.eigsh(a, k, which=which, method="lanczos")
                np.testing.assert_allclose(values, select(expected, k, which), atol=1e-13 * 9)
                require_pairs(a, values, vectors, np.abs(expected).max())


def test_repetition_gives_the_same_bits():
    a = laplacian(25, 25)
    first, second = (sbth.eigsh(a, 5, which="SA", method="lanczos") for _ in range(2))
    for x, y in zip(first, second, strict=True):
        np.testing.assert_array_equal(x, y)
    other = sbth.eigsh(a, 5, which="SA", method="lanczos", rng=1)
    np.testing.assert_allclose(other[0], first[0], rtol=0, atol=1e-13 * 8)
    start = first[1].sum(axis=1)
    np.testing.assert_allclose(
        sbth.eigsh(a, 5, which="SA", v0=start)[0], first[0], rtol=0, atol=1e-13 * 8
    )


@pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-9])
def test_a_loose_tolerance(tol):
    """It takes fewer products, and every copy is there."""
    a, spectrum = laplacian(30, 30), laplacian_spectrum(30, 30)[-4:]
    counts = []
    for tolerance in (tol, 0.0):
        count, image = [], np.empty(900)

        def multiply(x, count=count, image=image):  # the same array for each product
            count.append(1)
            return np.copyto(image, a @ x) or image

        operator = LinearOperator(a.shape, matvec=multiply, dtype=float)
        options = {"which": "LA", "tol": tolerance, "return_eigenvectors": False}
        sbth.eigsh(operator, 4, search_copies=False, **options)
        counts.append(len(count))
        np.testing.assert_allclose(sbth.eigsh(a, 4, **options), spectrum, rtol=tolerance + 1e-13)
    assert counts[0] < counts[1]


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


def test_the_arguments_are_not_changed():
    a = sp.csr_matrix(laplacian(20, 20))
    before, v0 = a.copy(), np.arange(1.0, 401.0)
    sbth.eigsh(a, 3, v0=v0, sigma=0.1)
    assert (a != before).nnz == 0
    np.testing.assert_array_equal(v0, np.arange(1.0, 401.0))


def test_random_spectra_with_copies_are_complete():
    """Every eigenvalue is double or triple: a Krylov space of one vector holds one of them."""
    rng = np.random.default_rng(11)
    for copies in (2, 3):
        for _ in range(4):
            spectrum = np.sort(np.repeat(rng.uniform(-1.0, 1.0, 300), copies))
            a = sp.diags(rng.permutation(spectrum), format="csr")
            k = int(rng.integers(5, 15))
            values = sbth.eigsh(a, k, which="LA", return_eigenvectors=False, method="lanczos")
            np.testing.assert_allclose(values, spectrum[-k:], rtol=0, atol=1e-13)
