"""Launches of kernels: their sizes, their shared memory, and arguments that are converted together.

Numba converts the arguments of a launch one by one, an array by way of several objects: a kernel
with 13 arrays and 60 numbers waits 0.3 ms for it, longer than it runs on a thousand points. Here
the numbers that the driver gets are written into one piece of memory, in 0.05 ms. `launcher` has
launches that are repeated with the same arrays, whose arguments are converted once.
"""

from __future__ import annotations

import ctypes
import functools
import struct
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hetero.cuda.device_table import DeviceTable
from hetero.cuda.driver import SIMULATOR, cuda, launch_error
from hetero.cuda.driver import device_id as device_id
from hetero.cuda.ready_arrays import ReadyArray, numbers_of_array

THREADS = 256
"""Threads in a block where a kernel has no reason for another number."""

BLOCKS_PER_SM = 16
"""Blocks per multiprocessor of a grid-stride launch: enough to fill it and to even out its end."""

MOST_BLOCKS = 65535
"""Blocks that CUDA can start along the second and along the third dimension of a grid."""

DEFAULT_SHARED_MEMORY = 48 * 1024
"""Bytes of dynamic shared memory that a block gets without a request."""

_SLOT = 8
"""Bytes of a number, with padding for those that have fewer."""

_FORMATS: dict[type, str] = {
    **{float: "d", np.float64: "d", int: "q", np.int64: "q", np.uint64: "Q", bool: "q"},
    **{np.int32: "i4x", np.uint32: "I4x", np.float32: "f4x"},
}
"""How `struct` writes numbers of these types. The kernel reads the first byte of a bool."""

_NUMBERS = frozenset(_FORMATS)


@dataclass(slots=True)
class _Prepared:
    """A kernel that is compiled for certain types, and memory for its arguments."""

    loaded: Any
    function: Any
    pack_into: Any
    memory: Any
    pointers: Any
    allowed: int = 0  # bytes of dynamic shared memory that a block is known to get


_prepared = threading.local()
"""Kernels of this thread by name "kernels", for types of arguments and the GPU."""


def multiprocessors() -> int:
    """Return the number of multiprocessors of the current GPU.

    It is 2 in the simulator, which runs blocks one by one.
    """
    return 2 if SIMULATOR else _attribute("MULTIPROCESSOR_COUNT", device_id())


def blocks_for(items: int, threads: int = THREADS) -> int:
    """Return the number of blocks that give each of `items` a thread."""
    return max(1, -(-items // threads))


def grid_stride_blocks(items: int, threads: int = THREADS, per_sm: int = BLOCKS_PER_SM) -> int:
    """Return the number of blocks of a grid-stride loop over `items`: at most what a GPU holds."""
    return min(blocks_for(items, threads), per_sm * multiprocessors())


def max_shared_memory() -> int:
    """Return the bytes of shared memory that a block can get at most, beyond 48 KB by request."""
    if SIMULATOR:
        return 1 << 20
    return _attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN", device_id())


@functools.cache
def _attribute(name: str, device: int) -> int:
    """Return an attribute of a GPU; asking Numba for it takes longer than a launch."""
    return int(getattr(cuda.gpus[device], name))


def launch(
    kernel: Any,
    grid: int | tuple[int, ...],
    block: int | tuple[int, ...],
    stream: Any,
    arguments: Sequence[Any],
    shared: int = 0,
    *,
    cooperative: bool = False,
) -> None:
    """Launch a kernel, as `kernel[grid, block, stream, shared](*arguments)` does.

    Parameters
    ----------
    arguments : arrays of Numba on the current GPU, `ReadyArray`, tables, numbers, tuples of them
        Others than contiguous arrays, tables and the types of `_FORMATS` are left to Numba.
    shared : bytes of dynamic shared memory a block, up to `max_shared_memory` with its static ones
    cooperative : the blocks wait for each other, so that all of them have to run at once. Without
        this, blocks of another kernel could take the place of one for which the others wait.

    Raises
    ------
    hetero.DeviceMemoryError, RuntimeError : the driver refuses the launch, for example because the
        blocks of a cooperative one do not fit on the GPU at once
    TypeError : only Numba could convert the arguments of a cooperative launch
    """
    if SIMULATOR:
        kernel[grid, block, stream, shared](*as_numba_arguments(arguments))
        return
    kinds: list[Any] = [kernel, device_id()]
    numbers: list[Any] = []
    prepared = None
    if all(_append_numbers(value, kinds, numbers) for value in arguments):
        prepared = _prepare(kernel, arguments, tuple(kinds))
        try:
            prepared.pack_into(prepared.memory, 0, *numbers)
        except struct.error:  # an integer of more than 63 bits, which is of another type
            prepared = None
    if prepared is None:
        if cooperative:
            raise TypeError("a cooperative launch takes contiguous arrays and plain numbers only")
        allow_shared_memory(kernel, arguments, shared)
        kernel[grid, block, stream, shared](*as_numba_arguments(arguments))
        return

    if stream:
        _keep_tables(arguments)
    if shared > prepared.allowed:
        prepared.allowed = _allow_shared_memory(prepared.loaded, shared)

    from cuda.bindings import driver

    handle = driver.CUstream(int(stream) if stream else 0)
    address = ctypes.addressof(prepared.pointers)
    sizes = *three_sizes(grid), *three_sizes(block)
    if cooperative:
        (error,) = driver.cuLaunchCooperativeKernel(
            prepared.function, *sizes, shared, handle, address
        )
    else:
        (error,) = driver.cuLaunchKernel(prepared.function, *sizes, shared, handle, address, 0)
    if error != driver.CUresult.CUDA_SUCCESS:
        raise launch_error(error)


def _keep_tables(arguments: Sequence[Any]) -> None:
    """Let no other table have the memory of those that a kernel reads on a stream of its own."""
    for value in arguments:
        if type(value) is DeviceTable:
            value.may_be_recycled = False
        elif isinstance(value, tuple):
            _keep_tables(value)


def as_numba_arguments(arguments: Sequence[Any]) -> list[Any]:
    """Return arguments as Numba takes them: arrays of Numba, and tables as tuples of these."""
    return [_as_numba(a) for a in arguments]


def _as_numba(value: Any) -> Any:
    """Return one argument as Numba takes it."""
    if isinstance(value, DeviceTable | ReadyArray):
        return value.arrays
    if not isinstance(value, tuple) or _NUMBERS.issuperset(map(type, value)):
        return value
    elements = map(_as_numba, value)
    return type(value)(*elements) if hasattr(value, "_fields") else tuple(elements)


def _append_numbers(value: Any, kinds: list[Any], numbers: list[Any]) -> bool:
    """Append what Numba's type of a value depends on, and the numbers that the kernel gets.

    Returns False for a value that only Numba can convert.
    """
    kind = type(value)
    if kind in _FORMATS:
        kinds.append(kind)
        numbers.append(value)
        return True
    if isinstance(value, tuple):
        kinds += kind, len(value)
        of_elements = list(map(type, value))
        if _NUMBERS.issuperset(of_elements):
            kinds += of_elements
            numbers += value
            return True
        return all(_append_numbers(v, kinds, numbers) for v in value)
    if kind is ReadyArray or kind is DeviceTable:
        kinds += value.kinds
        numbers += value.numbers
        return True
    known_numbers = getattr(value, _FOUND, None) or _find_numbers(value)
    if known_numbers is None:
        return False
    kinds.append(known_numbers[0])
    numbers += known_numbers[1]
    return True


_FOUND = "_hetero_launch_numbers"
"""Attribute of an array of Numba that holds what `_find_numbers` has found: scratch memory and
tables are arguments of many launches, and Numba asks the driver each time for the address."""


def _find_numbers(array: Any) -> tuple[Any, tuple[int, ...]] | None:
    """Return the kind and the numbers of a contiguous array of Numba, and None of anything else."""
    if not hasattr(array, "__cuda_ndarray__"):
        return None
    strides, dtype = array.strides, array.dtype
    # Numba compiles another kernel for arrays that repeat their elements.
    if strides != (dtype.itemsize,) and (not array.is_c_contiguous() or 0 in strides):
        return None
    address = array.device_ctypes_pointer.value or 0
    kind_and_numbers = (dtype, len(strides)), numbers_of_array(address, array.shape, strides, dtype)
    setattr(array, _FOUND, kind_and_numbers)
    return kind_and_numbers


def _prepare(kernel: Any, arguments: Sequence[Any], key: tuple[Any, ...]) -> _Prepared:
    """Return a kernel that is compiled for the types of the arguments, which `key` identifies."""
    kernels = _prepared.__dict__.setdefault("kernels", {})
    if key in kernels:
        return kernels[key]

    from cuda.bindings import driver

    from hetero.cuda.numba_internals import loaded_function

    types = tuple(kernel.typeof_pyval(a) for a in as_numba_arguments(arguments))
    loaded = loaded_function(kernel.compile(types))
    function = driver.CUfunction(int(loaded.handle))
    layout = struct.Struct("=" + "".join(map(_format_of, key)))
    memory = ctypes.create_string_buffer(max(layout.size, _SLOT))
    start = ctypes.addressof(memory)
    addresses = range(start, start + len(memory), _SLOT)
    pointers = (ctypes.c_void_p * len(addresses))(*addresses)
    kernels[key] = _Prepared(loaded, function, layout.pack_into, memory, pointers)
    return kernels[key]


def _format_of(kind: Any) -> str:
    """Return how `struct` writes the numbers that belong to an entry of a key."""
    if isinstance(kind, tuple):  # an array: data type, number of dimensions
        return "qqqqQ" + "q" * (2 * kind[1])
    return _FORMATS.get(kind, "") if isinstance(kind, type) else ""


def three_sizes(sizes: int | tuple[int, ...]) -> tuple[int, ...]:
    """Return the three sizes of a grid or of a block."""
    return (*sizes, *(1,) * (3 - len(sizes))) if isinstance(sizes, tuple) else (sizes, 1, 1)


def launch_over(
    kernel: Any,
    items: int,
    arguments: Sequence[Any],
    stream: Any,
    threads: int = THREADS,
    shared: int = 0,
) -> None:
    """Launch a kernel with a grid-stride loop over `items`; see `launch`.

    With much shared memory it starts no more blocks than are resident at once.
    """
    per_sm = BLOCKS_PER_SM
    if shared:
        per_sm = max(1, min(2048 // threads, max_shared_memory() // (shared + 1024)))
    launch(kernel, grid_stride_blocks(items, threads, per_sm), threads, stream, arguments, shared)


def allow_shared_memory(kernel: Any, arguments: Sequence, size: int) -> None:
    """Let a kernel for these arguments, which `launch` does not launch, have shared memory."""
    if size and not SIMULATOR:
        from hetero.cuda.numba_internals import loaded_function

        types = tuple(kernel.typeof_pyval(a) for a in as_numba_arguments(arguments))
        _allow_shared_memory(loaded_function(kernel.compile(types)), size)


_limits_lock = threading.Lock()

_limits: dict[Any, int] = {}
"""Bytes of dynamic shared memory that a block of a loaded function gets, if they were raised."""


def _allow_shared_memory(loaded: Any, size: int) -> int:
    """Let a block have `size` bytes of dynamic shared memory; return how many it gets at least.

    Numba has no switch for more than 48 KB with the static ones: it is set at the driver.
    """
    with _limits_lock:
        limit = _limits.get(loaded, DEFAULT_SHARED_MEMORY - loaded.attrs.shared)
        if size > limit:
            from numba.cuda.cudadrv import driver

            kind = driver.binding.CUfunction_attribute
            attribute = kind.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            driver.driver.cuKernelSetAttribute(attribute, size, loaded.handle, loaded.device.id)
            _limits[loaded] = limit = size
        return limit
