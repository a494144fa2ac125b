"""The checked arguments of `sbth.eigsh`, except for the matrix."""

from __future__ import annotations

from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from hetero import validation
from hetero.devices import device_of
from sbth._lanczos.wanted import WHICH, End, wanted_ends
from sbth._problem.arrays import shape_and_dtype
from sbth._problem.sparse_matrices import FEW_PAIRS_OF_SPARSE_PENCILS
from sbth._problem.validation import validate_numbers
from sbth._vendor.array_modules import as_module_array

METHODS = ("auto", "lanczos", "band")
"""Values of `method`."""

LEAST_SIZE = 40
"""Least number of vectors of a Krylov space by default: for narrow spectra 24 need up to twice
as many products, and 90 a tenth fewer."""


class Arguments(NamedTuple):
    """Wanted eigenvalues of a matrix, and the settings of an iteration.

    Attributes
    ----------
    k, which, sigma, tolerance, search_copies
        See `sbth.eigsh`.
    size, restarts : int
        Vectors of the Krylov space, and most restarts; before the check also None.
    """

    k: int
    which: str
    sigma: float | None
    size: Any = None
    restarts: Any = None
    tolerance: float = 0.0
    search_copies: bool = True

    def checked(self, n: int) -> Arguments:
        """Validate the arguments of a caller for a matrix of order n, and return them.

        Raises
        ------
        TypeError, ValueError
        """
        k = validation.check_integer("k", self.k, 1)
        if k >= n:
            raise ValueError(
                f"k must be less than the order of a, {n}, got {k}: sbth.eigh computes all "
                "eigenvalues and eigenvectors, sbth.eigvalsh all eigenvalues"
            )
        which, sigma = validation.check_choice("which", self.which, WHICH), self.sigma
        if sigma is not None:
            sigma = validation.check_finite("sigma", sigma)
        size, restarts = min(n, max(2 * k + 1, LEAST_SIZE)), 10 * n
        if self.size is not None:
            size = validation.check_integer("ncv", self.size, k + 1, n)
        if self.restarts is not None:
            restarts = validation.check_integer("maxiter", self.restarts, 1)
        tolerance = validation.check_in_range("tol", self.tolerance, 0.0, 1.0, closed="left")
        return Arguments(k, which, sigma, size, restarts, tolerance, self.search_copies)

    @property
    def ends(self) -> tuple[End, ...]:
        """The ends of the spectrum of the operator of an iteration, and how many are wanted."""
        return wanted_ends(self.which, self.k)


def check_method(method: Any, v0: Any = None, inverse: Any = None, sigma: Any = None) -> str:
    """Return the method of a call of `sbth.eigsh`: with a start vector or an inverse, Lanczos.

    Raises
    ------
    ValueError
        There is no such method, or there is an inverse without a shift.
    """
    method = validation.check_choice("method", method, METHODS)
    if inverse is not None and sigma is None:
        raise ValueError("sigma must be given with OPinv: the operator is (a - sigma)^-1")
    is_given = v0 is not None or inverse is not None
    return "lanczos" if method == "auto" and is_given else method


def refuse_pencil(second: Any) -> None:
    """Raise NotImplementedError for a generalized problem."""
    if second is not None:
        raise NotImplementedError(
            f"M must be None: sbth.eigsh solves A x = lambda x. {FEW_PAIRS_OF_SPARSE_PENCILS}, and "
            "sbth.eigh(a.toarray(), M.toarray()) computes all"
        )


def read_start(v0: Any, n: int, dtype: np.dtype, xp: ModuleType) -> Any:
    """Return a start vector as an array of `xp`, or None.

    Raises
    ------
    TypeError, ValueError
        It has another shape, is complex for a real matrix, not finite, or zero.
    """
    if v0 is None:
        return None
    if device_of(v0) is None:
        v0 = validate_numbers("v0", v0)
        kind = v0.dtype.kind
    else:
        kind = shape_and_dtype("v0", v0, allow_complex=True)[1].kind
    start = as_module_array(xp, v0)
    if start.shape != (n,):
        raise ValueError(f"v0 must have the shape ({n},), got {start.shape}")
    if kind == "c" and dtype.kind != "c":
        raise TypeError(f"v0 must be real for a matrix of {dtype}, got {start.dtype}")
    largest = float(abs(start).max())
    if not np.isfinite(largest) or largest == 0.0:
        raise ValueError(f"v0 must be finite and not zero, got the largest element {largest}")
    return (start / start.dtype.type(largest)).astype(dtype)
