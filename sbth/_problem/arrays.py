"""Arrays of callers, in host memory or on a GPU: shapes, types and copies."""

from __future__ import annotations

import functools
import importlib.util
from typing import Any, NoReturn

import numpy as np
from numpy.typing import DTypeLike

from hetero.arrays import Workspace
from hetero.devices import device_of, resolve
from hetero.measurement import profiling

KEPT_REAL = np.dtype(np.float64), np.dtype(np.float32)


KEPT = *KEPT_REAL, np.dtype(np.complex128), np.dtype(np.complex64)
"""Types of arrays that are computed with as they are, the most frequent ones first."""


_REAL_KINDS = ("float", "bfloat", "int", "uint", "bool")


@functools.cache
def has_cupy() -> bool:
    """Return whether CuPy is installed; looking for it takes longer than a small matrix."""
    return importlib.util.find_spec("cupy") is not None


def real_dtype(dtype: DTypeLike) -> np.dtype:
    """Return the type of the eigenvalues of a matrix."""
    dtype = np.dtype(dtype)
    return dtype if dtype in KEPT_REAL else np.dtype(dtype.char.lower())


def refuse_complex(name: str) -> NoReturn:
    """Raise the error for complex arrays."""
    raise TypeError(
        f"{name} must be real: complex Hermitian matrices are solved by sbth.eigh, eigvalsh, "
        "eig_banded and eigvals_banded"
    )


def shape_and_dtype(
    name: str, array: Any, *, allow_complex: bool = False
) -> tuple[tuple[int, ...], np.dtype]:
    """Return the shape of an array on a GPU, and the dtype to compute in: float32 or float64.

    With `allow_complex` it is complex64 or complex128 for complex arrays.

    Raises
    ------
    TypeError
        The array holds complex numbers, or something other than numbers.
    """
    shape, dtype = getattr(array, "shape", None), getattr(array, "dtype", None)
    if shape is None or dtype is None:
        interface = getattr(array, "__cuda_array_interface__", None)
        if interface is None:
            raise TypeError(f"{name} must have a shape and a dtype, got {type(array).__name__}")
        shape, dtype = interface["shape"], np.dtype(interface["typestr"])
    computed = _dtype_to_compute_in(dtype)
    if computed is None:
        text = str(dtype).removeprefix("torch.")
        raise TypeError(f"{name} must hold real numbers, got dtype {text}")
    if computed.kind == "c" and not allow_complex:
        refuse_complex(name)
    return tuple(shape), computed


@functools.lru_cache(maxsize=64)
def _dtype_to_compute_in(dtype: Any) -> np.dtype | None:
    """Return the type to compute in for a type of NumPy or PyTorch; None if it has no numbers."""
    text = str(dtype).removeprefix("torch.")
    if text.startswith("complex"):
        return np.dtype(np.complex64 if text == "complex64" else np.complex128)
    if text.rstrip("0123456789") not in _REAL_KINDS:
        return None
    return np.dtype(np.float32 if text == "float32" else np.float64)


def copy_to_host(name: str, array: Any) -> np.ndarray:
    """Copy an array from a GPU to host memory."""
    shape, dtype = shape_and_dtype(name, array)
    device = resolve(None, array)
    with device.active():
        space = Workspace(device, array)
        return host_workspace(space).result(space.input(name, array, dtype), shape)


def host_workspace(space: Workspace) -> Workspace:
    """Return a workspace on the same device and stream whose results are NumPy arrays."""
    plain = Workspace(space.device)
    plain.stream = space.stream
    return plain


def copy_like(host: np.ndarray, like: Any) -> Any:
    """Copy a NumPy array to the GPU that holds `like`, as an array of the library of `like`.

    If `like` is in host memory, `host` itself is returned.
    """
    device = device_of(like)
    if device is None:
        return host
    from hetero.cuda.ready_arrays import fill_from_host, ready

    with device.active():
        space = Workspace(device, like)
        array = space.output(host.shape, host.dtype)
        if host.size:
            flat = np.ascontiguousarray(host).reshape(-1)
            fill_from_host(ready(array), flat, space.stream)
            profiling.count_transfer(to_device=host.nbytes)
        return space.result(array, host.shape)


def require_host(name: str, values: Any, routine: str) -> None:
    """Raise TypeError for arrays on a GPU, in routines that only rearrange NumPy arrays."""
    if (device := device_of(values)) is not None:
        raise TypeError(
            f"{name} is on {device}, but {routine} works in host memory: copy it there first "
            "(CuPy: .get(), PyTorch: .cpu(), Numba: .copy_to_host())"
        )


def is_sparse(a: Any) -> bool:
    """Return whether a value is a sparse matrix or array of SciPy."""
    return type(a) is not np.ndarray and hasattr(a, "tocoo") and hasattr(a, "nnz")
