"""Arrays on a GPU whose numbers for launches are computed once, and memory that several share.

An array of Numba takes 40 to 180 us to allocate and is converted again at each launch, by way of
several objects. Routines that launch tens of kernels on the same arrays use these instead.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from hetero.cuda.array_libraries import view_as_numba
from hetero.cuda.driver import SIMULATOR, cuda

_ALIGNMENT = 512
"""Bytes to whose multiples arrays that share memory are aligned, as allocations of CuPy are: the
vendor's BLAS chooses its kernels by the alignment."""

_SMALLEST_PINNED = 1 << 12
"""Bytes of the smallest page-locked memory: a page."""


class ReadyArray:
    """A C-contiguous array on a GPU, ready for `hetero.cuda.launch.launch`.

    Parameters
    ----------
    owner : object
        Object that keeps the memory allocated.
    address : int
        Address of the first byte on the GPU.
    shape : tuple of int
    dtype : data type of NumPy

    Attributes
    ----------
    kinds, numbers : types and numbers that `launch` passes to a kernel for the array
    """

    __slots__ = ("address", "dtype", "kinds", "numbers", "owner", "shape", "size")

    def __init__(self, owner: Any, address: int, shape: tuple[int, ...], dtype: np.dtype) -> None:
        self.owner, self.address, self.shape, self.dtype = owner, address, shape, dtype
        self.size = math.prod(shape)
        self.kinds: list[Any] = [(dtype, len(shape))]
        strides = contiguous_strides(shape, dtype.itemsize)
        self.numbers = numbers_of_array(address, shape, strides, dtype)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: int | slice) -> ReadyArray:
        """Return a row, or consecutive rows."""
        pitch = math.prod(self.shape[1:]) * self.dtype.itemsize
        if isinstance(key, slice):
            rows = range(len(self))[key]
            if rows.step != 1:
                raise IndexError("rows must follow each other")
            begin, shape = rows.start, (len(rows), *self.shape[1:])
        else:
            begin, shape = range(len(self))[key], self.shape[1:]
        return ReadyArray(self.owner, self.address + begin * pitch, shape, self.dtype)

    @property
    def nbytes(self) -> int:
        """Number of bytes."""
        return self.size * self.dtype.itemsize

    @property
    def arrays(self) -> Any:
        """The array as one of Numba."""
        return view_as_numba(self)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The description by which other libraries take the array."""
        return {
            "shape": self.shape,
            "strides": None,
            "typestr": self.dtype.str,
            "data": (self.address, False),
            "version": 3,
        }

    def reshape(self, shape: int | tuple[int, ...]) -> ReadyArray:
        """Return the array with another shape of as many elements."""
        shape = (shape,) if isinstance(shape, int) else shape
        if math.prod(shape) != self.size:
            raise ValueError(f"an array of shape {self.shape} cannot take the shape {shape}")
        return ReadyArray(self.owner, self.address, shape, self.dtype)

    def view(self, dtype: DTypeLike) -> ReadyArray:
        """Return the array as one of another type, whose last axis may have another length."""
        other = np.dtype(dtype)
        last, remainder = divmod(self.shape[-1] * self.dtype.itemsize, other.itemsize)
        if remainder:
            raise ValueError(f"rows of {self.shape[-1]} {self.dtype} are not rows of {other}")
        return ReadyArray(self.owner, self.address, (*self.shape[:-1], last), other)

    def copy_to_host(self, stream: Any = 0) -> np.ndarray:
        """Return a copy in host memory, once the work on the stream is done."""
        from cuda.bindings import driver

        host, handle = np.empty(self.shape, self.dtype), stream_handle(stream)
        if self.size:
            address = host.ctypes.data
            check_call(driver.cuMemcpyDtoHAsync(address, self.address, host.nbytes, handle))
            check_call(driver.cuStreamSynchronize(handle))
        return host


def numbers_of_array(
    address: int, shape: Sequence[int], strides: Sequence[int], dtype: Any
) -> tuple[int, ...]:
    """Return the numbers that a kernel gets for an array, in Numba's order.

    The first two are Numba's objects of memory, which kernels do not use.
    """
    return (0, 0, math.prod(shape), dtype.itemsize, address, *shape, *strides)


def contiguous_strides(shape: Sequence[int], item: int) -> tuple[int, ...]:
    """Return the strides of a contiguous array of this shape, also where a length is 1 or 0."""
    strides, step = [], item
    for length in reversed(shape):
        strides.append(step)
        step *= length
    return tuple(reversed(strides))


def ready(array: Any) -> Any:
    """Return a C-contiguous array of any library on the current GPU as a `ReadyArray`.

    Numba's own view takes 24 us. The simulator's arrays are returned unchanged.
    """
    if SIMULATOR or isinstance(array, ReadyArray):
        return array
    dtype, shape = np.dtype(array.dtype), tuple(array.shape)
    if hasattr(array, "device_ctypes_pointer"):  # Numba's
        is_contiguous, address = array.is_c_contiguous(), array.device_ctypes_pointer.value or 0
    else:
        interface = array.__cuda_array_interface__
        strides, address = interface.get("strides"), interface["data"][0]
        is_contiguous = strides is None or strides == contiguous_strides(shape, dtype.itemsize)
    if not is_contiguous:
        raise ValueError(f"an array of shape {shape} on a GPU is not C-contiguous")
    return ReadyArray(array, address, shape, dtype)


def allocate_as_one(forms: Sequence[tuple[tuple[int, ...], DTypeLike]], stream: Any) -> list[Any]:
    """Return new arrays (shape, dtype) on the current GPU that share one allocation.

    If CuPy has been imported, the memory comes from its pool, without a call of the driver or a
    wait for the GPU. It belongs to the work on `stream`, which reuses it once no array is left.
    """
    if SIMULATOR:
        return [cuda.device_array(shape, dtype, stream=stream) for shape, dtype in forms]
    kinds = [(shape, np.dtype(dtype)) for shape, dtype in forms]
    starts, end = _find_starts([math.prod(shape) * dtype.itemsize for shape, dtype in kinds])
    owner, address = _allocate(max(end, _ALIGNMENT), stream)
    return [
        ReadyArray(owner, address + start, *kind) for start, kind in zip(starts, kinds, strict=True)
    ]


def _find_starts(sizes: Sequence[int]) -> tuple[list[int], int]:
    """Return where arrays of these sizes begin in one piece of memory, in bytes, and its size."""
    starts, end = [], 0
    for size in sizes:
        starts.append(end)
        end += -(-size // _ALIGNMENT) * _ALIGNMENT
    return starts, end


def _allocate(size: int, stream: Any) -> tuple[Any, int]:
    """Return the owner of `size` new bytes on the current GPU, and their address."""
    cupy = sys.modules.get("cupy")
    if cupy is None:
        memory = cuda.device_array(size, np.uint8, stream=stream)
        return memory, memory.device_ctypes_pointer.value
    handle = int(stream) if stream else 0
    if cupy.cuda.get_current_stream().ptr == handle:
        memory = cupy.cuda.alloc(size)
    else:
        with cupy.cuda.ExternalStream(handle) if handle else cupy.cuda.Stream.null:
            memory = cupy.cuda.alloc(size)
    return memory, memory.ptr


def fill_from_host(array: Any, host: np.ndarray, stream: Any) -> None:
    """Copy a contiguous array of the host to a `ReadyArray` of its size and type."""
    if SIMULATOR:
        array.copy_to_device(host, stream=stream)
    elif host.size:
        from cuda.bindings import driver

        # The host's array may change as soon as this returns, unless it is page-locked. The
        # synchronous copy would wait for all earlier work of the default stream, too.
        arguments = array.address, host.ctypes.data, host.nbytes
        check_call(driver.cuMemcpyHtoDAsync(*arguments, stream_handle(stream)))


class PendingCopy:
    """Copies of arrays on the GPU that are on their way to host memory.

    The host can launch other work on the stream before it waits for them, and the wait ends with
    the copies, not with that work. They need page-locked memory, which comes from CuPy's pool; if
    CuPy has not been imported, the constructor waits for the copies.

    Parameters
    ----------
    arrays : sequence of `ReadyArray`, or of the simulator's arrays
    stream : stream, or 0
    """

    def __init__(self, arrays: Sequence[Any], stream: Any) -> None:
        self._results: list[np.ndarray] | None = None
        self._event: Any = None
        cupy = None if SIMULATOR else sys.modules.get("cupy")
        if cupy is None:
            self._results = [array.copy_to_host(stream=stream) for array in arrays]
            return

        from cuda.bindings import driver

        self._forms = [(array.shape, array.dtype) for array in arrays]
        self._starts, end = _find_starts([array.nbytes for array in arrays])
        # The pool reuses memory for requests of the same size only, and new memory takes 0.1 ms or
        # more: a power of two serves arrays of other sizes, too.
        size = 1 << (max(end, _SMALLEST_PINNED) - 1).bit_length()
        self._memory = cupy.cuda.alloc_pinned_memory(size)
        handle = stream_handle(stream)
        result = driver.cuEventCreate(int(driver.CUevent_flags.CU_EVENT_DISABLE_TIMING))
        check_call(result)
        self._event = result[1]
        for array, start in zip(arrays, self._starts, strict=True):
            if array.size:
                address = self._memory.ptr + start
                check_call(driver.cuMemcpyDtoHAsync(address, array.address, array.nbytes, handle))
        check_call(driver.cuEventRecord(self._event, handle))

    def wait(self) -> list[np.ndarray]:
        """Return the arrays in host memory, once they are there."""
        if self._results is None:
            from cuda.bindings import driver

            check_call(driver.cuEventSynchronize(self._event))
            self._results = [
                np.frombuffer(self._memory, dtype, math.prod(shape), start).reshape(shape).copy()
                for (shape, dtype), start in zip(self._forms, self._starts, strict=True)
            ]
            self._release()
        return self._results

    def _release(self) -> None:
        """Destroy the event, and return the memory to the pool."""
        from cuda.bindings import driver

        event, self._event, self._memory = self._event, None, None
        driver.cuEventDestroy(event)

    def __del__(self) -> None:
        """Wait for copies that nobody wants any more, since others would get their memory."""
        if getattr(self, "_event", None) is not None:
            from cuda.bindings import driver

            driver.cuEventSynchronize(self._event)
            self._release()


def fill_from_gpu(array: Any, source: Any, stream: Any) -> None:
    """Copy a `ReadyArray` to another one of its size and type."""
    if SIMULATOR:
        array.copy_to_device(source, stream=stream)
    elif array.size:
        from cuda.bindings import driver

        handle = stream_handle(stream)
        check_call(driver.cuMemcpyDtoDAsync(array.address, source.address, array.nbytes, handle))


def fill_with_zeros(array: Any, stream: Any) -> None:
    """Set the elements of a `ReadyArray` to 0."""
    if SIMULATOR:
        array.copy_to_device(np.zeros(array.shape, array.dtype), stream=stream)
    elif array.size:
        from cuda.bindings import driver

        check_call(driver.cuMemsetD8Async(array.address, 0, array.nbytes, stream_handle(stream)))


def stream_handle(stream: Any) -> Any:
    """Return a stream as the driver takes it."""
    from cuda.bindings import driver

    return driver.CUstream(int(stream) if stream else 0)


def check_call(result: tuple[Any, ...]) -> None:
    """Raise RuntimeError if a call of the driver, whose results these are, has failed."""
    from cuda.bindings import driver

    if result[0] != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(f"the GPU's driver reports {result[0].name} for a copy")
