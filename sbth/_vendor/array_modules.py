"""NumPy or CuPy, for code that runs on arrays of both."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np

from hetero import Device, DeviceUnavailableError
from hetero.arrays import Stream, Workspace
from hetero.devices import device_of

_NUMPY = contextlib.nullcontext(np)
"""The block that works with NumPy; one serves all, because it has no state."""


def array_module(
    device: Device, stream: Stream, routine: str
) -> contextlib.AbstractContextManager[ModuleType]:
    """Yield NumPy, or on a GPU CuPy, whose calls go to `stream` of the current GPU.

    Raises
    ------
    hetero.DeviceUnavailableError
        The device is a GPU and CuPy, which `routine` needs there, is not installed.
    """
    return _NUMPY if device.kind == "cpu" else _cupy_module(device, stream, routine)


@contextlib.contextmanager
def _cupy_module(device: Device, stream: Stream, routine: str) -> Iterator[ModuleType]:
    """Do the work of `array_module` for a GPU."""
    cupy = _import_cupy(device, routine)
    with contextlib.ExitStack() as stack:
        if stream and int(stream):
            stack.enter_context(cupy.cuda.ExternalStream(int(stream)))
        yield cupy


@contextlib.contextmanager
def module_on(device: Device, like: Any, routine: str) -> Iterator[ModuleType]:
    """Make a device current, and yield its module with the stream of the library of `like`."""
    with device.active(), array_module(device, Workspace(device, like).stream, routine) as xp:
        yield xp


def as_module_array(xp: ModuleType, a: Any) -> Any:
    """Return a matrix as an array of `xp`, without a copy if it is on the device already."""
    if device_of(a) is not None:
        if hasattr(a, "detach"):  # a PyTorch tensor may require a gradient
            a = a.detach()
            if hasattr(a, "resolve_conj"):  # or wait for its conjugation
                a = a.resolve_conj()
            if str(a.dtype) == "torch.bfloat16":  # CuPy does not support this type
                a = a.float()
        if not hasattr(a, "__cuda_array_interface__"):
            return xp.from_dlpack(a)
    return xp.asarray(a)


def as_library_array(xp: ModuleType, ab: Any, like: Any) -> Any:
    """Return an array of `xp` as a contiguous array of the library of `like`, on the same device.

    It is `ab` itself if that is such an array.
    """
    device = device_of(like)
    if device is None:
        return ab if xp is np else ab.get()
    if isinstance(like, xp.ndarray):
        return xp.ascontiguousarray(ab)
    space = Workspace(device, like)
    array = space.output(ab.shape, ab.dtype)
    if ab.size:
        xp.asarray(array)[...] = ab.reshape(-1)
    return space.result(array, ab.shape)


def _import_cupy(device: Device, routine: str) -> Any:
    """Import CuPy, or raise DeviceUnavailableError with a remedy."""
    try:
        import cupy
    except ImportError:
        cause, remedy = f"{routine} requires CuPy on a GPU", "pip install cupy-cuda13x"
        raise DeviceUnavailableError(str(device), cause, f"{remedy}, or device='cpu'") from None
    return cupy
