"""Adapters of other libraries' arrays on a GPU: reading, allocating and returning them."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike

REAL_KINDS = "fiub"
"""Kinds of NumPy's dtypes that hold real numbers."""


def require_real(name: str, dtype: DTypeLike) -> None:
    """Raise TypeError unless `dtype` is one of real numbers."""
    if np.dtype(dtype).kind not in REAL_KINDS:
        raise TypeError(f"{name} must hold real numbers, got dtype {dtype}")


def view_as_numba(array: Any) -> Any:
    """Return a Numba array over the same memory, without waiting for the stream of its owner."""
    from hetero.cuda.driver import cuda

    return cuda.as_cuda_array(array, sync=False)


class ArrayLibrary(Protocol):
    """Adapter of a library whose arrays live on a GPU."""

    @staticmethod
    def stream(like: Any) -> int:
        """Return the handle of the library's current stream for the device of `like`."""

    @staticmethod
    def flat(name: str, x: Any, dtype: np.dtype) -> Any:
        """Return `x` as a flat contiguous array of `dtype` that a kernel can read."""

    @staticmethod
    def empty(size: int, dtype: DTypeLike, like: Any) -> Any:
        """Return memory for a result on the device of `like`."""

    @staticmethod
    def finish(array: Any, shape: tuple[int, ...]) -> Any:
        """Return memory from `empty` as an array of the library with this shape."""


class CupyArrays(ArrayLibrary):
    """Adapter of CuPy."""

    @staticmethod
    def stream(like: Any) -> int:
        """Return the handle of CuPy's current stream."""
        import cupy

        return cupy.cuda.get_current_stream().ptr

    @staticmethod
    def flat(name: str, x: Any, dtype: np.dtype) -> Any:
        """Return a converted copy where CuPy needs one."""
        import cupy

        require_real(name, x.dtype)
        return view_as_numba(cupy.ascontiguousarray(x, dtype=dtype).reshape(-1))

    @staticmethod
    def empty(size: int, dtype: DTypeLike, like: Any) -> Any:
        """Return an array of CuPy's pool."""
        import cupy

        return cupy.empty(size, dtype)

    @staticmethod
    def finish(array: Any, shape: tuple[int, ...]) -> Any:
        """Return the array in its shape."""
        return array.reshape(shape)


class TorchArrays(ArrayLibrary):
    """Adapter of PyTorch."""

    @staticmethod
    def stream(like: Any) -> int:
        """Return the handle of PyTorch's current stream on the tensor's device."""
        import torch

        return torch.cuda.current_stream(like.device).cuda_stream

    @staticmethod
    def flat(name: str, x: Any, dtype: np.dtype) -> Any:
        """Return a view of the tensor without its gradient, converted where necessary."""
        import torch

        if x.is_complex():
            raise TypeError(f"{name} must hold real numbers, got dtype {x.dtype}")
        kind = getattr(torch, dtype.name)
        return view_as_numba(x.detach().to(kind).contiguous().reshape(-1))

    @staticmethod
    def empty(size: int, dtype: DTypeLike, like: Any) -> Any:
        """Return a view of a new tensor, which the view keeps."""
        import torch

        kind = getattr(torch, np.dtype(dtype).name)
        tensor = torch.empty(size, dtype=kind, device=like.device)
        view = view_as_numba(tensor)  # loops ask for NumPy's dtype and size, which tensors lack
        view._tensor = tensor
        return view

    @staticmethod
    def finish(array: Any, shape: tuple[int, ...]) -> Any:
        """Return the tensor that the view keeps."""
        return array._tensor.reshape(shape)


class InterfaceArrays(ArrayLibrary):
    """Adapter of Numba's arrays, and of all others with the CUDA array interface or DLPack."""

    @staticmethod
    def stream(like: Any) -> int:
        """Return the stream that the interface names, or the default one."""
        return int(_interface(like).get("stream") or 0)

    @staticmethod
    def flat(name: str, x: Any, dtype: np.dtype) -> Any:
        """Return a view; raise TypeError where a copy would be needed."""
        view = view_as_numba(SimpleNamespace(__cuda_array_interface__=_interface(x)))
        require_real(name, view.dtype)
        if view.dtype != dtype or not view.is_c_contiguous():
            raise TypeError(
                f"{name}: a device array of {type(x).__module__} must be C-contiguous {dtype} "
                f"(got {view.dtype}); convert it there, or pass a CuPy or PyTorch array"
            )
        view._keep = x
        return view.reshape(math.prod(view.shape))

    @staticmethod
    def empty(size: int, dtype: DTypeLike, like: Any) -> Any:
        """Return an array of Numba."""
        from hetero.cuda.driver import cuda

        return cuda.device_array(size, dtype)

    @staticmethod
    def finish(array: Any, shape: tuple[int, ...]) -> Any:
        """Return the array in its shape."""
        return array.reshape(shape)


class JaxArrays(InterfaceArrays):
    """Adapter of JAX, whose arrays cannot be written to: it copies a Numba array that is filled.

    It has to be a copy, because JAX does not keep the owner of shared memory alive.
    """

    @staticmethod
    def finish(array: Any, shape: tuple[int, ...]) -> Any:
        """Return a copy of JAX, once the memory is filled."""
        from jax import numpy as jnp

        from hetero.cuda.driver import cuda

        cuda.synchronize()  # JAX reads on its own stream
        return jnp.array(jnp.asarray(array).reshape(shape), copy=True).block_until_ready()


def _interface(array: Any) -> dict[str, Any]:
    """Return the CUDA array interface of `array`, made from DLPack if it has only that."""
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


_LIBRARIES: dict[str, type[ArrayLibrary]] = {
    "cupy": CupyArrays,
    "torch": TorchArrays,
    "jax": JaxArrays,
    "jaxlib": JaxArrays,
}


def library_of(array: Any) -> type[ArrayLibrary]:
    """Return the adapter of the library that `array` on a GPU belongs to."""
    return _LIBRARIES.get(type(array).__module__.partition(".")[0], InterfaceArrays)
