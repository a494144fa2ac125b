"""Launches with many arguments: the driver gets the numbers that it gets from Numba."""

import ctypes
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

from hetero.cuda.driver import cuda
from hetero.cuda.launch import launch

driver = pytest.importorskip("cuda.bindings.driver")


class Table(NamedTuple):
    values: object
    matrix: object
    indices: object


class Scales(NamedTuple):
    low: float
    count: int
    mirrored: bool


SCALES = Scales(0.25, -7, True)


def host_table():
    return Table(np.arange(5.0), np.arange(6.0).reshape(3, 2), np.array([7, -8]))


EXPECTED = [1.0 + 5, 5.0 + 3, -1.0, 0.25 - 7, 1.5]


@pytest.mark.cuda
def test_tables_are_arguments_in_one_allocation(require_cuda):
    from hetero.cuda.device_table import DeviceTable
    from hetero.jit import kernel as compile_kernel

    @compile_kernel
    def write(table, scales, number, out):
        out[0] = table.values[1] + table.values.size
        out[1] = table.matrix[2, 1] + table.matrix.shape[0]
        out[2] = table.indices[1] + table.indices[0]
        out[3] = scales.low + scales.count
        out[4] = number if scales.mirrored else 0.0

    table = DeviceTable(host_table())
    for _ in range(2):
        out = cuda.to_device(np.zeros(5))
        launch(write, 1, 1, 0, (table, SCALES, 1.5, out))
        assert out.copy_to_host().tolist() == EXPECTED
    for ours, theirs in zip(table.arrays, host_table(), strict=True):
        assert np.array_equal(ours.copy_to_host(), theirs)
        assert ours.dtype == theirs.dtype
    out = cuda.to_device(np.zeros(5))
    write[1, 1](table.arrays, SCALES, 1.5, out)
    assert out.copy_to_host().tolist() == EXPECTED


class Kernel:
    """A compiled kernel that is on no GPU."""

    compiled = SimpleNamespace(_codelibrary=SimpleNamespace(get_cufunc=lambda: Kernel), handle=7)
    handle, attrs, device = 7, SimpleNamespace(shared=1024), SimpleNamespace(id=0)

    def __init__(self):
        self.configurations, self.compilations = [], 0

    def typeof_pyval(self, value):
        return type(value)

    def compile(self, types):
        self.compilations += 1
        return self.compiled

    def __getitem__(self, configuration):
        self.configurations.append(configuration)
        return lambda *arguments: None


@pytest.fixture
def launches(replace_driver):
    """Record the launches of a driver that has a GPU and starts nothing."""
    launches = SimpleNamespace(calls=[], result=None)

    def start(function, *arguments):
        *sizes, shared, stream, pointers, _ = arguments
        launches.calls.append((int(function), sizes, shared, int(stream), pointers))
        return launches.result

    replace_driver(cuLaunchKernel=start, cuCtxGetDevice=lambda: driver.CUdevice(0))
    return launches


def slots(pointers, count):
    """Return the 8 bytes of each number that a launch passes."""
    addresses = (ctypes.c_void_p * count).from_address(pointers)
    return [ctypes.string_at(address, 8) for address in addresses]


def device_array(host, address):
    """Return an array of Numba at an address, on a GPU that does not exist."""
    from numba.cuda.cudadrv.devicearray import DeviceNDArray
    from numba.cuda.cudadrv.driver import MemoryPointer

    memory = MemoryPointer(None, driver.CUdeviceptr(address), host.nbytes)
    return DeviceNDArray(host.shape, host.strides, host.dtype, gpu_data=memory)


def test_numbers_are_those_that_numba_passes(launches):
    """Numba's own conversion, `_Kernel._prepare_args`, is the oracle."""
    from numba import types
    from numba.cuda import dispatcher

    table = Table(*(device_array(a, 4096 * k) for k, a in enumerate(host_table(), 1)))
    arguments = (table, SCALES, 2.5, np.float64(-1.5), True, np.int64(1 << 40))
    arguments += np.uint64(1 << 63), np.uint32(1 << 31), np.int32(-5), np.float32(0.1)
    launch(Kernel(), 3, (16, 2), 0, arguments, 64)
    array, matrix = types.Array(types.float64, 1, "C"), types.Array(types.float64, 2, "C")
    kinds = (types.NamedTuple((array, matrix, types.Array(types.int64, 1, "C")), Table),
             types.NamedTuple((types.float64, types.int64, types.boolean), Scales),
             *(types.float64, types.float64, types.boolean, types.int64),
             *(types.uint64, types.uint32, types.int32, types.float32))  # fmt: skip
    expected = []
    for kind, value in zip(kinds, arguments, strict=True):
        numba_kernel = SimpleNamespace(extensions=[])
        numba_kernel._prepare_args = lambda *a, k=numba_kernel: dispatcher._Kernel._prepare_args(
            k, *a
        )
        numba_kernel._prepare_args(kind, value, 0, [], expected)
    assert len(expected) == 34
    expected = [
        bytes(v).ljust(8, b"\0")
        if hasattr(v, "_type_")
        else int(v).to_bytes(8, "little", signed=True)
        for v in expected
    ]
    ((function, sizes, shared, stream, pointers),) = launches.calls
    assert (function, sizes, shared, stream) == (7, [3, 1, 1, 16, 2, 1], 64, 0)
    assert slots(pointers, len(expected)) == expected


def test_a_kernel_is_prepared_once_for_the_types_of_its_arguments(launches):
    kernel = Kernel()
    for number in (1.0, 2.0, 3, True, 4.0):
        launch(kernel, 1, 1, 0, (number, SCALES))
    assert kernel.compilations == 3  # for a float, an int and a bool
    assert not kernel.configurations
    assert slots(launches.calls[-1][-1], 1)[0] == np.float64(4.0).tobytes()


@pytest.mark.parametrize("value", [np.float16(1.0), 1j, 1 << 63, "text"], ids=repr)
def test_other_values_are_left_to_numba(launches, value):
    kernel = Kernel()
    launch(kernel, 2, 32, 0, (value, (1.0, value)), 8)
    assert kernel.configurations == [(2, 32, 0, 8)]
    assert not launches.calls


def test_arrays_that_are_not_contiguous_are_left_to_numba(launches):
    kernel = Kernel()
    launch(kernel, 1, 1, 0, (device_array(np.arange(6.0).reshape(3, 2).T, 4096),))
    launch(kernel, 1, 1, 0, (device_array(np.broadcast_to(np.ones(1), (4,)), 4096),))
    assert len(kernel.configurations) == 2
    assert not launches.calls


def test_a_block_gets_the_largest_shared_memory_that_was_asked_for(launches, monkeypatch):
    """Numba has no switch for more than 48 KB, the static ones included."""
    from numba.cuda.cudadrv import driver as numba_driver

    limits = []
    attribute = SimpleNamespace(cuKernelSetAttribute=lambda _, size, *rest: limits.append(size))
    monkeypatch.setattr(numba_driver, "driver", attribute)
    monkeypatch.setattr("hetero.cuda.launch._limits", {})
    for size in (1 << 10, 47 << 10, 48 << 10, 60_000, 50_000, 100_000):
        launch(Kernel(), (2, 3), 32, 0, (1.0,), size)
    assert limits == [48 << 10, 60_000, 100_000]
    assert [call[1] for call in launches.calls] == [[2, 3, 1, 32, 1, 1]] * 6


def test_a_refused_launch_is_an_error(launches):
    launches.result = driver.CUresult.CUDA_ERROR_INVALID_VALUE
    with pytest.raises(RuntimeError, match="CUDA_ERROR_INVALID_VALUE"):
        launch(Kernel(), 1, 1, 0, (1.0,))
