"""Arrays on a GPU are computed there or refused, and the results are arrays of the same kind."""

import numpy as np
import pytest
import scipy.linalg

import hetero
import sbth
from device_libraries import LIBRARIES
from hetero.devices import device_of
from sbth import reference

N = 60
BAND = np.random.default_rng(9).standard_normal((4, N))
FULL = reference.dense_from_band(BAND)
TRUE = np.linalg.eigvalsh(FULL)


def assert_close(computed, true, dtype=np.float64):
    """Check eigenvalues to a few eps."""
    unit = 50 * np.finfo(dtype).eps * np.max(np.abs(TRUE))
    np.testing.assert_allclose(computed, true, rtol=0, atol=unit)


# ---- without a GPU: invalid arrays are refused before a device is chosen -----------------------


class Elsewhere:
    """An array on a GPU that must not be read: only its description is available."""

    def __init__(self, shape, dtype):
        self.shape, self.dtype = shape, dtype

    def __dlpack_device__(self):
        return 2, 0  # kDLCUDA

    def __dlpack__(self, **_):
        pytest.fail("the array was read")


class OnlyInterface:
    """The minimal interface of an array on a GPU."""

    def __init__(self, shape, dtype):
        self.__cuda_array_interface__ = {
            "shape": shape,
            "typestr": np.dtype(dtype).str,
            "data": (0, False),
            "version": 3,
        }


SOLVERS = {
    **{"tridiagonalize": (4, 9), "eigvals_banded": (4, 9)},
    **{"full_to_band": (9, 9), "eigvalsh": (9, 9)},
}


@pytest.mark.parametrize("name", SOLVERS)
def test_device_arrays_are_refused_unread(name):
    solve, shape = getattr(sbth, name), SOLVERS[name]
    for array, options, error, message in (
        (Elsewhere((9,), np.dtype(float)), {}, ValueError, "must"),
        (Elsewhere(shape, np.dtype("M8[D]")), {}, TypeError, "must hold real numbers"),
        (Elsewhere(shape, np.dtype(float)), {"device": "cpu"}, ValueError, "lives on cuda:0"),
    ):
        with pytest.raises(error, match=message):
            solve(array, **options)
    if name in ("tridiagonalize", "full_to_band"):
        for kind in (Elsewhere, OnlyInterface):
            with pytest.raises(TypeError, match="must be real: complex Hermitian matrices"):
                solve(kind(shape, np.dtype(complex)))


def test_other_device_arrays_are_refused_unread():
    d, e = Elsewhere((9,), np.dtype(complex)), Elsewhere((8,), np.dtype(float))
    here = "is on cuda:0, but {} works in host memory"
    for call, message in (
        (lambda: sbth.full_to_band(Elsewhere((9, 9), "torch.complex64")), "a must be real"),
        (lambda: sbth.eigvalsh_tridiagonal(d, e), "d must be real"),
        (lambda: sbth.eigvalsh_tridiagonal(e, d), "e must be real"),
        (lambda: sbth.dense_from_band(Elsewhere((9, 9), float)), here.format("dense_from_band")),
        (
            lambda: sbth.solve_batch(sbth.eigh, Elsewhere((2, 9, 9), float), device=["cpu"] * 2),
            "a is a batch of matrices on a GPU",
        ),
    ):
        with pytest.raises(TypeError, match=message):
            call()


# ---- on a GPU ----------------------------------------------------------------------------------


@pytest.fixture(params=LIBRARIES)
def library(request, require_cuda, monkeypatch):
    """The array type of a library, and functions that convert to and from its device arrays."""
    monkeypatch.setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    return LIBRARIES[request.param]()


@pytest.mark.cuda
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("rows", [1, 2, 4, 90])
def test_device_bands_on_a_gpu(library, rows, dtype):
    kind, make, to_host = library
    band = np.random.default_rng(rows).standard_normal((rows, 200)).astype(dtype)
    for lower in (False, True):
        ab = make(band)
        with hetero.profile() as profile:
            d, e = sbth.tridiagonalize(ab, lower=lower)
        assert profile.bytes_to_device == 0
        true = sbth.tridiagonalize(band, lower=lower, device="cuda")
        for values, true_values in zip((d, e), true, strict=True):
            assert isinstance(values, kind)
            assert device_of(values) == hetero.Device("cuda", 0)
            np.testing.assert_array_equal(to_host(values), true_values)
        computed = sbth.eigvals_banded(ab, lower=lower)
        assert isinstance(computed, kind)
        assert to_host(computed).dtype == dtype
        true = scipy.linalg.eigvals_banded(band.astype(float), lower=lower)
        unit = 200 * np.finfo(dtype).eps * np.max(np.abs(true))
        np.testing.assert_allclose(to_host(computed), true, rtol=0, atol=5 * unit)
        again = sbth.eigvalsh_tridiagonal(d, e)
        assert isinstance(again, kind)
        np.testing.assert_allclose(to_host(again), true, rtol=0, atol=5 * unit)


@pytest.mark.cuda
def test_device_matrices_on_a_gpu(library):
    pytest.importorskip("cupy")
    kind, make, to_host = library
    a = make(FULL)
    ab = sbth.full_to_band(a, 5)
    assert isinstance(ab, kind)
    assert device_of(ab) == hetero.Device("cuda", 0)
    assert_close(scipy.linalg.eigvals_banded(to_host(ab)), TRUE)
    lower = sbth.full_to_band(a, 5, lower=True)
    assert_close(scipy.linalg.eigvals_banded(to_host(lower), lower=True), TRUE)
    computed = sbth.eigvalsh(a)
    assert isinstance(computed, kind)
    assert_close(to_host(computed), TRUE)
    np.testing.assert_array_equal(to_host(a), FULL)
    pair = sbth.eigvalsh(make(np.stack([FULL[:9, :9]] * 2)))
    assert_close(to_host(pair)[1], np.linalg.eigvalsh(FULL[:9, :9]))


@pytest.mark.cuda
def test_reflections_of_device_arrays_on_a_gpu(library):
    kind, make, to_host = library
    d, e, q = sbth.tridiagonalize(make(BAND), keep_reflectors=True)
    d, e = to_host(d), to_host(e)
    image = q.apply(make(np.eye(N)))
    assert isinstance(image, kind)
    full = to_host(image)
    t = np.diag(d) + np.diag(e, 1) + np.diag(e, -1)
    assert_close(full @ t @ full.T, FULL)
    single = q.apply(make(np.ones(N, np.float32)))
    assert_close(to_host(single), full @ np.ones(N))


@pytest.mark.cuda
def test_cupy_views_streams_and_errors_on_a_gpu(require_cuda):
    cupy = pytest.importorskip("cupy")
    wide = cupy.asarray(np.repeat(BAND, 2, axis=1))
    assert_close(cupy.asnumpy(sbth.eigvals_banded(wide[:, ::2])), TRUE)
    assert_close(cupy.asnumpy(sbth.eigvals_banded(cupy.asfortranarray(cupy.asarray(BAND)))), TRUE)
    with cupy.cuda.Stream(non_blocking=True) as stream:
        ab = cupy.asarray(BAND) + 0.0
        computed = sbth.eigvals_banded(ab)
        full = sbth.eigvalsh(cupy.asarray(FULL) + 0.0)
        stream.synchronize()
        of_complex = sbth.eig_banded(ab * (1 + 0j))  # a band that is loaded on this stream
        stream.synchronize()
    assert_close(cupy.asnumpy(computed), TRUE)
    assert_close(cupy.asnumpy(full), TRUE)
    assert_close(cupy.asnumpy(of_complex[0]), TRUE)
    for solve, shape in SOLVERS.items():
        if solve in ("tridiagonalize", "full_to_band"):
            with pytest.raises(TypeError, match="must be real"):
                getattr(sbth, solve)(cupy.ones(shape, complex))
    with pytest.raises(ValueError, match=r"nan for element \(1, 0\)"):
        sbth.eigvals_banded(cupy.asarray([[0.0, np.nan], [1.0, 1.0]]))
    for shape in ((3, 0), (4, 1)):
        assert sbth.eigvals_banded(cupy.ones(shape)).shape == (shape[1],)
    with pytest.raises(ValueError, match="a_band is too large"):
        sbth.eigvals_banded(cupy.full((9, 9), 8e307))
