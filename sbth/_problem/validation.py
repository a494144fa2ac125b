"""Checks of the arguments of public functions."""

from __future__ import annotations

import contextlib
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hetero import validation
from hetero.arrays import as_real
from hetero.devices import device_of
from sbth._problem.arrays import (
    KEPT,
    KEPT_REAL,
    copy_to_host,
    is_sparse,
    refuse_complex,
    shape_and_dtype,
)
from sbth._problem.inspection import Sizes, sizes_of


def validate_band(
    ab: ArrayLike, name: str = "ab", *, allow_complex: bool = False
) -> tuple[Any, tuple[int, int], np.dtype]:
    """Validate an array in band storage; return it, its shape and the type to compute in.

    An array in host memory is returned as a NumPy array of float32 or float64 (or with
    `allow_complex` complex64 or complex128), an array on a GPU unchanged.

    Raises
    ------
    TypeError
        It holds complex numbers, strings or objects, or is a ragged sequence.
    ValueError
        It does not have two dimensions, or has no rows.
    """
    array, shape, dtype = _validate_array(name, ab, allow_complex)
    if shape == (0, 0) and isinstance(array, np.ndarray):  # the band of an empty matrix in SciPy
        return array.reshape(1, 0), (1, 0), dtype
    if len(shape) != 2 or shape[0] == 0:
        raise ValueError(f"{name} must have the shape (bandwidth + 1, n), got {shape}")
    return array, shape, dtype


def _validate_array(name: str, x: Any, allow_complex: bool) -> tuple[Any, Any, np.dtype]:
    """Return an array on a GPU, or as a NumPy array, its shape and the type to compute in."""
    if type(x) is np.ndarray or device_of(x) is None:
        x = validate_numbers(name, x) if allow_complex else validate_real(name, x)
        return x, x.shape, x.dtype
    return x, *shape_and_dtype(name, x, allow_complex=allow_complex)


def validate_numbers(name: str, values: ArrayLike) -> np.ndarray:
    """Return real numbers as `validate_real` does, and complex ones as complex64 or complex128.

    Raises
    ------
    TypeError, ValueError
        As `validate_real`, except for complex numbers.
    """
    if type(values) is np.ndarray and values.dtype in KEPT:
        return values
    validation.require_unmasked(name, values)  # also in a list, where masks would be lost
    if not isinstance(getattr(values, "dtype", None), np.dtype):
        if hasattr(values, "detach"):  # a PyTorch tensor may carry a gradient
            values = values.detach()
        if hasattr(values, "resolve_conj"):  # or wait for its conjugation
            values = values.resolve_conj()
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            values = np.asarray(values)
    if getattr(getattr(values, "dtype", None), "kind", "") != "c" or is_sparse(values):
        return validate_real(name, values)
    array = np.asarray(values)
    single = array.dtype.newbyteorder("=") == np.complex64
    return array.astype(np.complex64 if single else np.complex128, copy=False)


def validate_real(name: str, values: ArrayLike) -> np.ndarray:
    """Copy real numbers to a NumPy array: float32 if they are float32, else float64.

    Raises
    ------
    TypeError
        They are complex numbers, strings or objects, or a ragged sequence.
    """
    if type(values) is np.ndarray and values.dtype in KEPT_REAL:
        return values
    if device_of(values) is not None:
        return copy_to_host(name, values)
    if is_sparse(values):
        raise TypeError(
            f"{name} is a SciPy sparse matrix, which sbth.eigvalsh and sbth.spectrum take; "
            "sbth.band_from_sparse returns its band storage"
        )
    if getattr(getattr(values, "dtype", None), "kind", "") == "c":
        refuse_complex(name)
    return as_real(name, values, None)


def validate_bool(name: str, value: object) -> bool:
    """Validate a flag; only booleans are accepted, because a text such as "upper" would be true."""
    if value is False or value is True:
        return value
    if not isinstance(value, np.bool_):
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def validate_matrix(
    a: ArrayLike, name: str = "a", *, allow_complex: bool = False
) -> tuple[Any, int, np.dtype]:
    """Validate a matrix; return it, its order and the type to compute in, as `validate_band`."""
    array, shape, dtype = _validate_array(name, a, allow_complex)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"{name} must be a square matrix, got shape {shape}")
    return array, shape[0], dtype


def validate_tridiagonal(d: Any, e: Any) -> tuple[np.ndarray, np.ndarray, Sizes]:
    """Validate the diagonal and subdiagonal of a matrix.

    Returns them in host memory, and the sizes of their elements.

    Raises
    ------
    TypeError, ValueError
        They do not hold real numbers, do not match, or hold NaN or infinity.
    """
    d, e = validate_real("d", d), validate_real("e", e)
    if d.ndim != 1 or e.shape != ((len(d) or 1) - 1,):
        raise ValueError(f"d and e must have shapes (n,) and (n - 1,), got {d.shape} and {e.shape}")
    sizes = sizes_of(d, e)
    if not math.isfinite(sizes[0]):
        name, values = ("e", e) if np.isfinite(d).all() else ("d", d)
        index = int(np.argmin(np.isfinite(values)))
        raise ValueError(f"{name} must be finite, got {values[index]} at index {index}")
    return d, e, sizes
