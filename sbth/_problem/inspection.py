"""Inspection of a matrix: magnitudes of its elements, and where it falls into blocks."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from hetero.arrays import Workspace
from hetero.devices import CPU
from sbth._problem import working_matrix
from sbth._problem.arrays import real_dtype

EPSILON = 2.0**-52
"""Relative spacing of float64, in which tridiagonal matrices are solved."""


def choose_scale(ab: Any, lower: bool, name: str, space: Workspace | None = None) -> float:
    """Return a power of two that brings the squares of the elements of `ab` into range.

    `ab` is a NumPy array, which needs no `space`, or a two-dimensional device array on the device
    of `space`, one of CuPy if it is complex.

    Raises
    ------
    ValueError
        There is NaN or infinity within the band. Entries outside the matrix are ignored.
    """
    rows, n = ab.shape
    if isinstance(ab, np.ndarray) and rows > 1 < n:
        subdiagonal = ab.item(1, 0) if lower else ab.item(-2, 1)
        if is_plainly_safe(ab, subdiagonal):
            return 1.0  # without the passes below
    if space is None or isinstance(ab, np.ndarray):
        space = Workspace(CPU)
    device = space.device
    if np.dtype(ab.dtype).kind == "c":
        ab = magnitudes(ab)
    inspect_band, width = working_matrix.loops(device).inspect_band, min(rows - 1, max(n - 1, 0))
    largest, index = inspect_band(ab, lower, width, space.stream)
    if index >= 0:
        k, j = divmod(index, n)
        row, column = (k, j) if lower else (ab.shape[0] - 1 - k, j + k)
        value = float(ab[row, column])
        raise ValueError(f"{name} holds {value} for element ({j + k}, {j}) of the matrix")
    return safe_scale(largest, ab.dtype)


def magnitudes(a: Any) -> Any:
    """Return real numbers as they are, of complex ones the larger part, without its sign."""
    return a if a.dtype.kind != "c" else np.maximum(np.abs(a.real), np.abs(a.imag))


def safe_scale(largest: float, dtype: DTypeLike) -> float:
    """Return a power of two that scales `largest` so that sums of squares stay within range.

    `low` is eps^-2 times the magnitude at which squares begin to lose digits: reflections neglect
    smaller elements.
    """
    low, high = _safe_range(np.dtype(dtype))
    if largest == 0.0 or low < largest < high:
        return 1.0
    return 2.0 ** min(-math.frexp(largest)[1], int(np.finfo(dtype).maxexp) - 2)


def unscale(values: np.ndarray, *factors: float) -> np.ndarray:
    """Return eigenvalues of a matrix from those of it multiplied by powers of two, the factors.

    They are float64 if a factor is not 1, and infinite where they overflow.
    """
    for factor in factors:
        if factor != 1.0:
            with np.errstate(over="ignore"):
                values = values.astype(float, copy=False) / factor
    return values


def require_finite_triangle(largest: float, lower: bool, name: str = "a") -> None:
    """Raise ValueError if the largest magnitude in a triangle of a matrix is not finite."""
    if not math.isfinite(largest):
        which = "lower" if lower else "upper"
        raise ValueError(f"{name} must be finite: its {which} triangle holds NaN or infinity")


def is_plainly_safe(everything: np.ndarray, inside: complex) -> bool:
    """Return whether all elements are finite, and `safe_scale` is surely 1; False tells nothing.

    `inside` is an element of the matrix, to which not all of `everything` need belong. It is large
    enough nearly always, which saves another pass.
    """
    low, high = _safe_range(everything.dtype)
    return bool(_sum_of_squares(everything) < high * high and abs(inside) > low)


_MOST_FOR_ONE_THREAD = 10_000
"""Elements up to which OpenBLAS takes one thread for a scalar product."""


def _sum_of_squares(x: np.ndarray) -> Any:
    """Return the sum of |x|^2 of an array of floats, without a warning if it overflows.

    A large array is not given to NumPy's BLAS: its threads would go on waiting for work on the
    cores that LAPACK needs next, whose BLAS is SciPy's. On two cores, the eigenvalues of a full
    matrix with n = 200 then took 4 to 49 ms, not 2.
    """
    flat = x.ravel("K")  # which copies no array without gaps
    if x.size <= _MOST_FOR_ONE_THREAD:
        return np.vdot(flat, flat).real
    parts = flat.view(flat.real.dtype)
    return np.einsum("i,i->", parts, parts)


@functools.lru_cache(maxsize=16)
def _safe_range(dtype: np.dtype) -> tuple[float, float]:
    """Return the range of largest elements for which sums of squares stay within range."""
    info = np.finfo(dtype)
    eps = float(info.eps)
    return math.sqrt(float(info.tiny) / eps) / eps**2, math.sqrt(float(info.max)) * 1e-6


def round_to_dtype(name: str, values: np.ndarray, dtype: DTypeLike) -> np.ndarray:
    """Round eigenvalues in ascending order to `dtype`; raise ValueError if one overflows."""
    if values.dtype != dtype:
        with np.errstate(over="ignore"):
            values = values.astype(real_dtype(dtype), copy=False)
    # The first or the last one is the largest. (No comparison with NaN is true.)
    if values.size and not (-math.inf < values.item(0) and values.item(-1) < math.inf):
        raise ValueError(
            f"{name} is too large: an eigenvalue exceeds the largest {values.dtype}, "
            f"{np.finfo(values.dtype).max:.4g}. Divide the matrix by a power of two"
        )
    return values


Sizes = tuple[float, float, float]
"""Magnitudes of elements of a tridiagonal matrix: the largest one, the smallest one, and the
smallest one off the diagonal, 0 if there is none."""


def sizes_of(d: np.ndarray, e: np.ndarray) -> Sizes:
    """Return the sizes of the elements of a tridiagonal matrix, the largest one NaN if one is."""
    if not e.size:
        alone = abs(d.item()) if d.size else 0.0
        return alone, alone, 0.0
    sizes = np.abs(np.concatenate((d, e)))
    below = sizes[d.size :]
    # The method argmin takes a quarter of the time of np.min for a matrix of order 20.
    smallest, smallest_below = sizes.item(sizes.argmin()), below.item(below.argmin())
    return sizes.item(sizes.argmax()), smallest, smallest_below


def is_coupled(sizes: Sizes) -> bool:
    """Return whether a tridiagonal matrix surely has no blocks; False tells nothing."""
    largest, _, smallest_below = sizes
    return smallest_below > EPSILON * largest


def is_coupled_band(ab: np.ndarray, lower: bool) -> bool:
    """Return whether the first subdiagonal of a band has no 0, so that there are no blocks."""
    rows, n = ab.shape
    if rows == 1 or n < 2:
        return False
    return bool(np.count_nonzero(ab[1, :-1] if lower else ab[-2, 1:]) == n - 1)
