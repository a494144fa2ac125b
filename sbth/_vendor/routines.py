"""Routines of the LAPACK and the BLAS that SciPy uses."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

_PREFIXES = {"f": "s", "d": "d", "F": "c", "D": "z"}
"""First letters of the names of routines, by the character of the dtype."""


@functools.cache
def routine(symmetric: str, hermitian: str, dtype: np.dtype) -> tuple[str, Callable]:
    """Return the name of the routine for a dtype, and SciPy's function for it; few are in use."""
    from scipy.linalg import lapack

    name = prefixed(symmetric, hermitian, dtype)
    return name, getattr(lapack, name)


@functools.cache
def blas_routine(name: str, dtype: np.dtype) -> Callable:
    """Return SciPy's function for a routine of BLAS."""
    from scipy.linalg import blas

    function: Callable = getattr(blas, _PREFIXES[dtype.char] + name)
    return function


def prefixed(symmetric: str, hermitian: str, dtype: np.dtype) -> str:
    """Return the name of the routine for real symmetric or complex Hermitian matrices."""
    return _PREFIXES[dtype.char] + (hermitian if dtype.kind == "c" else symmetric)


def call_pointer(name: str, arguments: tuple[Any, ...]) -> int:
    """Call a routine that SciPy gives as a pointer only, and return its `info`.

    Arguments are arrays, bytes (for characters), int (32 bits) and float (64 bits).
    """
    info = ctypes.c_int(0)
    references = [_reference(a) for a in arguments]
    _function(name)(*references, ctypes.byref(info))
    return info.value


def _reference(a: Any) -> Any:
    """Return an argument as Fortran takes it."""
    if isinstance(a, np.ndarray):
        return ctypes.c_void_p(a.ctypes.data)
    if isinstance(a, bytes):
        return ctypes.c_char_p(a)
    return ctypes.byref(ctypes.c_double(a) if isinstance(a, float) else ctypes.c_int(a))


@functools.cache
def _function(name: str) -> Callable[..., None]:
    """Return a routine by its pointer."""
    from scipy.linalg import cython_lapack

    capsule = cython_lapack.__pyx_capi__[name]
    python = ctypes.pythonapi
    get_name, get_pointer = python.PyCapsule_GetName, python.PyCapsule_GetPointer
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    get_pointer.restype = ctypes.c_void_p
    get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return ctypes.CFUNCTYPE(None)(get_pointer(capsule, get_name(capsule)))
