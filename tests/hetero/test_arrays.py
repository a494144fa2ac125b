"""Results are arrays of the caller's library, on the same device and with the same shape."""

import numba
import numpy as np
import pytest

import hetero
from device_libraries import LIBRARIES
from hetero import Device, DeviceMemoryError
from hetero.arrays import Workspace, as_real
from hetero.cuda.driver import SIMULATOR
from hetero.devices import device_of
from hetero.distributed.joining import concatenate
from stablegpu import stable

DISTRIBUTION = stable(1.5, 0.5)
EXPECTED = [0.25411268660222947, 0.14151357067986653]
"""Its density at 0 and 1; computed here, it would be compiled while tests are collected."""


@pytest.mark.parametrize(
    "values", [["a"], "abc", None, object(), [1j], [[1], [1, 2]], np.array(["2020"], "M8[D]")]
)
def test_arrays_of_other_types_are_refused_by_name(values):
    with pytest.raises(TypeError, match="x must"):
        as_real("x", values)


def test_masked_elements_are_refused():
    gap = np.ma.masked_invalid([1.0, np.nan, 3.0])
    with pytest.raises(ValueError, match=r"^x must not be masked: pass x.compressed\(\)"):
        as_real("x", gap)
    assert as_real("x", np.ma.array([1.0, 2.0])).tolist() == [1.0, 2.0]
    assert as_real("x", x := np.ones(3)) is x


def test_arrays_are_joined_by_several_threads():
    for lengths in (0, 3, 1), (300_000, 0, 200_001):
        arrays = [np.random.default_rng(n).normal(size=(n, 5)) for n in lengths]
        np.testing.assert_array_equal(concatenate(arrays), np.concatenate(arrays))
    with pytest.raises(ValueError, match="broadcast"):  # in a thread
        concatenate([*arrays, np.zeros((9, 4))])


@pytest.mark.cuda
def test_large_arrays_are_staged(require_cuda, monkeypatch):
    """Through buffers that are used again, with one that is filled in part."""
    from hetero.cuda import staging

    if SIMULATOR:
        pytest.skip("the simulator has no driver")

    monkeypatch.setattr(staging, "SMALLEST_STAGED", 1000)
    monkeypatch.setattr(staging, "BUFFER_BYTES", 104)
    monkeypatch.setattr(staging, "_idle", {})
    for size, dtype in ((999, np.float64), (500, np.float32), (52, np.float64)):
        x = np.random.default_rng(size).normal(size=size).astype(dtype)
        workspace = Workspace(Device.parse("cuda"))
        uploaded = workspace.input("x", x, dtype, reuse=True)
        np.testing.assert_array_equal(uploaded.copy_to_host(), x)
        np.testing.assert_array_equal(workspace.result(uploaded, (size,)), x)
        out = np.empty((1, size), dtype)
        assert workspace.result(uploaded, (1, size), out) is out
        np.testing.assert_array_equal(out[0], x)
    (idle,) = staging._idle.values()
    assert len(idle) == 1  # which all copies have used


@pytest.mark.parametrize("x", [
    np.arange(6.0).reshape(2, 3)[:, ::2], np.arange(4, dtype=np.int8), np.ones((2, 0, 3)),
    np.float32([[0.5]]), [0.0, 1.0], np.asfortranarray(np.arange(6.0).reshape(2, 3)),
], ids=["strided", "int8", "empty", "float32", "list", "fortran"])  # fmt: skip
@pytest.mark.simulator
def test_shapes_and_dtypes(device, x):
    before = np.array(x, copy=True)
    distribution = stable(1.5, 0.5, device=device)
    pdf = distribution.pdf(x)
    assert isinstance(pdf, np.ndarray)
    assert pdf.shape == np.shape(x)
    assert pdf.dtype == np.float64
    np.testing.assert_array_equal(before, x)
    flat = [distribution.pdf(float(v)) for v in np.ravel(x)]
    np.testing.assert_allclose(pdf.ravel(), flat, rtol=1e-15)


def test_read_only_and_scalars(device):
    distribution = stable(1.5, 0.5, device=device)
    x = np.array([0.0, 1.0])
    x.setflags(write=False)
    np.testing.assert_allclose(distribution.pdf(x), EXPECTED, rtol=1e-12)
    read = Workspace(Device("cpu")).input("x", x)  # of the type for which loops are compiled
    assert numba.typeof(read) == numba.float64[::1]
    assert np.shares_memory(read, x)
    for scalar in (0.0, 0, np.float32(0), np.array(0.0)):
        assert isinstance(distribution.pdf(scalar), float)


def test_out(device):
    distribution = stable(1.5, 0.5, device=device)
    out = np.full(2, np.nan)
    assert distribution.pdf([0.0, 1.0], out=out) is out
    np.testing.assert_allclose(out, EXPECTED, rtol=1e-12)
    frozen = np.empty(2)
    frozen.setflags(write=False)
    for bad, error in (
        (np.empty(3), ValueError),
        (np.empty(2, np.float32), TypeError),
        (np.empty(4)[::2], ValueError),
        (frozen, ValueError),
        ([0.0, 0.0], TypeError),
    ):
        with pytest.raises(error, match="out must"):
            distribution.pdf([0.0, 1.0], out=bad)


def test_cpu_tensors_are_read():
    torch = pytest.importorskip("torch")
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    assert device_of(x) is None
    np.testing.assert_allclose(DISTRIBUTION.pdf(x), EXPECTED, rtol=1e-12)


# ---- on a GPU --------------------------------------------------------------------------------


@pytest.mark.cuda
@pytest.mark.parametrize("library", LIBRARIES)
def test_device_arrays_keep_their_kind_without_a_host_copy(require_cuda, library, monkeypatch):
    monkeypatch.setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    kind, make, to_host = LIBRARIES[library]()
    x = make(np.array([[0.0], [1.0]]))
    DISTRIBUTION.pdf(x)  # the constants of the rule are uploaded once
    with hetero.profile() as profile:
        pdf = DISTRIBUTION.pdf(x)
    assert isinstance(pdf, kind)
    assert tuple(pdf.shape) == (2, 1)
    assert device_of(pdf) == hetero.Device("cuda", 0)
    assert profile.bytes_to_device == profile.bytes_to_host == 0
    assert profile.children["stable density"].gpu > 0
    np.testing.assert_allclose(to_host(pdf).ravel(), EXPECTED, rtol=1e-12)


@pytest.mark.cuda
def test_cupy_views_dtypes_streams_and_out(require_cuda):
    cupy = pytest.importorskip("cupy")
    x = cupy.linspace(-3, 3, 12).reshape(3, 4)
    expected = DISTRIBUTION.pdf(cupy.asnumpy(x))
    for part in (np.s_[:, ::2], np.s_[:0]):
        pdf = cupy.asnumpy(DISTRIBUTION.pdf(x[part]))
        np.testing.assert_allclose(pdf, expected[part], rtol=1e-12)
    out = cupy.empty((3, 4))
    assert DISTRIBUTION.pdf(x, out=out) is out
    np.testing.assert_allclose(cupy.asnumpy(out), expected, rtol=1e-12)
    with cupy.cuda.Stream(non_blocking=True) as stream:
        big = cupy.random.default_rng(1).standard_normal(100_000)
        pdf = DISTRIBUTION.pdf(big)
        total = cupy.asnumpy(pdf)
        stream.synchronize()
    np.testing.assert_allclose(total, DISTRIBUTION.pdf(cupy.asnumpy(big)), rtol=1e-11)
    for bad in (np.empty((3, 4)), cupy.empty((3, 4), "f4"), cupy.empty((4, 3))):
        with pytest.raises((TypeError, ValueError), match="out must"):
            DISTRIBUTION.pdf(x, out=bad)
    with pytest.raises(TypeError, match="real"):
        DISTRIBUTION.pdf(x.astype("c16"))
    with pytest.raises(ValueError, match="lives on"):
        stable(1.5, 0.5, device="cpu").pdf(x)


@pytest.mark.cuda
def test_a_gpu_without_enough_memory_says_so_and_stays_usable(require_cuda):
    device = Device("cuda")
    with device.active():
        work = Workspace(device)
        with pytest.raises(DeviceMemoryError, match=r"needs 32 TiB more, has .* free of") as caught:
            work.output((2**42,))
        assert caught.value.needed == 2**45
        assert caught.value.free <= caught.value.total
        small = work.output((1000,))
        assert work.result(small, (1000,)).shape == (1000,)
