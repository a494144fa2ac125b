"""Arrays that are ready for launches: on a GPU, and by a stand-in for the driver's copies."""

import ctypes
import itertools
import math
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from hetero.cuda.driver import SIMULATOR, cuda
from hetero.cuda.ready_arrays import (
    PendingCopy,
    ReadyArray,
    allocate_as_one,
    fill_from_gpu,
    fill_from_host,
    fill_with_zeros,
    ready,
)

driver = pytest.importorskip("cuda.bindings.driver")


class Memory:
    """Host memory that plays the part of an allocation of CuPy, full of NaN."""

    def __init__(self, size):
        self.bytes = np.full(size + 512, 255, np.uint8)
        self.ptr = -(-self.bytes.ctypes.data // 512) * 512


class PageLocked(bytearray):
    """Host memory that plays the part of page-locked memory of CuPy, full of zeros."""

    @property
    def ptr(self):
        return ctypes.addressof((ctypes.c_char * len(self)).from_buffer(self))


class Stream:
    """A stream of CuPy that can be made the current one."""

    current = 0

    def __init__(self, ptr):
        self.ptr = ptr

    def __enter__(self):
        self.previous, Stream.current = Stream.current, self.ptr

    def __exit__(self, *_):
        Stream.current = self.previous


@pytest.fixture
def allocations(monkeypatch, replace_driver):
    """Let copies, and allocations of CuPy, happen in host memory; return what is allocated."""
    made = []

    def copy(target, source, size, stream=None):
        ctypes.memmove(target, source, size)

    def clear(target, value, size, stream):
        ctypes.memset(target, value, size)

    def alloc(size):
        made.append((size, Stream.current))
        return Memory(size)

    copies = ("cuMemcpyHtoD", "cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync", "cuMemcpyDtoDAsync")
    replace_driver(**dict.fromkeys(copies, copy), cuMemsetD8Async=clear)
    replace_driver(cuStreamSynchronize=lambda stream: None)
    module = SimpleNamespace(
        alloc=alloc, alloc_pinned_memory=PageLocked,
        get_current_stream=lambda: Stream(Stream.current), ExternalStream=Stream,
        Stream=SimpleNamespace(null=Stream(0)),
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=module))
    return made


def test_arrays_share_an_allocation_of_the_stream(allocations):
    forms = [((3, 5), np.float64), ((0, 5), np.float64), ((7,), np.int32), ((2,), np.int64)]
    for current in (0, 7, 9):
        with Stream(current):
            arrays = allocate_as_one(forms, 7)
            allocate_as_one(forms, 0)
    assert allocations == 3 * [(1536, 7), (1536, 0)]
    assert [(a.shape, a.dtype, len(a)) for a in arrays] == [(*f, f[0][0]) for f in forms]
    assert all(a.address % 512 == 0 for a in arrays)
    ends = sorted((a.address, a.address + a.nbytes) for a in arrays)
    assert all(end <= begin for (_, end), (begin, _) in itertools.pairwise(ends))


@pytest.mark.parametrize("stream", [0, 7])
def test_copies_and_parts(allocations, stream):
    matrix, copied = allocate_as_one([((4, 3), np.float64)] * 2, stream)
    assert np.isnan(matrix.copy_to_host(stream)).all()
    host = np.arange(12.0).reshape(4, 3)
    fill_from_host(matrix, host, stream)
    fill_from_gpu(copied, matrix, stream)
    fill_with_zeros(matrix[1:3], stream)
    np.testing.assert_array_equal(copied.copy_to_host(stream), host)
    np.testing.assert_array_equal(copied[-1].copy_to_host(stream), host[-1])
    np.testing.assert_array_equal(copied[2:].copy_to_host(stream), host[2:])
    np.testing.assert_array_equal(copied[2:2].copy_to_host(stream), host[2:2])
    np.testing.assert_array_equal(copied.reshape(12)[5:7].copy_to_host(stream), [5.0, 6.0])
    np.testing.assert_array_equal(copied.reshape((2, 6))[1].copy_to_host(stream), host[2:].ravel())
    host[1:3] = 0.0
    np.testing.assert_array_equal(matrix.copy_to_host(stream), host)
    with pytest.raises(IndexError):
        matrix[4]
    with pytest.raises(IndexError, match="rows must follow"):
        matrix[::2]
    with pytest.raises(ValueError, match="cannot take the shape"):
        matrix.reshape(11)


@pytest.fixture
def events(replace_driver):
    """Let copies to the host happen at the end of the stand-in's stream; return what is done."""
    log: list[tuple] = []
    copies: list[tuple] = []

    def postpone(target, source, size, stream):
        log.append(("copy", int(stream)))
        copies.append((target, source, size))

    def synchronize(event):
        log.append(("wait", event))
        for arguments in copies:
            ctypes.memmove(*arguments)
        copies.clear()

    replace_driver(
        cuMemcpyDtoHAsync=postpone, cuEventCreate=lambda flags: log.append(("create", flags)) or 77,
        cuEventRecord=lambda event, stream: log.append(("record", event)),
        cuEventSynchronize=synchronize, cuEventDestroy=lambda event: log.append(("destroy", event)),
    )  # fmt: skip
    return log


def test_copies_that_are_waited_for_later(allocations, events):
    forms = [((5, 3), np.float32), ((0,), np.float64), ((2,), np.int32)]
    arrays = allocate_as_one(forms, 7)
    hosts = [np.arange(math.prod(shape), dtype=dtype).reshape(shape) + 1 for shape, dtype in forms]
    for array, host in zip(arrays, hosts, strict=True):
        fill_from_host(array, host, 7)
    pending = PendingCopy(arrays, 7)
    assert [name for name, _ in events] == ["create", "copy", "copy", "record"]
    assert events[1] == events[2] == ("copy", 7)
    for _ in range(2):
        for copied, host in zip(pending.wait(), hosts, strict=True):
            assert (copied.dtype, copied.shape) == (host.dtype, host.shape)
            np.testing.assert_array_equal(copied, host)
    assert events[4:] == [("wait", 77), ("destroy", 77)]
    del pending
    assert len(events) == 6


def test_a_copy_that_nobody_waits_for_is_over_before_its_memory_is_free(allocations, events):
    pending = PendingCopy(allocate_as_one([((4,), np.float64)], 0), 0)
    del pending
    assert events[-2:] == [("wait", 77), ("destroy", 77)]


def test_launches_get_the_numbers_of_numba_arrays():
    """A view of Numba on the same memory is the oracle."""
    from numba.cuda.cudadrv.devicearray import DeviceNDArray
    from numba.cuda.cudadrv.driver import MemoryPointer

    from hetero.cuda.launch import _append_numbers

    for shape, dtype in (((5,), np.float64), ((3, 4), np.int64), ((1, 1), np.float32)):
        host = np.empty(shape, dtype)
        memory = MemoryPointer(None, driver.CUdeviceptr(4096), host.nbytes)
        theirs = DeviceNDArray(host.shape, host.strides, host.dtype, gpu_data=memory)
        interface = SimpleNamespace(
            dtype=host.dtype,
            shape=shape,
            __cuda_array_interface__={"data": (4096, False), "strides": host.strides},
        )
        expected: tuple[list, list] = [], []
        assert _append_numbers(theirs, *expected)
        ours = [ReadyArray(None, 4096, shape, host.dtype), ready(theirs), ready(interface)]
        for array in ours:
            numbers: tuple[list, list] = [], []
            assert _append_numbers(array, *numbers)
            assert numbers == expected
            assert ready(array) is array
    transposed = DeviceNDArray((3, 4), (8, 24), np.dtype(float), gpu_data=memory)
    with pytest.raises(ValueError, match="not C-contiguous"):
        ready(transposed)


@pytest.mark.cuda
@pytest.mark.simulator
def test_a_kernel_gets_ready_arrays(require_cuda):
    from hetero.cuda.launch import launch
    from hetero.jit import kernel

    @kernel
    def add(pair, values, out):
        for i in range(values.shape[0]):
            out[i] = values[i, 1] + pair[0][i] + pair[1]

    host = np.arange(6.0).reshape(3, 2)
    values, same, first, out = allocate_as_one(
        [((3, 2), float), ((3, 2), float), ((3,), float), ((3,), float)], 0
    )
    fill_from_host(values, host, 0)
    fill_from_gpu(same, values, 0)
    fill_with_zeros(first, 0)
    for _ in range(2):
        launch(add, 1, 1, 0, ((first, 0.5), same, out))
    assert out.copy_to_host().tolist() == [1.5, 3.5, 5.5]
    numba_array = cuda.to_device(host)
    launch(add, 1, 1, 0, ((first, 0.5), ready(numba_array), out))
    assert out.copy_to_host().tolist() == [1.5, 3.5, 5.5]
    if not SIMULATOR:
        add[1, 1]((first.arrays, 1.5), same.arrays, out.arrays)
        assert out.copy_to_host().tolist() == [2.5, 4.5, 6.5]


def test_views_of_another_type():
    array = ReadyArray(None, 4096, (3, 5), np.dtype(np.complex128))
    parts = array.view(np.float64)
    assert (parts.shape, parts.dtype, parts.address) == ((3, 10), np.dtype(np.float64), 4096)
    again = parts.view(np.complex128)
    assert (again.shape, again.kinds, again.numbers) == (array.shape, array.kinds, array.numbers)
    with pytest.raises(ValueError, match="rows of 5 float64 are not rows of complex128"):
        ReadyArray(None, 4096, (3, 5), np.dtype(np.float64)).view(np.complex128)


def test_a_refused_copy_is_an_error(allocations, replace_driver):
    (array,) = allocate_as_one([((4,), np.float64)], 0)
    refused = driver.CUresult.CUDA_ERROR_ILLEGAL_ADDRESS
    replace_driver(cuStreamSynchronize=lambda stream: refused)
    with pytest.raises(RuntimeError, match="CUDA_ERROR_ILLEGAL_ADDRESS"):
        array.copy_to_host()
