"""Generalized problems of band matrices, by a split Cholesky factorization of B.

B = S^H S, where the upper part of S is lower triangular and its lower part upper triangular. Then
the elements beside the band that S^-H A S^-1 has can be chased away, to one end of the matrix for
each part, and A keeps its bandwidth (Crawford 1973). LAPACK has it as pbstf and sbgst, which SciPy
gives as pointers only.
"""

from __future__ import annotations

import numpy as np

from hetero import region
from sbth._problem.inspection import choose_scale
from sbth._problem.storage import diagonals
from sbth._reduction.pencils import scaling
from sbth._vendor.routines import call_pointer, prefixed


def reduce_pencil(
    a_band: np.ndarray, b_band: np.ndarray, lower: bool, *, vectors: bool
) -> tuple[np.ndarray, np.ndarray | None]:
    """Reduce A x = lambda B x to C y = lambda y, where x = X y.

    Parameters
    ----------
    a_band : array (bandwidth + 1, n)
        Validated, in host memory.
    b_band : array (bandwidth + 1, n)
        The same, of any bandwidth.
    vectors : bool
        Whether X is needed.

    Returns
    -------
    band : array (bandwidth + 1, n)
        C in lower storage; its bandwidth is the larger one of both.
    transformation : array (n, n), or None

    Raises
    ------
    TypeError, ValueError
        `b_band` does not suit `a_band`, is not positive definite, or one of both is not finite.
    """
    b, n, dtype = b_band, a_band.shape[1], np.result_type(a_band, b_band)
    if n == 0:
        return a_band.astype(dtype), np.zeros((0, 0), dtype) if vectors else None
    scales = choose_scale(a_band, lower, "a_band"), choose_scale(b, lower, "b_band")
    diagonal = diagonals(b, lower)[0].real
    exponents = None
    if scales != (1.0, 1.0) or not 0.0 < diagonal.max() <= _EVEN * diagonal.min():
        exponents = scaling.row_exponents(np, diagonal)
    width = max(len(diagonals(a_band, lower)), len(diagonals(b, lower))) - 1
    with region("split Cholesky factorization"):
        factor, _ = _lower_storage(b, lower, len(diagonals(b, lower)) - 1, dtype, exponents)
        info = call_pointer(
            prefixed("pbstf", "pbstf", dtype), (b"L", n, len(factor) - 1, factor, len(factor))
        )
        if info > 0:
            raise np.linalg.LinAlgError(
                f"b_band must be positive definite: its factorization fails at row {info - 1}"
            )
        band, shift = _lower_storage(a_band, lower, width, dtype, exponents)
        x = np.zeros((n, n) if vectors else (1, 1), dtype, order="F")
        work = [np.zeros(2 * n, dtype)]
        if dtype.kind == "c":
            work.append(np.zeros(n, x.real.dtype))
        sizes = n, width, len(factor) - 1
        arrays = band, width + 1, factor, len(factor), x, len(x)
        job = b"V" if vectors else b"N"
        call_pointer(prefixed("sbgst", "hbgst", dtype), (job, b"L", *sizes, *arrays, *work))
    if exponents is None:
        return np.ascontiguousarray(band), x if vectors else None
    with np.errstate(over="ignore", under="ignore"):
        band = scaling.multiply_by_powers(np, band, np.int32(shift))
        x = scaling.multiply_by_powers(np, x, exponents[:, None]) if vectors else x
    scaling.require_no_overflow(np, band, ("a_band", "b_band"))
    return np.ascontiguousarray(band), x if vectors else None


def _lower_storage(
    ab: np.ndarray, lower: bool, width: int, dtype: np.dtype, exponents: np.ndarray | None
) -> tuple[np.ndarray, int]:
    """Copy S A S 2^-shift to lower storage in columns, as LAPACK has it; return it and the shift.

    S is 2^exponents, or 1 without them. The shift brings the largest element to 1 if it might over-
    or underflow.
    """
    n = ab.shape[1]
    out = np.zeros((width + 1, n), dtype, order="F")
    columns = diagonals(ab, lower)
    if exponents is None:
        for k, diagonal in enumerate(columns):
            out[k, : n - k] = diagonal if lower else diagonal.conj()
        out[0] = out[0].real
        return out, 0
    powers = [exponents[k:] + exponents[: n - k] for k in range(len(columns))]
    filled = [(x, p) for x, p in zip(columns, powers, strict=True) if x.any()]
    top = max((scaling.largest_exponent(np, x, p) for x, p in filled), default=0)
    shift = top if abs(top) > _BENIGN[out.real.dtype.itemsize] else 0
    for k, (diagonal, sums) in enumerate(zip(columns, powers, strict=True)):
        values = (diagonal if lower else diagonal.conj()).astype(dtype, copy=False)
        out[k, : n - k] = scaling.multiply_by_powers(np, values, sums - shift)
    out[0] = out[0].real
    return out, shift


_EVEN = 16.0
"""Largest ratio of diagonal elements of B for which its rows are not scaled."""

_BENIGN = {4: 32, 8: 256}
"""Exponents of the largest element, by the bytes of a real number, that need no shift."""
