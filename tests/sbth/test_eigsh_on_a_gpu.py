"""A few eigenpairs of CuPy's sparse matrices and operators, and of arrays on a GPU; errors."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import sbth
from sparse_spectra import cycle, hypercube, laplacian, laplacian_spectrum, require_pairs, select

pytestmark = [pytest.mark.cuda, pytest.mark.usefixtures("require_cuda")]

N = 400


@pytest.fixture
def cupy():
    return pytest.importorskip("cupy")


def on_gpu(matrix, storage: str = "csr", dtype=None):
    """Return a matrix of SciPy as one of CuPy."""
    import cupyx.scipy.sparse

    matrix = sp.csr_matrix(matrix, dtype=dtype)
    return cupyx.scipy.sparse.csr_matrix(matrix).asformat(storage)


def operator_of(function, dtype=float, n=N):
    """Return a linear operator of CuPy."""
    from cupyx.scipy.sparse.linalg import LinearOperator

    return LinearOperator((n, n), matvec=function, dtype=dtype)


SPECTRA = {
    "grid": (laplacian(20, 20), laplacian_spectrum(20, 20)),
    "cycle": cycle(320),
    "hypercube": hypercube(9),
    "identity": (sp.identity(N, format="csr"), np.ones(N)),
    "zero": (sp.csr_matrix((N, N)), np.zeros(N)),
}
"""Matrices, of which most have multiple eigenvalues, and all of their eigenvalues."""


@pytest.mark.parametrize("which", ["LA", "SA", "BE", "LM"])
@pytest.mark.parametrize("name", SPECTRA)
def test_exact_spectra_with_their_multiplicities(cupy, name, which):
    a, spectrum = SPECTRA[name]
    k, norm = 7, np.abs(spectrum).max()
    values, vectors = sbth.eigsh(on_gpu(a), k, which=which)
    assert isinstance(values, cupy.ndarray)
    assert isinstance(vectors, cupy.ndarray)
    require_pairs(a, values.get(), vectors.get(), norm)
    found, expected = values.get(), select(spectrum, k, which)
    if which == "LM":
        found, expected = np.sort(np.abs(found)), np.sort(np.abs(expected))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * (norm or 1.0))


@pytest.mark.parametrize("storage", ["csr", "csc", "coo"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_types_and_storages(cupy, dtype, storage):
    a = laplacian(20, 20).astype(dtype)
    if np.dtype(dtype).kind == "c":  # phases of a diagonal matrix leave the eigenvalues as they are
        phases = sp.diags_array(np.exp(1j * np.arange(N)).astype(dtype))
        a = sp.csr_matrix(phases @ a @ phases.conj())
    given = on_gpu(a, storage)
    values, vectors = sbth.eigsh(given, 5, which="SA")
    assert (values.dtype, vectors.dtype) == (np.finfo(dtype).dtype, dtype)
    assert_lowest(a, values, vectors, atol=800 * np.finfo(dtype).eps)
    alone = sbth.eigsh(given, 5, which="SA", return_eigenvectors=False)
    np.testing.assert_array_equal(alone.get(), values.get())


def assert_lowest(a, values, vectors, atol=1e-12):
    """Check the smallest eigenvalues of the Laplacian, on a GPU, and their vectors."""
    expected = laplacian_spectrum(20, 20)[: len(values)]
    np.testing.assert_allclose(values.get(), expected, rtol=0, atol=atol)
    require_pairs(a, values.get(), vectors.get(), 8.0)


@pytest.mark.parametrize("search_copies", [True, False])
def test_operators(cupy, search_copies):
    a = on_gpu(laplacian(20, 20))
    options = {"which": "LA", "search_copies": search_copies}
    values, vectors = sbth.eigsh(operator_of(lambda x: a @ x), 5, **options)
    require_pairs(laplacian(20, 20), values.get(), vectors.get(), 8.0)
    if search_copies:
        np.testing.assert_allclose(values.get(), laplacian_spectrum(20, 20)[-5:], atol=1e-12)


def test_start_vectors_and_matrices_in_host_memory(cupy):
    """With device="cuda" the results are NumPy arrays."""
    a, start = laplacian(20, 20), np.linspace(1.0, 2.0, N)
    first = sbth.eigsh(on_gpu(a), 4, which="SA", v0=start)
    second = sbth.eigsh(on_gpu(a), 4, which="SA", v0=cupy.asarray(start))
    for x, y in zip(first, second, strict=True):
        cupy.testing.assert_array_equal(x, y)
    for matrix in (a, a.toarray()):
        values, vectors = sbth.eigsh(matrix, 4, which="SA", device="cuda")
        assert type(values) is type(vectors) is np.ndarray
        np.testing.assert_allclose(values, laplacian_spectrum(20, 20)[:4], atol=1e-12)


def test_eigenvalues_nearest_to_a_shift(cupy):
    """A dense array is factored; others need the inverse of the user."""
    from cupyx.scipy.sparse.linalg import splu

    a = laplacian(20, 20)
    inverse = operator_of(splu(on_gpu(a - 1.01 * sp.identity(N), "csc")).solve)
    here = on_gpu(a)
    expected = sbth.eigsh(a, 5, sigma=1.01, return_eigenvectors=False)
    for matrix, options in (
        (here, {"OPinv": inverse}),
        (operator_of(lambda x: here @ x), {"OPinv": inverse}),
        (cupy.asarray(a.toarray()), {}),
    ):
        values, vectors = sbth.eigsh(matrix, 5, sigma=1.01, **options)
        np.testing.assert_allclose(values.get(), expected, atol=1e-11)
        require_pairs(a, values.get(), vectors.get(), 8.0)


def test_arrays_of_pytorch(cupy):
    torch = pytest.importorskip("torch")
    pairs = sbth.eigsh(torch.tensor(laplacian(20, 20).toarray(), device="cuda"), 4)
    assert all(isinstance(x, torch.Tensor) for x in pairs)
    expected = laplacian_spectrum(20, 20)[-4:]
    np.testing.assert_allclose(pairs[0].cpu().numpy(), expected, atol=1e-12)


def test_the_matrix_is_not_changed(cupy):
    rows, columns = np.array([[0, 2, 1, 0, 2, 1], [2, 0, 1, 2, 0, 0]])
    data = cupy.asarray([1.0, 1.0, 4.0, 2.0, 2.0, 0.0])
    import cupyx.scipy.sparse

    a = cupyx.scipy.sparse.coo_matrix(
        (data, (cupy.asarray(rows), cupy.asarray(columns))), shape=(3, 3)
    )
    values = sbth.eigsh(a, 2, which="LA", return_eigenvectors=False)
    np.testing.assert_allclose(values.get(), [3.0, 4.0], atol=1e-14)
    np.testing.assert_array_equal(a.row.get(), rows)
    np.testing.assert_array_equal(a.col.get(), columns)
    np.testing.assert_array_equal(a.data.get(), data.get())


def test_errors_name_the_argument(cupy):
    a = laplacian(20, 20)
    other = a.tolil()
    other[3, 70] = 1.0
    host = aslinearoperator(a)
    image = operator_of(lambda x: x)
    cases = [
        (on_gpu(other), {}, ValueError, "a must be symmetric"),
        (on_gpu(other).toarray(), {}, ValueError, "a must be symmetric"),
        (operator_of(lambda x: x[:-1]), {}, ValueError, "a must map vectors|reshape|dimension"),
        (image, {"sigma": 1.0}, TypeError, "OPinv must be given with sigma"),
        (on_gpu(a), {"sigma": 1.0, "OPinv": host}, TypeError, "OPinv is an operator in host"),
        (a, {"sigma": 1.0, "OPinv": image, "device": "cpu"}, TypeError, "operator of CuPy"),
        (image, {"device": "cpu"}, TypeError, "a is an operator of CuPy"),
        (host, {"device": "cuda"}, TypeError, "a is an operator in host memory"),
        (on_gpu(a), {"device": "cpu"}, ValueError, "the array lives on"),
        (on_gpu(a), {"method": "band"}, TypeError, "method='band' requires"),
        (on_gpu(a), {"v0": cupy.ones(3)}, ValueError, "v0 must have the shape"),
        (cupy.full((9, 9), np.nan), {"sigma": 1.0, "k": 2}, ValueError, "a must have finite"),
    ]
    for matrix, options, error, message in cases:
        with pytest.raises(error, match=message):
            sbth.eigsh(matrix, **options)


def test_what_has_not_converged_is_an_error_with_what_has(cupy):
    with pytest.raises(sbth.NoConvergenceError, match="have converged after maxiter=2") as caught:
        sbth.eigsh(on_gpu(laplacian(20, 20)), 6, which="SA", maxiter=2)
    assert isinstance(caught.value.eigenvalues, cupy.ndarray)
    assert isinstance(caught.value.eigenvectors, cupy.ndarray)
