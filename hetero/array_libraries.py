"""How arrays of other libraries on a GPU are read, made and given back.

Each adapter has four functions: `stream(like)` returns the handle of the library's current stream,
`flat(name, x, dtype)` a flat array that a kernel can read, `empty(size, dtype, like)` memory for a
result, and `finish(array, shape)` that memory as the caller's kind of array.
"""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np


def require_real(name: str, dtype) -> None:
    """Raise TypeError unless `dtype` is one of real numbers."""
    if np.dtype(dtype).kind not in "fiub":
        raise TypeError(f"{name} must hold real numbers, got dtype {dtype}")


def view_as_numba(array):
    """Return a Numba array over the same memory, without waiting for the stream of its owner."""
    from hetero.cuda.driver import cuda

    return cuda.as_cuda_array(array, sync=False)


class CupyArrays:
    """CuPy arrays."""

    @staticmethod
    def stream(like) -> int:
        import cupy

        return cupy.cuda.get_current_stream().ptr

    @staticmethod
    def flat(name, x, dtype):
        import cupy

        require_real(name, x.dtype)
        return view_as_numba(cupy.ascontiguousarray(x, dtype=dtype).reshape(-1))

    @staticmethod
    def empty(size, dtype, like):
        import cupy

        return cupy.empty(size, dtype)

    @staticmethod
    def finish(array, shape):
        return array.reshape(shape)


class TorchArrays:
    """PyTorch tensors on a GPU."""

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
        return view_as_numba(x.detach().to(kind).contiguous().reshape(-1))

    @staticmethod
    def empty(size, dtype, like):
        import torch

        kind = getattr(torch, np.dtype(dtype).name)
        return torch.empty(size, dtype=kind, device=like.device)

    @staticmethod
    def finish(array, shape):
        return array.reshape(shape)


class InterfaceArrays:
    """Numba's own arrays, and others that have the CUDA array interface or DLPack."""

    @staticmethod
    def stream(like) -> int:
        return int(_interface(like).get("stream") or 0)

    @staticmethod
    def flat(name, x, dtype):
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
    def empty(size, dtype, like):
        from hetero.cuda.driver import cuda

        return cuda.device_array(size, dtype)

    @staticmethod
    def finish(array, shape):
        return array.reshape(shape)


class JaxArrays(InterfaceArrays):
    """JAX arrays cannot be written to: the kernel fills a Numba array, which JAX then copies.

    It has to be a copy: JAX does not keep the owner of memory that it takes over alive.
    """

    @staticmethod
    def finish(array, shape):
        from jax import numpy as jnp

        from hetero.cuda.driver import cuda

        cuda.synchronize()  # JAX reads on a stream of its own
        return jnp.array(jnp.asarray(array).reshape(shape), copy=True).block_until_ready()


def _interface(array) -> dict:
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


_LIBRARIES = {"cupy": CupyArrays, "torch": TorchArrays, "jax": JaxArrays, "jaxlib": JaxArrays}


def library_of(array):
    """Return the adapter of the library that `array` on a GPU belongs to."""
    return _LIBRARIES.get(type(array).__module__.partition(".")[0], InterfaceArrays)
