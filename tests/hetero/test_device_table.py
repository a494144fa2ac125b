"""Tables on a GPU, and the memory that one leaves to the next."""

import itertools
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

from hetero.cuda import device_table
from hetero.cuda.device_table import DeviceTable
from hetero.cuda.driver import cuda


class Table(NamedTuple):
    """Arrays of two types."""

    values: np.ndarray
    indices: np.ndarray


def host_table(size, first=0.0):
    """Return a table of `size` values and two indices."""
    return Table(first + np.arange(float(size)), np.array([1, 2]))


@pytest.fixture
def memories(monkeypatch):
    """Record the memory that is taken from a GPU that nobody has."""
    taken = []
    addresses = itertools.count(1 << 20, 1 << 20)

    def allocate(size, dtype):
        pointer = SimpleNamespace(value=next(addresses))
        memory = SimpleNamespace(device_ctypes_pointer=pointer, size=size, content=None)
        taken.append(memory)
        return memory

    def copy(memory, host, stream):
        assert host.nbytes <= memory.size
        memory.content = host.copy()

    monkeypatch.setattr(device_table, "cuda", SimpleNamespace(device_array=allocate))
    monkeypatch.setattr(device_table, "copy_to_gpu", copy)
    monkeypatch.setattr(device_table, "device_id", lambda: 0)
    monkeypatch.setattr(device_table, "_spare", {})
    return taken


def address_of(table):
    """Return the address of the first array of a table: the fifth number of an array."""
    return table.numbers[4]


def test_the_next_table_of_about_the_size_has_the_memory_of_the_last(memories):
    first = DeviceTable(host_table(100))
    address = address_of(first)
    second = DeviceTable(host_table(100))
    assert address_of(second) != address  # the first one lives
    del first
    third = DeviceTable(host_table(90, 5.0))
    assert address_of(third) == address
    assert len(memories) == 2
    np.testing.assert_array_equal(
        memories[0].content[: 90 * 8].view(np.float64), host_table(90, 5.0).values
    )
    del second
    large = DeviceTable(host_table(1000))
    assert len(memories) == 3
    assert memories[-1].size >= 1000 * 8
    del third, large


@pytest.mark.parametrize("stream", [0, 7], ids=["default stream", "another stream"])
def test_memory_that_another_stream_reads_is_not_used_again(
    memories, monkeypatch, replace_driver, stream
):
    from hetero.cuda import launch

    prepared = SimpleNamespace(
        function=None,
        pack_into=lambda *_: None,
        memory=None,
        pointers=launch.ctypes.c_int(),
        allowed=0,
    )
    monkeypatch.setattr(launch, "_prepare", lambda *_: prepared)
    monkeypatch.setattr(launch, "device_id", lambda: 0)
    replace_driver(cuLaunchKernel=lambda *_: None)
    table = DeviceTable(host_table(100))
    launch.launch(None, 1, 1, stream, (1.0, (2, (table,))))
    del table
    DeviceTable(host_table(100))
    assert len(memories) == (1 if stream == 0 else 2)


@pytest.mark.cuda
def test_kernels_read_their_table_although_its_memory_goes_to_the_next(require_cuda):
    """Each kernel is launched before the table of the next one takes its memory."""
    from hetero.cuda.launch import launch
    from hetero.jit import kernel

    @kernel
    def add_up(table, out, k):
        total = 0.0
        for i in range(table.values.size):  # slowly: one thread
            total += table.values[i]
        out[k] = total + table.indices[1]

    count, size = 30, 20_000
    out = cuda.to_device(np.zeros(count))
    addresses = set()
    for k in range(count):
        table = DeviceTable(host_table(size, k))
        addresses.add(address_of(table))
        launch(add_up, 1, 1, 0, (table, out, k))
        del table
    expected = [host_table(size, k).values.sum() + 2 for k in range(count)]
    np.testing.assert_allclose(out.copy_to_host(), expected, rtol=1e-12)
    assert len(addresses) < count
