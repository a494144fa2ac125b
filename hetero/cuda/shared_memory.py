"""Dynamic shared memory beyond the 48 KB that a block gets without a request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hetero.cuda.device_table import DeviceTable
from hetero.cuda.driver import device_id
from hetero.cuda.quick_launch import as_numba_arguments
from hetero.cuda.ready_arrays import ReadyArray

_shared_memory_limits: dict = {}


def _type_key(value: Any) -> object:
    """Return what Numba's type of an argument depends on, for the kinds that kernels get here."""
    if isinstance(value, DeviceTable | ReadyArray):
        return tuple(value.kinds)
    if hasattr(value, "is_c_contiguous"):
        return value.dtype, value.ndim, value.is_c_contiguous()
    return type(value)


def set_dynamic_shared_memory_limit(kernel: Any, arguments: Sequence, size: int) -> None:
    """Let a kernel have `size` bytes of dynamic shared memory, more than the usual 48 KB.

    Numba has no switch for it: the attribute is set at the driver, for the types of `arguments`,
    once for each of them.
    """
    from numba.cuda.cudadrv import driver

    from hetero.cuda.numba_internals import loaded_function

    key = kernel, device_id(), tuple(map(_type_key, arguments))
    if _shared_memory_limits.get(key, 0) >= size:
        return
    types = tuple(kernel.typeof_pyval(a) for a in as_numba_arguments(arguments))
    compiled = kernel.compile(types)
    function = loaded_function(compiled)
    limit = driver.binding.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    driver.driver.cuKernelSetAttribute(limit, size, function.handle, function.device.id)
    _shared_memory_limits[key] = size
