"""Arguments and results of any array library, on a device, without a detour through the host.

NumPy arrays, sequences and CPU tensors are read as NumPy arrays; CuPy, PyTorch, JAX and Numba
arrays on a GPU, and whatever else speaks `__cuda_array_interface__` or DLPack, stay where they
are. A `Workspace` holds what one call of a routine needs: inputs as flat contiguous arrays,
memory for outputs, the stream to launch on.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from hetero import validation
from hetero.cuda.array_libraries import (
    REAL_KINDS,
    JaxArrays,
    library_of,
    require_real,
    view_as_numba,
)
from hetero.devices import Device, device_of
from hetero.measurement import profiling

Array: TypeAlias = Any
"""An array in the memory of a device: NumPy's on the CPU, Numba's on a GPU, which has no types."""

Stream: TypeAlias = Any
"""A stream of Numba on which kernels are launched, or 0. Loops on the CPU ignore it."""


def on_host(array: Any) -> np.ndarray:
    """Return an array of any library in host memory, flat."""
    for move in (
        "copy_to_host",
        "get",
        "cpu",
    ):  # arrays of Numba, CuPy and PyTorch have this method
        if device_of(array) is not None and hasattr(array, move):
            array = getattr(array, move)()
    return np.asarray(array).reshape(-1)


def as_real(name: str, values: Any, dtype: DTypeLike | None = np.float64) -> np.ndarray:
    """Return `values` in host memory as an array of `dtype`, without a copy if none is needed.

    None for `dtype` means float32 if `values` are, else float64.

    Raises
    ------
    TypeError
        For strings, objects, complex numbers and ragged sequences.
    ValueError
        For arrays of numpy.ma with masked elements: their values mean nothing.
    """
    if hasattr(values, "detach"):  # a PyTorch tensor may carry a gradient
        values = values.detach()
    validation.require_unmasked(name, values)
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(
            f"{name} must be an array of real numbers, got {validation.describe(values)}"
        ) from None
    if array.dtype.kind not in REAL_KINDS:
        require_real(name, array.dtype)
    if dtype is None:
        single = array.dtype.newbyteorder("=") == np.float32
        dtype = np.float32 if single else np.float64
    return array.astype(dtype, copy=False)


class _Memory:
    """Memory of an array for NumPy, which does not see that the array is read-only."""

    def __init__(self, array: np.ndarray) -> None:
        self._array = array  # keeps the memory
        self.__array_interface__ = array.__array_interface__ | {"data": (array.ctypes.data, False)}


def as_writeable(array: np.ndarray) -> np.ndarray:
    """Return an array, or one over the same memory if it is read-only, for loops that only read it.

    Numba would compile a loop once more for each argument that is read-only, as pandas' arrays are.
    """
    return array if array.flags.writeable else np.asarray(_Memory(array))


class Workspace:
    """Inputs, outputs and stream of one call on one device.

    Parameters
    ----------
    device : Device
    like : array or None
        The argument whose library the results follow.

    Attributes
    ----------
    stream : Numba stream, or 0
        What kernels are launched on: the caller's current stream.
    """

    def __init__(self, device: Device, like: Any = None) -> None:
        self.device = device
        self._library = None if device_of(like) is None else library_of(like)
        self.stream: Any = 0
        if self._library is not None and (handle := self._library.stream(like)):
            from hetero.cuda.driver import cuda

            self.stream = cuda.external_stream(handle)
        self._like = like
        self._read: list[range] = []  # addresses of the inputs
        self._written: list[range] = []  # addresses of the caller's output arrays

    def for_host_arrays(self) -> Workspace:
        """Return a workspace for other arguments of the same call, which are in host memory."""
        other = Workspace(self.device)
        other.stream = self.stream
        other._read, other._written = self._read, self._written
        return other

    def __repr__(self) -> str:
        library = "NumPy" if self._library is None else type(self._library).__name__
        return f"<Workspace on {self.device}, results for {library}>"

    def input(
        self,
        name: str,
        values: Any,
        dtype: DTypeLike = np.float64,
        *,
        elementwise: bool = False,
        reuse: bool = False,
    ) -> Any:
        """Return `values` as a flat contiguous array of `dtype` on the device.

        Where it shares memory with an `out` of the call it is a copy, because loops read inputs
        after they have written outputs. `elementwise` states that the loop reads element i for the
        last time before it writes element i: then an `out` that is the input itself needs no copy.
        `reuse` states that nobody reads the array after this call: on a GPU a small one then gets
        the memory that an input of this name has had in an earlier call.
        """
        if self._library is not None:
            array = self._library.flat(name, values, np.dtype(dtype))
            if not self._may_be_read(array, elementwise):
                array = self._copy_on_device(array)
            return array
        host = np.ascontiguousarray(as_real(name, values, dtype)).reshape(-1)
        if self.device.kind == "cpu":
            return as_writeable(host) if self._may_be_read(host, elementwise) else host.copy()
        profiling.count_transfer(to_device=host.nbytes)
        from hetero.cuda import staging

        if host.nbytes >= staging.SMALLEST_STAGED:
            return staging.upload_staged(host)
        if reuse:
            from hetero.cuda.device_cache import upload_to_scratch

            return upload_to_scratch(f"input {name}", host, self.stream)
        from hetero.cuda.driver import upload

        return upload(host, self.stream)

    def output(
        self,
        shape: tuple[int, ...],
        dtype: DTypeLike = np.float64,
        out: Any = None,
        *,
        reuse: str | None = None,
        flat: bool = True,
    ) -> Any:
        """Return a flat array on the device for a kernel to fill: over `out` if that is possible.

        It is new memory, which `result` copies to `out`, if `out` overlaps an input that has been
        returned before. `reuse` is a name for an array that nobody reads after `result` has copied
        it to the host, as for `input`. Without `flat` the array, which is not to be `out`, has its
        shape.

        Raises
        ------
        TypeError, ValueError
            If `out` has another dtype, shape, layout or device than the result, or shares memory
            with another output of the call.
        """
        size = math.prod(shape)
        if out is not None:
            self._check(out, shape, np.dtype(dtype))
            if (view := self._view_of_out(out)) is not None and self._may_be_written(view):
                return view
        form = (size,) if flat else shape
        if self.device.kind == "cpu":
            return np.empty(form, dtype)
        if self._library is not None:
            memory = self._library.empty(size, dtype, self._like)
            return memory if flat else memory.reshape(form)
        if reuse is not None:
            from hetero.cuda.device_cache import small_scratch

            return small_scratch(f"output {reuse}", form, dtype, self.stream)
        from hetero.cuda.driver import cuda

        return cuda.device_array(form, dtype, stream=self.stream)

    def result(self, array: Any, shape: tuple[int, ...], out: Any = None) -> Any:
        """Return a filled `output` array in the caller's kind and shape, or `out` if given."""
        if out is not None:
            view = self._view_of_out(out)
            if view is None:
                self._to_host(array, np.asarray(out).reshape(-1))
            elif _addresses(view) != _addresses(array):
                self._copy_over(view, array)
            return out
        if self._library is not None:
            return self._library.finish(array, shape)
        host = array if self.device.kind == "cpu" else self._to_host(array)
        host = host.reshape(shape)
        return host[()] if shape == () else host

    def _check(self, out: Any, shape: tuple[int, ...], dtype: np.dtype) -> None:
        """Raise TypeError or ValueError unless `out` can take a result."""
        if self._library is JaxArrays:
            raise TypeError("out cannot be a JAX array, because JAX arrays are immutable")
        if not hasattr(out, "shape") or not hasattr(out, "dtype"):
            raise TypeError(f"out must be an array, got {type(out).__name__}")
        if isinstance(out, np.ma.MaskedArray):
            raise TypeError("out must not be a masked array: pass out.data")
        if tuple(out.shape) != tuple(shape):
            raise ValueError(f"out must have shape {tuple(shape)}, got {tuple(out.shape)}")
        if str(out.dtype).removeprefix("torch.") != dtype.name:
            raise TypeError(f"out must have dtype {dtype}, got {out.dtype}")
        holder = device_of(out)
        if self._library is not None and holder is None:
            raise ValueError(f"out must live on {self.device}, as the input does")
        if holder not in (None, self.device):
            raise ValueError(f"out lives on {holder}, but the work is done on {self.device}")
        if holder is None and not isinstance(out, np.ndarray):
            raise TypeError(f"out must be a NumPy array here, got {type(out).__name__}")
        flags: Any = getattr(out, "flags", None)
        contiguous = out.is_contiguous() if hasattr(out, "is_contiguous") else flags["C_CONTIGUOUS"]
        if not contiguous or (holder is None and not flags.writeable):
            raise ValueError("out must be C-contiguous and writeable")

    def _view_of_out(self, out: Any) -> Any:
        """Return `out` as a flat array that loops can fill; None if it is not on the device."""
        if self.device.kind == "cpu":
            return np.asarray(out).reshape(-1)  # a subclass such as np.matrix has its own reshape
        return None if device_of(out) is None else view_as_numba(out).reshape(math.prod(out.shape))

    def _may_be_read(self, array: Any, elementwise: bool) -> bool:
        """Return whether loops may read `array` although they write the outputs; remember it."""
        mine = _addresses(array)
        harmless = [mine] if elementwise else []
        if any(_overlap(mine, other) for other in self._written if other not in harmless):
            return False
        self._read.append(mine)
        return True

    def _may_be_written(self, view: Any) -> bool:
        """Return whether loops may write to `view` although they read the inputs; remember it."""
        mine = _addresses(view)
        if any(_overlap(mine, other) for other in self._written):
            raise ValueError("out must not hold arrays that share memory with each other")
        if any(_overlap(mine, other) for other in self._read):
            return False
        self._written.append(mine)
        return True

    def _copy_on_device(self, array: Any) -> Any:
        """Return a copy of a flat Numba array, in memory of the caller's library."""
        assert self._library is not None
        copy = view_as_numba(self._library.empty(array.size, array.dtype, self._like))
        copy.copy_to_device(array, stream=self.stream)
        return copy

    def _copy_over(self, view: Any, array: Any) -> None:
        """Copy a flat array to a view of the caller's output array, both on the device."""
        if self.device.kind == "cpu":
            view[:] = array
        else:
            view.copy_to_device(view_as_numba(array), stream=self.stream)

    def _to_host(self, array: Any, out: np.ndarray | None = None) -> np.ndarray:
        """Return a copy of an array in host memory, which is `out` if that is given."""
        from hetero.cuda import staging
        from hetero.cuda.driver import copy_from_gpu, cuda

        profiling.count_transfer(to_host=array.nbytes)
        is_flat = len(array.shape) == 1 and hasattr(array, "__cuda_ndarray__")
        if is_flat and array.nbytes >= staging.SMALLEST_STAGED:
            (cuda if isinstance(self.stream, int) else self.stream).synchronize()
            host = np.empty(array.shape, array.dtype) if out is None else out
            staging.download_staged(array, host)
            return host
        host = copy_from_gpu(array, self.stream) if array.size else np.empty(0, array.dtype)
        if out is None:
            return host
        out[:] = host.reshape(-1)
        return out


def _addresses(array: Any) -> range:
    """Return the addresses of the bytes of a contiguous array, in host memory or on a GPU."""
    array = getattr(array, "_ary", array)  # the simulator's arrays are NumPy arrays within
    if isinstance(array, np.ndarray):
        begin = array.__array_interface__["data"][0]
    else:
        begin = array.__cuda_array_interface__["data"][0]
    return range(begin, begin + math.prod(array.shape) * array.dtype.itemsize)


def _overlap(a: range, b: range) -> bool:
    """Return whether two ranges of addresses have a byte in common."""
    return max(a.start, b.start) < min(a.stop, b.stop)
