"""Eigenvalues of tridiagonal, banded and dense symmetric matrices."""

from __future__ import annotations

import math

import numpy as np

from hetero import errors, region
from hetero.arrays import Workspace
from hetero.devices import resolve
from hetero.jit import twin
from sbth.reduction import tridiagonalize
from sbth.storage import checked_band, checked_real

BREAK_EVEN = 300
"""Order from which one H200 beats two cores, transfers included."""


def eigvalsh_tridiagonal(d, e, *, select="a", select_range=None, device=None) -> np.ndarray:
    """Eigenvalues of a symmetric tridiagonal matrix, ascending, by bisection.

    Parameters
    ----------
    d, e : array_like (n,), (n - 1,) of float
        Diagonal and subdiagonal.
    select : {"a", "i", "v"}
        All; those with the indices select_range[0] to select_range[1], both included, counted from
        0; those in the half-open interval (select_range[0], select_range[1]]. As SciPy's.
    select_range : pair of numbers
        For "i" and "v".
    device : None, "auto", "cpu", "cuda", "cuda:N" or hetero.Device

    Returns
    -------
    NumPy array of float64 (float32 if d and e are): multiple eigenvalues as often as they occur.

    Raises
    ------
    TypeError, ValueError, hetero.DeviceUnavailableError

    Notes
    -----
    Each within some 2 eps of the norm of the matrix (LAPACK's dstebz with abstol = eps norm), and
    independent of the others: k eigenvalues cost k/n of all.
    """
    d, e = checked_real("d", d), checked_real("e", e)
    dtype = np.result_type(d, e)
    d, e = d.astype(float, copy=False), e.astype(float, copy=False)
    if d.ndim != 1 or e.shape != (max(len(d) - 1, 0),):
        raise ValueError(f"d and e must have shapes (n,) and (n - 1,), got {d.shape} and {e.shape}")
    low, high = selection(select, select_range, len(d))
    for name, values in (("d", d), ("e", e)):
        if not np.isfinite(values).all():
            where = int(np.argmin(np.isfinite(values)))
            raise ValueError(f"{name} must be finite, got {values[where]} at index {where}")
    device = resolve(device, work=len(d), break_even=BREAK_EVEN)
    if not d.any() and not e.any():  # the empty matrix is one of these
        inside = select != "v" or low < 0.0 <= high
        return np.zeros((len(d) if select != "i" else high - low + 1) if inside else 0, dtype)
    with device.active(), region("eigenvalues by bisection"):
        values = _Bisection(d, e, device).values(select, low, high)
    return values.astype(dtype)


def selection(select, select_range, n) -> tuple:
    """The checked ends of `select_range`: indices, or values."""
    errors.one_of("select", select, ("a", "i", "v"))
    if select == "a":
        return 0, n - 1
    try:
        low, high = map(float, select_range)
    except (TypeError, ValueError):
        raise ValueError(
            f"select_range must be a pair of numbers for select={select!r}, got {select_range!r}"
        ) from None
    if select == "v":
        if not low < high:
            raise ValueError(f"select_range must be ascending, got ({low}, {high})")
        return low, high
    if not (low.is_integer() and high.is_integer() and 0 <= low <= high < n):
        raise ValueError(
            f"select_range must hold indices 0 <= first <= last < {n}, got {select_range!r}"
        )
    return int(low), int(high)


class _Bisection:
    """A tridiagonal matrix on a device, scaled so that squares are harmless."""

    def __init__(self, d, e, device):
        largest = max(np.max(np.abs(d)), np.max(np.abs(e), initial=0.0))
        self.scale = 2.0 ** min(-math.frexp(largest)[1], 1022) if largest > 0.0 else 1.0
        d, e = d * self.scale, e * self.scale
        around = np.abs(np.append(e, 0.0)) + np.abs(np.insert(e, 0, 0.0))
        low, high = float(np.min(d - around)), float(np.max(d + around))  # Gershgorin's discs
        slack = 2.0**-50 * len(d) * max(abs(low), abs(high)) + 2.0**-1000
        self.low, self.high = low - slack, high + slack
        squares = np.insert(e * e, 0, 0.0)
        self.tiny = np.finfo(float).tiny * max(1.0, float(np.max(squares)))
        self.least = 2.0**-53 * max(abs(self.low), abs(self.high))
        self.space = Workspace(device)
        self.matrix = self.space.input("d", d), self.space.input("e", squares)
        self.loops = twin("sbth._sturm", device)

    def values(self, select, low, high) -> np.ndarray:
        if select == "v":
            # Below the next float: the interval has its right end and not its left one.
            ends = [np.nextafter(v * self.scale, np.inf) for v in (low, high)]
            first, stop = self.below(np.clip(ends, self.low, self.high))
        else:
            first, stop = low, high + 1
        if stop <= first:
            return np.zeros(0)
        found = self.space.output((int(stop - first),))
        self.loops.bisect(
            *self.matrix,
            self.tiny,
            self.least,
            self.low,
            self.high,
            int(first),
            found,
            self.space.stream,
        )
        # Neighbours that agree to rounding may have come out in either order.
        return np.sort(self.space.result(found, (int(stop - first),))) / self.scale

    def below(self, x) -> np.ndarray:
        """How many eigenvalues are below each x."""
        counts = self.space.output(x.shape, np.int64)
        places = self.space.input("x", x)
        self.loops.below(*self.matrix, self.tiny, places, counts, self.space.stream)
        return self.space.result(counts, x.shape)


def eigvals_banded(ab, *, lower=True, select="a", select_range=None, device=None) -> np.ndarray:
    """Eigenvalues of a symmetric band matrix: `tridiagonalize`, then `eigvalsh_tridiagonal`.

    Parameters, errors and results are those of the two.
    """
    ab = checked_band(ab)
    selection(select, select_range, ab.shape[1])  # wrong ones are found out before the reduction
    d, e = tridiagonalize(ab, lower=lower, device=device)
    return eigvalsh_tridiagonal(d, e, select=select, select_range=select_range, device=device)
