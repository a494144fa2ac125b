"""Arrays on a GPU are computed there or refused, and the results are arrays of the same kind."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.linalg

import hetero
import sbth
from hetero.devices import device_of
from host_cublas import use_host_memory
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
    "tridiagonalize": (4, 9),
    "eigvals_banded": (4, 9),
    "full_to_band": (9, 9),
    "eigvalsh": (9, 9),
}


@pytest.mark.parametrize("kind", [Elsewhere, OnlyInterface])
@pytest.mark.parametrize("name", ["tridiagonalize", "full_to_band"])
def test_complex_device_arrays_are_refused(name, kind):
    with pytest.raises(TypeError, match="must be real: complex Hermitian matrices"):
        getattr(sbth, name)(kind(SOLVERS[name], np.dtype(np.complex128)))


def test_complex_torch_tensors_are_refused():
    """PyTorch's dtypes are not NumPy dtypes."""
    with pytest.raises(TypeError, match="a must be real"):
        sbth.full_to_band(Elsewhere((9, 9), "torch.complex64"))


def test_complex_diagonals_are_refused():
    d, e = Elsewhere((9,), np.dtype(complex)), Elsewhere((8,), np.dtype(float))
    with pytest.raises(TypeError, match="d must be real"):
        sbth.eigvalsh_tridiagonal(d, e)
    with pytest.raises(TypeError, match="e must be real"):
        sbth.eigvalsh_tridiagonal(e, d)


@pytest.mark.parametrize("name", SOLVERS)
def test_device_arrays_of_other_shapes_and_types_are_refused(name):
    solve = getattr(sbth, name)
    with pytest.raises(ValueError, match="must"):
        solve(Elsewhere((9,), np.dtype(float)))
    with pytest.raises(TypeError, match="must hold real numbers"):
        solve(Elsewhere(SOLVERS[name], np.dtype("M8[D]")))


@pytest.mark.parametrize("name", SOLVERS)
def test_device_arrays_do_not_move_to_the_cpu(name):
    with pytest.raises(ValueError, match="the array lives on cuda:0"):
        getattr(sbth, name)(Elsewhere(SOLVERS[name], np.dtype(float)), device="cpu")


@pytest.mark.parametrize("name", ["band_from_dense", "dense_from_band"])
def test_conversions_refuse_device_arrays(name):
    with pytest.raises(TypeError, match=f"is on cuda:0, but {name} works in host memory"):
        getattr(sbth, name)(Elsewhere((9, 9), np.dtype(float)))


# ---- in the simulator: the host's side, with the loops of the CPU ------------------------------


class Simulated:
    """A device array of the library that the fixture below simulates."""

    def __init__(self, array):
        self.array, self.shape, self.dtype = array, array.shape, array.dtype

    def __dlpack_device__(self):
        return 2, 0

    @property
    def T(self):
        return Simulated(self.array.T)

    def on_host(self):
        return np.asarray(self.array.copy_to_host())


@pytest.fixture
def simulated(require_cuda, monkeypatch):
    """Return a maker of simulated device arrays; the CPU runs the kernels that need real warps."""
    from hetero import arrays
    from hetero.cuda.driver import SIMULATOR, cuda
    from sbth import _array_module, _bisection, _bulge_chasing
    from sbth._back_transformation.diamonds import form_all_diamonds
    from sbth._bisection import cpu as bisection_cpu
    from sbth._bulge_chasing import cpu as bulge_chasing_cpu
    from sbth._gpu_stages import solver
    from sbth._gpu_stages.tridiagonal_form import TridiagonalForm
    from sbth.reflectors import Stage

    if not SIMULATOR:
        pytest.skip("real devices have tests of their own")

    def host(values):
        values = values.array if isinstance(values, Simulated) else values
        return getattr(values, "_ary", values)

    library = SimpleNamespace(
        stream=lambda like: 0,
        flat=lambda name, x, dtype: cuda.to_device(host(x).astype(dtype).reshape(-1)),
        empty=lambda size, dtype, like: cuda.device_array(size, dtype),
        finish=lambda array, shape: Simulated(array.reshape(shape)),
    )

    def chase_bulges(work, d, method, in_flight, reflectors, stream=0):
        bulge_chasing_cpu.chase_bulges(host(work), d, "serial", None, host(reflectors))

    def start_full_band(xp, a, width, *, keeps_vectors):
        n = len(a)
        work, vectors = (np.zeros(s, a.dtype) for s in ((n, 2 * width), (max(n - 2, 0), n)))
        for k in range(min(width + 1, n)):
            work[: n - k, k] = np.diagonal(a, -k)
        if n:
            bulge_chasing_cpu.chase_bulges(work, width, "serial", None, vectors)
        layout = Stage(width, 1, vectors).layout
        diamonds = form_all_diamonds(np, layout, vectors, a.dtype) if layout.groups else None
        form = TridiagonalForm(work[:, 0], work[:-1, 1], None, layout, diamonds)
        return SimpleNamespace(finish=lambda: form)

    def bisect(*arguments):
        bisection_cpu.bisect(*map(host, arguments))

    def count_below(*arguments):
        bisection_cpu.count_below(*map(host, arguments))

    stand_ins = (
        (_bulge_chasing, SimpleNamespace(chase_bulges=chase_bulges)),
        (_bisection, SimpleNamespace(bisect=bisect, count_below=count_below)),
    )

    class Cupy:
        def __getattr__(self, name):
            return getattr(np, name)

        def asarray(self, values):
            return host(values)

        from_dlpack = asarray

    for topic, stand_in in stand_ins:
        monkeypatch.setattr(topic, "loops", lambda device, stand_in=stand_in: stand_in)
    monkeypatch.setattr(solver, "start_full_band", start_full_band)
    monkeypatch.setattr(solver, "_VALUES_BANDWIDTH", 3)
    monkeypatch.setattr(solver, "_VECTORS_BANDWIDTH", {"f": 3})
    use_host_memory(monkeypatch)
    monkeypatch.setattr(_array_module, "_import_cupy", lambda device, routine: Cupy())
    monkeypatch.setattr(arrays, "library_of", lambda array: library)
    monkeypatch.setattr(cuda, "as_cuda_array", lambda array, sync: array, raising=False)
    return lambda values: Simulated(cuda.to_device(np.asarray(values)))


@pytest.mark.simulator
@pytest.mark.parametrize("device", ["cuda"])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("rows", [1, 2, 4])
def test_results_for_bands_are_on_their_device(simulated, device, rows, lower):
    band = BAND[:rows]
    true = scipy.linalg.eigvals_banded(band, lower=lower)
    ab = simulated(band)
    for options in ({}, {"device": "cuda"}):
        computed = sbth.eigvals_banded(ab, lower=lower, **options)
        assert isinstance(computed, Simulated)
        assert_close(computed.on_host(), true)
    d, e, q = sbth.tridiagonalize(ab, lower=lower, keep_reflectors=True)
    for values, true_values in zip((d, e), sbth.tridiagonalize(band, lower=lower), strict=True):
        assert isinstance(values, Simulated)
        np.testing.assert_array_equal(values.on_host(), true_values)
    computed = sbth.eigvalsh_tridiagonal(d, e, "i", (0, 4))
    assert isinstance(computed, Simulated)
    assert_close(computed.on_host(), true[:5])
    x = np.ones(N)
    image = q.apply(simulated(x))
    assert isinstance(image, Simulated)
    np.testing.assert_array_equal(image.on_host(), q.apply(x))


@pytest.mark.simulator
@pytest.mark.parametrize("device", ["cuda"])
def test_results_for_full_matrices_are_on_their_device(simulated, device):
    ab = sbth.full_to_band(simulated(FULL), 5)
    assert isinstance(ab, Simulated)
    assert ab.shape == (6, N)
    assert_close(scipy.linalg.eigvals_banded(ab.on_host()), TRUE)
    computed = sbth.eigvalsh(simulated(FULL))
    assert isinstance(computed, Simulated)
    assert_close(computed.on_host(), TRUE)


def assert_eigenpairs(a, w, v):
    """Check simulated results against the matrix."""
    assert isinstance(w, Simulated)
    assert isinstance(v, Simulated)
    w, v = w.on_host(), v.on_host()
    np.testing.assert_allclose(w, np.linalg.eigvalsh(a), rtol=0, atol=1e-13)
    np.testing.assert_allclose(a @ v, v * w, atol=1e-13)
    np.testing.assert_allclose(v.T @ v, np.eye(len(a)), atol=1e-13)


@pytest.mark.simulator
@pytest.mark.parametrize("device", ["cuda"])
@pytest.mark.parametrize("rows", [1, 2, 4])
def test_eigenvectors_of_bands_are_on_their_device(simulated, device, rows):
    band = np.ascontiguousarray(BAND[:rows, :12])  # a leaf: the simulator takes minutes for a merge
    ab, full = simulated(band), sbth.dense_from_band(band)
    assert_eigenpairs(full, *sbth.eig_banded(ab))
    w, v = sbth.eig_banded(ab, select="i", select_range=(1, 3))
    assert (w.shape, v.shape) == ((3,), (12, 3))
    w, v = sbth.eig_banded(ab, select="v", select_range=(1e3, 2e3))
    assert (w.shape, v.shape) == ((0,), (12, 0))
    if rows == 2:
        assert_eigenpairs(full, *sbth.eigh_tridiagonal(simulated(band[1]), simulated(band[0, 1:])))


@pytest.mark.simulator
@pytest.mark.parametrize("device", ["cuda"])
@pytest.mark.parametrize("lower", [False, True])
def test_eigenvectors_of_full_matrices_are_on_their_device(simulated, device, lower):
    full = FULL[:12, :12]
    triangle = np.tril(full) if lower else np.triu(full)
    assert_eigenpairs(full, *sbth.eigh(simulated(triangle), lower=lower))


@pytest.mark.simulator
@pytest.mark.parametrize("device", ["cuda"])
@pytest.mark.parametrize("dtype", ["i4", "u1", "?", "f2", "f4"])
def test_other_real_types_are_computed(simulated, device, dtype):
    a = np.random.default_rng(1).integers(0, 2 if dtype == "?" else 9, (12, 12))
    a = np.tril(a) + np.tril(a, -1).T
    true = np.linalg.eigvalsh(a)
    single = dtype == "f4"
    for computed in (
        sbth.eigvalsh(simulated(a.astype(dtype))),
        sbth.eigvals_banded(simulated(sbth.band_from_dense(a).astype(dtype))),
    ):
        assert computed.dtype == (np.float32 if single else np.float64)
        np.testing.assert_allclose(computed.on_host(), true, atol=1e-4 if single else 1e-12)


@pytest.mark.simulator
@pytest.mark.parametrize("device", ["cuda"])
def test_values_that_are_not_finite_are_detected_on_the_device(simulated, device):
    for lower in (False, True):
        for value in (np.nan, np.inf, -np.inf):
            ab = np.zeros((4, 9))
            ab[2 if not lower else 1, 5 if not lower else 4] = value  # element (5, 4)
            ab[0, 0 if not lower else 8] = 1.0
            with pytest.raises(ValueError, match=rf"{value} for element \(5, 4\)"):
                sbth.tridiagonalize(simulated(ab), lower=lower)
    outside = np.zeros((4, 9))
    outside[0, :3] = np.nan  # above the matrix
    assert not sbth.eigvals_banded(simulated(outside)).on_host().any()
    with pytest.raises(ValueError, match="d must be finite, got nan at index 1"):
        sbth.eigvalsh_tridiagonal(simulated([0.0, np.nan]), simulated([1.0]))
    with pytest.raises(ValueError, match="a must be finite"):
        sbth.full_to_band(simulated([[np.nan]]))


@pytest.mark.simulator
@pytest.mark.parametrize("device", ["cuda"])
def test_huge_and_empty_bands(simulated, device):
    for factor in (1e300, 1e-300):
        computed = sbth.eigvals_banded(simulated(BAND * factor)).on_host()
        assert_close(computed / factor, TRUE)
    for shape in ((1, 0), (3, 0), (1, 1), (4, 1)):
        d, e = sbth.tridiagonalize(simulated(np.ones(shape)))
        assert (d.shape, e.shape) == ((shape[1],), (0,))
        assert sbth.eigvals_banded(simulated(np.ones(shape))).shape == (shape[1],)
    assert sbth.eigvalsh(simulated(np.ones((0, 0)))).shape == (0,)


# ---- on a GPU ----------------------------------------------------------------------------------


def _cupy():
    cupy = pytest.importorskip("cupy")
    return cupy.ndarray, cupy.asarray, cupy.asnumpy


def _torch():
    torch = pytest.importorskip("torch")
    return torch.Tensor, lambda v: torch.tensor(v, device="cuda"), lambda t: t.cpu().numpy()


def _numba():
    from hetero.cuda.driver import cuda

    return type(cuda.to_device(np.ones(1))), cuda.to_device, lambda a: a.copy_to_host()


def _jax():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    return jax.Array, jax.numpy.asarray, np.asarray


LIBRARIES = {"cupy": _cupy, "torch": _torch, "numba": _numba, "jax": _jax}


@pytest.fixture(params=LIBRARIES)
def library(request, require_cuda, monkeypatch):
    """The array type of a library, and functions that convert to and from its device arrays."""
    from hetero.cuda.driver import SIMULATOR

    if SIMULATOR:
        pytest.skip("the simulator has no device arrays of other libraries")
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
@pytest.mark.parametrize("dtype", ["i4", "i8", "u1", "?", "f2"])
def test_other_types_of_cupy_and_torch_on_a_gpu(require_cuda, dtype):
    a = np.random.default_rng(1).integers(0, 2 if dtype == "?" else 9, (40, 40))
    a = np.tril(a) + np.tril(a, -1).T
    true = np.linalg.eigvalsh(a)
    for name in ("cupy", "torch"):
        kind, make, to_host = LIBRARIES[name]()
        for computed in (
            sbth.eigvalsh(make(a.astype(dtype))),
            sbth.eigvals_banded(make(sbth.band_from_dense(a).astype(dtype))),
        ):
            assert isinstance(computed, kind)
            assert to_host(computed).dtype == np.float64
            np.testing.assert_allclose(to_host(computed), true, atol=1e-11)


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
    for shape in ((1, 0), (3, 0), (1, 1), (4, 1)):
        d, e = sbth.tridiagonalize(cupy.ones(shape))
        assert (d.shape, e.shape) == ((shape[1],), (0,))
        assert sbth.eigvals_banded(cupy.ones(shape)).shape == (shape[1],)
    large = cupy.full((9, 9), 8e307)
    with pytest.raises(ValueError, match="a_band is too large"):
        sbth.eigvals_banded(large)
    with pytest.raises(TypeError, match="works in host memory"):
        sbth.band_from_dense(large)


@pytest.mark.cuda
def test_numba_arrays_of_other_types_are_refused_clearly(require_cuda):
    from hetero.cuda.driver import cuda

    with pytest.raises(TypeError, match="must be C-contiguous float64"):
        sbth.eigvals_banded(cuda.to_device(BAND.astype(np.int64)))
