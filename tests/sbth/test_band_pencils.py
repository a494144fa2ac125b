"""Generalized problems of single band matrices, on a CPU and on a GPU, against SciPy."""

import numpy as np
import pytest
import scipy.linalg

import sbth
from eigen_checks import assert_eigenpairs
from hermitian_matrices import full_matrix, random_numbers
from hetero import Device
from sbth._reduction.pencils.band_as_full import reduce_as_full

TYPES = [np.float32, np.float64, np.complex64, np.complex128]
CPU = Device("cpu")


@pytest.fixture(autouse=True)
def _require_cupy(request):
    if "device" in request.fixturenames and request.getfixturevalue("device") != "cpu":
        pytest.importorskip("cupy")


def random_bands(n, d, k, lower, dtype=np.float64):
    """Return a band matrix with d subdiagonals and a definite one with k, with NaN around them."""
    rng = np.random.default_rng((n, d, k))
    a, b = (random_numbers(rng, (m + 1, n), dtype) for m in (d, k))
    b[0 if lower else k] = 3.0 + 4.0 * k
    for band in (a, b):
        for i in range(1, len(band)):
            band[i if lower else len(band) - 1 - i, slice(n - i, n) if lower else slice(i)] = np.nan
    return a, b


def random_problem(n, d, k, lower=True, dtype=np.float64):
    """Return both bands, both full matrices, and the eigenvalues by SciPy."""
    bands = random_bands(n, d, k, lower, dtype)
    a, b = (full_matrix(band, lower) for band in bands)
    return bands, a, b, scipy.linalg.eigh(a, b, eigvals_only=True)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize(
    ("n", "d", "k"), [(1, 0, 0), (2, 1, 0), (60, 4, 2), (90, 2, 5), (40, 0, 1)]
)
def test_it_is_the_problem_of_the_full_matrices(device, n, d, k, lower, dtype):
    bands, a, b, _ = random_problem(n, d, k, lower, dtype)
    options = {"b_band": bands[1], "device": device}
    values, vectors = sbth.eig_banded(bands[0], lower, **options)
    assert type(values) is type(vectors) is np.ndarray
    assert (values.dtype, vectors.dtype) == (np.finfo(dtype).dtype, dtype)
    assert_eigenpairs(a, values, vectors, b)
    alone = sbth.eigvals_banded(bands[0], lower, **options)
    assert alone.dtype == values.dtype
    assert_eigenpairs(a, alone, b=b)
    same = sbth.eig_banded(bands[0], lower, eigvals_only=True, **options)
    np.testing.assert_array_equal(same, alone)


@pytest.mark.parametrize(("dtype", "n"), [(np.float64, 700), (np.complex128, 300)])
def test_selections(device, dtype, n):
    bands, a, b, true = random_problem(n, 6, 3, dtype=dtype)
    middle = 0.5 * (true[9] + true[10]), 0.5 * (true[29] + true[30])
    for select, wanted, first, stop in (("i", (5, 11), 5, 12), ("v", middle, 10, 30)):
        options = {"select": select, "select_range": wanted, "b_band": bands[1], "device": device}
        values, vectors = sbth.eig_banded(bands[0], True, **options)
        assert_eigenpairs(a, values, vectors, b, first=first)
        for computed in (values, sbth.eigvals_banded(bands[0], True, **options)):
            np.testing.assert_allclose(computed, true[first:stop], rtol=0, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("exponent", [8, 40, 79, 81, 150])
@pytest.mark.parametrize("order", ["ascending", "descending", "random"])
def test_rows_of_different_magnitudes(device, exponent, order, dtype):
    """D K D x = lambda D C D x has the eigenvalues of K and C."""
    n, rng = 40, np.random.default_rng(exponent)
    bands, a, b, true = random_problem(n, 3, 2, dtype=dtype)
    sizes = 2.0 ** np.round(np.linspace(-exponent, exponent, n) / np.log10(2.0))
    sizes = {"ascending": sizes, "descending": sizes[::-1], "random": rng.permutation(sizes)}[order]
    graded = []
    for band in bands:
        graded.append(band.copy())
        for k in range(len(band)):
            graded[-1][k, : n - k] *= sizes[k:] * sizes[: n - k]
    options = {"b_band": graded[1], "device": device}
    full = [full_matrix(band, True) for band in graded]
    c, transform = reduce_as_full(np, *graded, True, CPU)
    values, vectors = np.linalg.eigh(c, "L")
    for w, v in (
        sbth.eig_banded(graded[0], True, **options),
        sbth.eigh(*full, device=device),
        [x[1] for x in sbth.eigh(*(np.array([x, x]) for x in full), device="cpu")],
        (values, transform(vectors)),
    ):
        np.testing.assert_allclose(w, true, rtol=0, atol=1e-12)
        assert_eigenpairs(a, w, v * sizes[:, None], b)
    alone = sbth.eigvals_banded(graded[0], True, **options)
    np.testing.assert_allclose(alone, true, rtol=0, atol=1e-12)


def test_a_diagonal_of_zeros_beside_a_metric_that_float32_does_not_hold():
    a = np.array([[0.0, 0.0], [1.0 / 3.0, 0.0]], np.float32)
    for exponent, size in ((0, 2.0**1000), (-120, 2.0**40)):
        values = sbth.eigvals_banded(np.ldexp(a, exponent), True, b_band=np.full((1, 2), size))
        np.testing.assert_array_equal(np.ldexp(values * size, -exponent), [-a[1, 0], a[1, 0]])


def test_bad_input_is_named(device):
    a, b = random_bands(8, 2, 1, True)
    with_nan = a.copy()
    with_nan[1, 2] = np.nan
    for call in (sbth.eigvals_banded, sbth.eig_banded):
        for arguments, error, message in (
            ((a, -b), ValueError, "b_band must be positive definite"),
            ((a, b[:, 1:]), ValueError, "b_band must be of the order of a_band, 8"),
            ((with_nan, b), ValueError, "a_band (holds|must be finite)"),
            ((a, np.full_like(b, np.inf)), ValueError, "b_band (holds|must be finite)"),
            ((a, np.ones(8)), ValueError, r"b_band must have the shape \(bandwidth \+ 1, n\)"),
            ((a, np.full((1, 8), "x")), TypeError, "b_band must"),
        ):
            with pytest.raises(error, match=message):
                call(arguments[0], True, b_band=arguments[1], device=device)
        with pytest.raises(ValueError, match="a_band"):  # eigenvalues overflow
            call(np.full((1, 5), 1e300), b_band=np.full((1, 5), 1e-300), device=device)


@pytest.mark.cuda
@pytest.mark.parametrize("library", ["cupy", "torch"])
def test_arrays_on_a_gpu(require_cuda, library):
    xp = pytest.importorskip(library)
    pytest.importorskip("cupy")
    a, b = random_bands(120, 3, 2, False)
    there = [
        xp.as_tensor(x, device="cuda") if library == "torch" else xp.asarray(x) for x in (a, b)
    ]
    values, vectors = sbth.eig_banded(there[0], b_band=there[1])
    assert type(values) is type(vectors) is type(there[0])
    host = [x.cpu().numpy() if library == "torch" else x.get() for x in (values, vectors)]
    assert_eigenpairs(full_matrix(a, False), *host, full_matrix(b, False))
    alone = sbth.eigvals_banded(there[0], b_band=there[1])
    assert type(alone) is type(there[0])
    for call in (sbth.eigvals_banded, sbth.eig_banded):
        with pytest.raises(ValueError, match="a_band and b_band must be in one memory"):
            call(there[0], b_band=b)
        with pytest.raises(ValueError, match="lives on"):
            call(there[0], b_band=there[1], device="cpu")
