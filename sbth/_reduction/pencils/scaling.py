"""Scaling of the rows and columns of a pencil by powers of two, which leaves its eigenvalues.

With S = diag(2^p) the pencil S A S, S B S has the eigenvalues of A, B and eigenvectors S^-1 x. The
powers for which the diagonal of S B S is about 1 keep magnitudes of rows that differ by more than
the square root of the range of numbers apart.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from sbth._problem.inspection import magnitudes


def row_exponents(xp: ModuleType, diagonal: Any) -> Any:
    """Return the exponents p (n,) for the diagonal of B; 0 where it is 0 or not finite."""
    _, exponents = xp.frexp(xp.where(xp.isfinite(diagonal), diagonal, 0))
    return -(exponents.astype(np.int32) // 2)


def largest_exponent(xp: ModuleType, a: Any, exponents: Any) -> int:
    """Return the exponent of the largest element of a times 2^exponents, 0 if all are 0."""
    sizes, of_elements = xp.frexp(magnitudes(a))
    lowest = np.iinfo(np.int32).min
    top = int(xp.where(sizes == 0, lowest, of_elements + exponents).max()) if a.size else lowest
    return 0 if top == lowest else top


def require_no_overflow(xp: ModuleType, c: Any, names: tuple[str, str]) -> None:
    """Raise ValueError if a matrix of the pencil's eigenvalues overflows."""
    if not bool(xp.isfinite(c).all()):
        real = np.dtype(c.dtype.char.lower())
        raise ValueError(
            f"{names[0]} is too large beside {names[1]}: B^-1 A exceeds the largest {real}, "
            f"{np.finfo(real).max:.4g}. Divide {names[0]} by a power of two"
        )


def multiply_by_powers(xp: ModuleType, a: Any, exponents: Any) -> Any:
    """Return a times 2^exponents, real or complex, without intermediate overflow."""
    if a.dtype.kind != "c":
        return xp.ldexp(a, exponents)
    scaled = xp.empty(np.broadcast_shapes(a.shape, exponents.shape), a.dtype)
    scaled.real, scaled.imag = xp.ldexp(a.real, exponents), xp.ldexp(a.imag, exponents)
    return scaled
