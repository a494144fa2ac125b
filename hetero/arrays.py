"""Arrays of any library in, arrays of the same library out, without a detour through the host.

NumPy arrays, sequences and CPU tensors are read as NumPy arrays; CuPy, PyTorch, JAX and Numba
arrays on a GPU, and whatever else speaks `__cuda_array_interface__` or DLPack, stay where they
are. A `Workspace` holds what one call of a routine needs: inputs as flat contiguous arrays,
memory for outputs, the stream to launch on.
"""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np

from hetero import regions
from hetero.devices import Device

_DLPACK_CUDA = (2, 13)  # kDLCUDA, kDLCUDAManaged


def device_of(array) -> Device | None:
    """The GPU that holds `array`; None for everything in host memory."""
    if array is None or isinstance(array, np.ndarray | np.generic | float | int | list | tuple):
        return None
    where = getattr(array, "__dlpack_device__", None)
    if where is not None:
        kind, index = where()
        return Device("cuda", int(index)) if int(kind) in _DLPACK_CUDA else None
    if hasattr(array, "__cuda_array_interface__"):
        return Device("cuda", _ordinal(array.__cuda_array_interface__["data"][0]))
    return None


def _ordinal(pointer: int) -> int:
    """Number of the GPU whose memory `pointer` points to."""
    from hetero._driver import SIMULATOR

    if SIMULATOR or not pointer:  # an empty array points nowhere
        return 0
    from cuda.bindings import driver

    attribute = driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
    error, ordinal = driver.cuPointerGetAttribute(attribute, pointer)
    if error != driver.CUresult.CUDA_SUCCESS:
        raise ValueError(f"the array's pointer belongs to no GPU of this process ({error.name})")
    return int(ordinal)


def on_host(array) -> np.ndarray:
    """An array of any library in host memory, flat."""
    for move in ("copy_to_host", "get", "cpu"):  # of Numba, CuPy, PyTorch
        if device_of(array) is not None and hasattr(array, move):
            array = getattr(array, move)()
    return np.asarray(array).reshape(-1)


def as_real(name: str, values, dtype=np.float64) -> np.ndarray:
    """`values` in host memory as an array of `dtype` (no copy where none is needed).

    None for `dtype`: float32 where `values` are, else float64.

    Raises
    ------
    TypeError
        For strings, objects, complex numbers and ragged sequences.
    ValueError
        For arrays of numpy.ma with masked elements: their values mean nothing.
    """
    if hasattr(values, "detach"):  # a PyTorch tensor may carry a gradient
        values = values.detach()
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be an array of real numbers, got {values!r}") from None
    _require_real(name, array.dtype)
    if np.ma.is_masked(values):
        raise ValueError(f"{name} must not be masked: pass {name}.compressed(), or fill the gaps")
    if dtype is None:
        single = array.dtype.newbyteorder("=") == np.float32
        dtype = np.float32 if single else np.float64
    return array.astype(dtype, copy=False)


def _require_real(name: str, dtype) -> None:
    if np.dtype(dtype).kind not in "fiub":
        raise TypeError(f"{name} must hold real numbers, got dtype {dtype}")


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

    def __init__(self, device: Device, like=None):
        self.device = device
        self._library = None if device_of(like) is None else _library(like)
        self.stream = 0
        if self._library is not None and (handle := self._library.stream(like)):
            from hetero._driver import cuda

            self.stream = cuda.external_stream(handle)
        self._like = like

    def input(self, name: str, values, dtype=np.float64):
        """`values` as a flat contiguous array of `dtype` on the device."""
        if self._library is not None:
            return self._library.flat(name, values, np.dtype(dtype))
        host = np.ascontiguousarray(as_real(name, values, dtype)).reshape(-1)
        if self.device.kind == "cpu":
            return host
        from hetero._driver import upload

        regions.moved(to_device=host.nbytes)
        return upload(host, self.stream)

    def output(self, shape: tuple[int, ...], dtype=np.float64, out=None):
        """A flat array on the device for a kernel to fill: over `out` where that is possible.

        Raises
        ------
        TypeError, ValueError
            When `out` has another dtype, shape, layout or place than the result.
        """
        size = math.prod(shape)
        if out is not None:
            self._check(out, shape, np.dtype(dtype))
            if self.device.kind == "cpu":
                return out.reshape(-1)
            if device_of(out) is not None:
                return _view(out).reshape(size)
        if self.device.kind == "cpu":
            return np.empty(size, dtype)
        if self._library is not None:
            return self._library.empty(size, dtype, self._like)
        from hetero._driver import cuda

        return cuda.device_array(size, dtype, stream=self.stream)

    def result(self, array, shape: tuple[int, ...], out=None):
        """What `output` gave, filled, in the caller's kind and shape; `out` if that was given."""
        if out is not None:
            if self.device.kind == "cuda" and device_of(out) is None:
                out[...] = self._to_host(array).reshape(shape)
            return out
        if self._library is not None:
            return self._library.finish(array, shape)
        host = array if self.device.kind == "cpu" else self._to_host(array)
        host = host.reshape(shape)
        return host[()] if shape == () else host

    def _check(self, out, shape, dtype) -> None:
        if self._library is _Jax:
            raise TypeError("out cannot be a JAX array: those are immutable")
        if not hasattr(out, "shape") or not hasattr(out, "dtype"):
            raise TypeError(f"out must be an array, got {type(out).__name__}")
        if tuple(out.shape) != tuple(shape):
            raise ValueError(f"out must have shape {tuple(shape)}, got {tuple(out.shape)}")
        if str(out.dtype).removeprefix("torch.") != dtype.name:
            raise TypeError(f"out must have dtype {dtype}, got {out.dtype}")
        where = device_of(out)
        if self._library is not None and where is None:
            raise ValueError(f"out must live on {self.device}, as the input does")
        if where not in (None, self.device):
            raise ValueError(f"out lives on {where}, but the work is done on {self.device}")
        if where is None and not isinstance(out, np.ndarray):
            raise TypeError(f"out must be a NumPy array here, got {type(out).__name__}")
        flags = getattr(out, "flags", None)
        contiguous = out.is_contiguous() if hasattr(out, "is_contiguous") else flags["C_CONTIGUOUS"]
        if not contiguous or (where is None and not flags.writeable):
            raise ValueError("out must be C-contiguous and writeable")

    def _to_host(self, array) -> np.ndarray:
        regions.moved(to_host=array.nbytes)
        return array.copy_to_host(stream=self.stream) if array.size else np.empty(0, array.dtype)


# ---- the libraries ---------------------------------------------------------------------------
# Each has: stream(like) -> handle; flat(name, x, dtype) -> what a kernel can read;
# empty(size, dtype, like); finish(array, shape).


def _view(array):
    """A Numba array over the same memory. The stream is the workspace's business: no waiting."""
    from hetero._driver import cuda

    return cuda.as_cuda_array(array, sync=False)


class _Cupy:
    @staticmethod
    def stream(like) -> int:
        import cupy

        return cupy.cuda.get_current_stream().ptr

    @staticmethod
    def flat(name, x, dtype):
        import cupy

        _require_real(name, x.dtype)
        return _view(cupy.ascontiguousarray(x, dtype=dtype).reshape(-1))

    @staticmethod
    def empty(size, dtype, like):
        import cupy

        return cupy.empty(size, dtype)

    @staticmethod
    def finish(array, shape):
        return array.reshape(shape)


class _Torch:
    @staticmethod
    def stream(like) -> int:
        import torch

        return torch.cuda.current_stream(like.device).cuda_stream

    @staticmethod
    def flat(name, x, dtype):
        import torch

        if x.is_complex():
            raise TypeError(f"{name} must hold real numbers, got dtype {x.dtype}")
        kind = getattr(torch, dtype.name)
        return _view(x.detach().to(kind).contiguous().reshape(-1))

    @staticmethod
    def empty(size, dtype, like):
        import torch

        kind = getattr(torch, np.dtype(dtype).name)
        return torch.empty(size, dtype=kind, device=like.device)

    @staticmethod
    def finish(array, shape):
        return array.reshape(shape)


class _Numba:
    """Numba's own arrays, and what other libraries show through the CUDA array interface."""

    @staticmethod
    def stream(like) -> int:
        return int(_interface(like).get("stream") or 0)

    @staticmethod
    def flat(name, x, dtype):
        view = _view(SimpleNamespace(__cuda_array_interface__=_interface(x)))
        _require_real(name, view.dtype)
        if view.dtype != dtype or not view.is_c_contiguous():
            raise TypeError(
                f"{name}: a device array of {type(x).__module__} must be C-contiguous {dtype} "
                f"(got {view.dtype}); convert it there, or pass a CuPy or PyTorch array"
            )
        view._keep = x
        return view.reshape(math.prod(view.shape))

    @staticmethod
    def empty(size, dtype, like):
        from hetero._driver import cuda

        return cuda.device_array(size, dtype)

    @staticmethod
    def finish(array, shape):
        return array.reshape(shape)


class _Jax(_Numba):
    """JAX arrays cannot be written to: the kernel fills a Numba array, which JAX then copies.

    It has to be a copy: JAX does not keep the owner of memory that it takes over alive.
    """

    @staticmethod
    def finish(array, shape):
        from jax import numpy as jnp

        from hetero._driver import cuda

        cuda.synchronize()  # JAX reads on a stream of its own
        return jnp.array(jnp.asarray(array).reshape(shape), copy=True).block_until_ready()


def _interface(array) -> dict:
    """The CUDA array interface of `array`, made from DLPack where it has only that."""
    if hasattr(array, "__cuda_array_interface__"):
        return array.__cuda_array_interface__
    from cuda.core.utils import StridedMemoryView

    view = StridedMemoryView.from_dlpack(array, stream_ptr=-1)
    item = view.dtype.itemsize
    return {
        "shape": tuple(view.shape),
        "strides": None if view.strides is None else tuple(s * item for s in view.strides),
        "typestr": view.dtype.str,
        "data": (view.ptr, view.readonly),
        "version": 3,
    }


_LIBRARIES = {"cupy": _Cupy, "torch": _Torch, "jax": _Jax, "jaxlib": _Jax}


def _library(array):
    return _LIBRARIES.get(type(array).__module__.partition(".")[0], _Numba)
