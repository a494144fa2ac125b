"""Small tables and scratch memory that stay on a GPU from call to call."""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from hetero.cuda.device_table import DeviceTable
from hetero.cuda.driver import SIMULATOR, copy_to_gpu, cuda, upload
from hetero.cuda.launch import device_id
from hetero.cuda.ready_arrays import fill_with_zeros, ready

_TABLES = 64
"""Number of tables that stay on the GPUs; the oldest is dropped for another one."""

_resident_tables: dict[tuple[int, int], tuple[Any, Any]] = {}


def resident_table(table: Any) -> Any:
    """Return the arrays of a NamedTuple on the current GPU, copied there at the first call.

    The result is an argument of `hetero.cuda.launch.launch`; `resident_tuple` returns arrays.

    The key is the identity of `table`, which must therefore live on, for example in a cache.
    """
    key = (device_id(), id(table))
    if key not in _resident_tables or _resident_tables[key][0] is not table:
        if len(_resident_tables) >= _TABLES:
            _resident_tables.pop(next(iter(_resident_tables)))
        on_gpu = type(table)(*map(cuda.to_device, table)) if SIMULATOR else DeviceTable(table)
        _resident_tables[key] = table, on_gpu
    return _resident_tables[key][1]


def resident_tuple(table: Any) -> Any:
    """Return the arrays of a NamedTuple on the current GPU as a NamedTuple of Numba's arrays.

    See `resident_table`.
    """
    on_gpu = resident_table(table)
    return on_gpu if SIMULATOR else on_gpu.arrays


_resident: dict = {}


def resident(table: np.ndarray) -> Any:
    """Return a copy of a small host array on the current GPU, cached for the next call."""
    key = (device_id(), table.dtype, table.shape, table.tobytes())
    if key not in _resident:
        if len(_resident) >= _TABLES:
            _resident.pop(next(iter(_resident)))
        _resident[key] = upload(table, 0)
    return _resident[key]


_buffers = threading.local()


def scratch(name: str, shape: int | tuple[int, ...], dtype: DTypeLike, stream: Any) -> Any:
    """Return scratch memory for the kernels of one call, on the current GPU.

    On the default stream it is cached for the next call of this thread, because allocation waits
    for the GPU. So is its shape, which takes Numba as long as a launch.
    """
    if not isinstance(stream, int):
        return cuda.device_array(shape, dtype, stream=stream)
    shape = (shape,) if isinstance(shape, int) else shape
    size = math.prod(shape)
    key = device_id(), name, dtype
    arrays = _buffers.__dict__.setdefault("arrays", {})
    buffer, part = arrays.get(key, (None, None))
    if buffer is None or buffer.size < size:
        buffer = part = cuda.device_array(size, dtype)
    if part.shape != shape:
        part = buffer[:size].reshape(shape)
    arrays[key] = buffer, part
    return part


LARGEST_REUSED = 1 << 20
"""Bytes of the largest array whose memory `small_scratch` keeps: more is worth its allocation."""


def small_scratch(name: str, shape: int | tuple[int, ...], dtype: DTypeLike, stream: Any) -> Any:
    """Return `scratch` memory, but new memory for a large array, which is not kept."""
    size = shape if isinstance(shape, int) else math.prod(shape)
    if size * np.dtype(dtype).itemsize > LARGEST_REUSED:
        return cuda.device_array(shape, dtype, stream=stream)
    return scratch(name, shape, dtype, stream)


def zeros_in_scratch(name: str, size: int, dtype: DTypeLike, stream: Any) -> Any:
    """Return `small_scratch` memory of zeros.

    A copy from the host would wait for the kernels before it.
    """
    array = small_scratch(name, size, dtype, stream)
    fill_with_zeros(ready(array), stream)
    return array


def upload_to_scratch(name: str, host: np.ndarray, stream: Any) -> Any:
    """Copy a flat contiguous array of the host to `small_scratch`."""
    array = small_scratch(name, host.size, host.dtype, stream)
    copy_to_gpu(array, host, stream)
    return array
