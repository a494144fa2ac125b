"""Functions under test: one of a C library, or one of arrays on a device."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from hetero.arrays import Array, on_host
from hetero.devices import Device
from hetero.validation import describe
from tmd._exhaust import Loops, cpu
from tmd._exhaust.chunks import CHUNK
from tmd._libraries.c_library import CLibrary
from tmd._libraries.callables import LibraryPrecision
from tmd._libraries.environment import Environment

ALL_HALVES = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
"""The numbers of binary16, in the order of their bits."""


class Source(Protocol):
    """A function of one argument of binary32 or binary16."""

    library: str
    symbol: str

    def evaluate(self, starts: np.ndarray, modes: Sequence[str]) -> Array:
        """Return the results (modes, CHUNK times the starts) at the numbers after each start."""

    def evaluate_halves(self, mode: str) -> np.ndarray:
        """Return the results at ALL_HALVES as float16."""

    def evaluate_one(self, x: float, mode: str) -> float:
        """Return the result at a number of binary32."""


class CSource:
    """A function of a C library, which is called in compiled loops."""

    def __init__(
        self,
        library: str | Path,
        symbol: str,
        precision: LibraryPrecision,
        environment: Environment,
    ) -> None:
        self.library, self.symbol = str(library), symbol
        self._function = CLibrary(library).find(symbol, precision.c)
        self._environment = environment
        self._address = np.uint64(ctypes.cast(self._function, ctypes.c_void_p).value or 0)  # type: ignore[arg-type]

    def evaluate(self, starts: np.ndarray, modes: Sequence[str]) -> Array:
        """Return the results (modes, CHUNK times the starts) at the numbers after each start."""
        returned = np.empty((len(modes), CHUNK * starts.size), np.float32)
        numbers = np.array([self._environment.number(mode) for mode in modes], np.int32)
        set_mode = np.uint64(self._environment.address)
        cpu.call_all(starts, self._address, set_mode, numbers, returned)
        return returned

    def evaluate_halves(self, mode: str) -> np.ndarray:
        """Return the results at ALL_HALVES as float16."""
        returned = np.empty(1 << 16, np.uint16)
        number = np.int32(self._environment.number(mode))
        set_mode = np.uint64(self._environment.address)
        cpu.call_all_halves(self._address, set_mode, number, returned)
        return returned.view(np.float16)

    def evaluate_one(self, x: float, mode: str) -> float:
        """Return the result at a number of binary32."""
        return self._environment.call(self._function, (x,), mode)[0]


class ArraySource:
    """A function from arrays to arrays on a device: a ufunc, or for instance one of CuPy."""

    def __init__(
        self, function: Callable, precision: LibraryPrecision, device: Device, loops: Loops,
        environment: Environment,
    ) -> None:  # fmt: skip
        name = str(getattr(function, "__name__", None) or type(function).__name__)
        self.symbol = f"{name} of {precision.name}"
        self.library = f"NumPy {np.__version__}" if isinstance(function, np.ufunc) else "arrays"
        self._function, self._environment = function, environment
        self._device, self._loops = device, loops

    def evaluate(self, starts: np.ndarray, modes: Sequence[str]) -> Array:
        """Return the results (modes, CHUNK times the starts) at the numbers after each start."""
        if len(modes) == 1:
            return self._call(self._loops.make_arguments(starts), modes[0]).reshape(1, -1)
        returned = np.empty((len(modes), CHUNK * starts.size), np.float32)
        for row, mode in zip(returned, modes, strict=True):
            # The function may write into its argument, and return one array again and again.
            row[:] = self._call(self._loops.make_arguments(starts), mode)
        return returned

    def evaluate_halves(self, mode: str) -> np.ndarray:
        """Return the results at ALL_HALVES as float16."""
        return on_host(self._call(self._upload(ALL_HALVES.copy()), mode))

    def evaluate_one(self, x: float, mode: str) -> float:
        """Return the result at a number of binary32, by vector code if the function has any."""
        return float(on_host(self._call(self._upload(np.full(8, x, np.float32)), mode))[0])

    def _upload(self, x: np.ndarray) -> Array:
        if self._device.kind == "cpu":
            return x
        from hetero.cuda.driver import cuda

        return cuda.to_device(x)

    def _call(self, x: Array, mode: str) -> Array:
        """Return the function's results for an array, under a rounding mode of this thread."""
        with np.errstate(all="ignore"):
            y, _ = self._environment.call(self._function, (x,), mode)
        if self._device.kind != "cpu" and hasattr(y, "__cuda_array_interface__"):
            from hetero.cuda.driver import cuda

            y = cuda.as_cuda_array(y)
        shape, dtype = getattr(y, "shape", None), getattr(y, "dtype", None)
        if shape != x.shape or dtype != x.dtype:
            raise TypeError(
                f"library: the function must return an array of {x.size} numbers of {x.dtype} on "
                f"the device of its argument, got {describe(y)} of {dtype} with shape {shape}"
            )
        return y


def make_source(
    library: Any, symbol: str, precision: LibraryPrecision, device: Device, loops: Loops
) -> Source:
    """Return what `tmd.exhaust` tries.

    Raises
    ------
    TypeError, ValueError
        It is neither a C library with the symbol nor callable; a C library is to run on a GPU; or
        this machine has no fenv.h.
    """
    environment = Environment()
    if callable(library):
        return ArraySource(library, precision, device, loops, environment)
    if not isinstance(library, str | Path):
        raise TypeError(
            "library must be the path of a C library, or a function of arrays, got "
            f"{describe(library)}"
        )
    if device.kind != "cpu":
        raise ValueError("library: functions of C libraries run on a CPU; leave out device")
    return CSource(library, symbol, precision, environment)
