"""Devices as values, and the rule that chooses the device of a call."""

from __future__ import annotations

import contextlib
import contextvars
import ctypes
import functools
import logging
import os
import platform
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from hetero.errors import DeviceUnavailableError

LOGGER = logging.getLogger(__name__)

_default: contextvars.ContextVar = contextvars.ContextVar("hetero_device", default=None)


@dataclass(frozen=True, slots=True)
class Device:
    """A processor on which kernels run: `Device("cpu")` or `Device("cuda", 0)`.

    Attributes
    ----------
    kind : {"cpu", "cuda"}
    index : int
        Number of the GPU; 0 for the CPU.
    """

    kind: str
    index: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.kind, str) or self.kind not in ("cpu", "cuda"):
            raise ValueError(f"device kind must be 'cpu' or 'cuda', got {self.kind!r}")
        is_integer = isinstance(self.index, Integral)
        if not is_integer or isinstance(self.index, bool | np.timedelta64) or self.index < 0:
            raise ValueError(f"device index must be an integer >= 0, got {self.index!r}")
        object.__setattr__(self, "index", int(self.index))
        if self.kind == "cpu" and self.index:
            raise ValueError("there is one CPU device: its index is 0")

    @classmethod
    def parse(cls, spec: str) -> Device:
        """Return `"cpu"`, `"cuda"` or `"cuda:1"` as a Device."""
        kind, colon, index = str(spec).strip().lower().partition(":")
        if kind not in ("cpu", "cuda") or (colon and not index.isdecimal()):
            raise ValueError(
                f"device must be None, 'auto', 'cpu', 'cuda', 'cuda:N' or a Device, got {spec!r}"
            )
        return cls(kind, int(index or 0))

    def __str__(self) -> str:
        return self.kind if self.kind == "cpu" else f"{self.kind}:{self.index}"

    @property
    def name(self) -> str:
        """The manufacturer's name of the processor."""
        if self.kind == "cpu":
            return cpu_model()
        from hetero.cuda import driver

        if driver.SIMULATOR:
            return "Numba's CUDA simulator"
        name = driver.cuda.gpus[self.index].name
        return name.decode() if isinstance(name, bytes) else str(name)

    def require(self) -> Device:
        """Return this device; raise DeviceUnavailableError with the cause and the remedy."""
        if self.kind == "cuda":
            from hetero.cuda import driver

            if (problem := driver.why_unavailable()) is not None:
                raise DeviceUnavailableError(str(self), *problem)
            count = len(driver.cuda.gpus)
            if self.index >= count:
                raise DeviceUnavailableError(
                    str(self), f"this machine has {count} GPU(s)", f"use cuda:0 to cuda:{count - 1}"
                )
        return self

    def active(self) -> contextlib.AbstractContextManager[None]:
        """Make this the current GPU of the thread while the block runs.

        Raises
        ------
        DeviceMemoryError
            For any library's error that says that the GPU's memory is exhausted.
        """
        return _NO_CONTEXT if self.kind == "cpu" else self._make_current()

    @contextlib.contextmanager
    def _make_current(self) -> Iterator[None]:
        """Do the work of `active` for a GPU."""
        from hetero.cuda.driver import SIMULATOR, cuda, device_id, is_out_of_memory, memory_error

        if not SIMULATOR:
            _note_use_of_gpu()
        if self.index == 0:
            # The thread keeps a context after the block. CuPy looks for one only once, perhaps in
            # the block, and would later work without any.
            device_id()
        with contextlib.nullcontext() if SIMULATOR else cuda.gpus[self.index]:
            try:
                yield
            except Exception as error:
                if is_out_of_memory(error):
                    raise memory_error(None) from error
                raise

    def synchronize(self) -> None:
        """Wait until all work given to the device is done."""
        if self.kind == "cuda":
            from hetero.cuda.driver import cuda

            with self.active():
                cuda.synchronize()


CPU = Device("cpu")
"""The CPU, for calls that cannot afford to make an object of their own."""

_NO_CONTEXT = contextlib.nullcontext()
"""The block in which the CPU is active; one serves all, because it has no state."""

_has_used_gpu = False


def _note_use_of_gpu() -> None:
    global _has_used_gpu
    _has_used_gpu = True


def has_used_gpu() -> bool:
    """Return whether this process has made a GPU current, so that its clock can be read."""
    return _has_used_gpu


def available() -> tuple[Device, ...]:
    """Return the devices that can be used here and now, the CPU first."""
    return (Device("cpu"), *(Device("cuda", i) for i in range(_usable_gpus())))


def _usable_gpus() -> int:
    """Return the number of GPUs that can be used."""
    if not _may_have_driver():
        return 0
    from hetero.cuda import driver

    return 0 if driver.why_unavailable() is not None else len(driver.cuda.gpus)


@functools.cache
def _may_have_driver() -> bool:
    """Return False if there is surely no NVIDIA driver: importing Numba's target takes 0.3 s."""
    if os.environ.get("NUMBA_ENABLE_CUDASIM") or os.environ.get("NUMBA_CUDA_DRIVER"):
        return True
    try:
        ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return False
    return True


@contextlib.contextmanager
def use_device(spec: str | Device | None) -> Iterator[Device | None]:
    """Set the default device for the calls in the block (and the tasks and coroutines it starts).

    Yields the device; None for "auto", with which each call chooses by its size.

    Raises
    ------
    DeviceUnavailableError
        On entry, if the device cannot be used.
    """
    device = parse(spec)
    if device is not None:
        device.require()
    token = _default.set(spec)
    try:
        yield device
    finally:
        _default.reset(token)


def resolve(
    spec: str | Device | None, *arrays: Any, work: float = 0, break_even: float | None = None
) -> Device:
    """Return the device on which a routine runs.

    Order: an explicit `spec`; the device that holds the input arrays; `with use_device(...)`; the
    environment variable HETERO_DEVICE; else `auto`, which takes a usable GPU when `work` reaches
    `break_even` (in any unit the routine likes; None: never) and the CPU otherwise.

    Raises
    ------
    DeviceUnavailableError
        If an explicit device, also from `use_device` or HETERO_DEVICE, cannot be used.
    ValueError
        If the arrays are on two devices, or on a GPU that is not the requested device.
    """
    holders = None
    for array in arrays:  # a loop without a set, which calls on NumPy arrays would make for nothing
        if (device := device_of(array)) is not None:
            holders = {device} if holders is None else holders | {device}
    if holders is not None and len(holders) > 1:
        raise ValueError(f"the arrays live on several devices: {', '.join(map(str, holders))}")
    requested = parse(spec)
    if holders is not None:
        holder = holders.pop()
        if requested not in (None, holder) and not _unnumbered(spec, holder):
            raise ValueError(
                f"device={str(requested)!r} was requested, but the array lives on {holder}; "
                "move the array there first"
            )
        return holder.require()
    if requested is None and spec is None:
        default = _default.get()
        requested = parse(os.environ.get("HETERO_DEVICE") if default is None else default)
    if requested is not None:
        return requested.require()
    chosen = CPU
    if break_even is not None and work >= break_even and _usable_gpus():
        chosen = Device("cuda", 0)
    LOGGER.debug("%s was chosen for work of %g; a GPU pays from %s on", chosen, work, break_even)
    return chosen


def parse(spec: str | Device | None) -> Device | None:
    """Return a device specification as a Device, or None if it leaves the choice open ("auto")."""
    if spec is None or isinstance(spec, Device):
        return spec
    if not isinstance(spec, str):
        raise TypeError(f"device must be a string or a Device, got {spec!r}")
    return _parse_text(spec)


@functools.lru_cache(maxsize=64)
def _parse_text(spec: str) -> Device | None:
    """Return the device that a text names, or None for "auto"; programs use few texts."""
    return None if spec.strip().lower() in ("", "auto") else Device.parse(spec)


def _unnumbered(spec: object, holder: Device) -> bool:
    """Return whether `spec` is plain "cuda", which means the GPU that holds the array."""
    return holder.kind == "cuda" and isinstance(spec, str) and spec.strip().lower() == "cuda"


_HOST_TYPES = np.ndarray, np.generic, float, int, list, tuple
"""Types of values in host memory."""

_DLPACK_CUDA = (2, 13)  # kDLCUDA, kDLCUDAManaged


def device_of(array: Any) -> Device | None:
    """Return the GPU that holds `array`, or None if it is in host memory."""
    if type(array) is np.ndarray or array is None or isinstance(array, _HOST_TYPES):
        return None
    where = getattr(array, "__dlpack_device__", None)
    if where is not None:
        kind, index = where()
        return _gpu(int(index)) if int(kind) in _DLPACK_CUDA else None
    if hasattr(array, "__cuda_array_interface__"):
        return _gpu(_ordinal(array.__cuda_array_interface__["data"][0]))
    return None


@functools.cache
def _gpu(index: int) -> Device:
    """Return a GPU; a call of a routine asks for that of an array several times."""
    return Device("cuda", index)


def _ordinal(pointer: int) -> int:
    """Return the number of the GPU whose memory `pointer` points to."""
    from hetero.cuda.driver import SIMULATOR

    if SIMULATOR or not pointer:  # an empty array points nowhere
        return 0
    from cuda.bindings import driver

    # The attribute with the number of the device is 0 on every GPU (seen with driver 580 and
    # cuda-bindings 13), so the context tells to which GPU the memory belongs.
    attribute = driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_CONTEXT
    error, context = driver.cuPointerGetAttribute(attribute, pointer)
    if error != driver.CUresult.CUDA_SUCCESS:
        raise ValueError(f"the array's pointer belongs to no GPU of this process ({error.name})")
    if not int(context):  # memory of a pool belongs to no context; it is the current GPU's
        return int(driver.cuCtxGetDevice()[1])
    driver.cuCtxPushCurrent(context)
    ordinal = driver.cuCtxGetDevice()[1]
    driver.cuCtxPopCurrent()
    return int(ordinal)


@functools.cache
def cpu_model() -> str:
    """Return the name of the processor that the operating system gives."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
