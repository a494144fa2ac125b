"""Small tables and scratch memory that stay on a GPU from call to call."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from hetero.cuda.driver import cuda
from hetero.cuda.launch import device_id

_TABLES = 64
"""Number of tables that stay on the GPUs; the oldest is dropped for another one."""

_resident_tuples: dict[tuple[int, int], tuple[Any, Any]] = {}


def resident_tuple(table: Any) -> Any:
    """Return the arrays of a NamedTuple on the current GPU, uploaded at the first call.

    The key is the identity of `table`, which must therefore live on, for example in a cache.
    """
    key = (device_id(), id(table))
    if key not in _resident_tuples or _resident_tuples[key][0] is not table:
        if len(_resident_tuples) >= _TABLES:
            _resident_tuples.pop(next(iter(_resident_tuples)))
        _resident_tuples[key] = table, type(table)(*map(cuda.to_device, table))
    return _resident_tuples[key][1]


_resident: dict = {}


def resident(table: np.ndarray) -> Any:
    """Return a copy of a small host array on the current GPU, cached for the next call."""
    key = (device_id(), table.dtype, table.shape, table.tobytes())
    if key not in _resident:
        if len(_resident) >= _TABLES:
            _resident.pop(next(iter(_resident)))
        _resident[key] = cuda.to_device(table)
    return _resident[key]


_buffers = threading.local()


def scratch(name: str, size: int, dtype: DTypeLike, stream: Any) -> Any:
    """Return scratch memory for the kernels of one call, on the current GPU.

    On the default stream it is cached for the next call of this thread, because allocation waits
    for the GPU.
    """
    if not isinstance(stream, int):
        return cuda.device_array(size, dtype, stream=stream)
    key = device_id(), name, dtype
    arrays = _buffers.__dict__.setdefault("arrays", {})
    buffer, part = arrays.get(key, (None, None))
    if buffer is None or buffer.size < size:
        buffer = part = cuda.device_array(size, dtype)
    elif part.size != size:
        part = buffer[:size]
    arrays[key] = buffer, part
    return part
