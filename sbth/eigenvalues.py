"""Eigenvalues of tridiagonal, banded and dense symmetric matrices."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hetero import errors, region
from hetero.arrays import Workspace, device_of
from hetero.devices import resolve
from hetero.jit import twin
from sbth.reduction import choose_method, reduce_band
from sbth.storage import checked_band, checked_bool, checked_real, deliver, describe

BREAK_EVEN = 300
"""Order from which one H200 beats two cores, transfers included."""


def eigvalsh_tridiagonal(
    d, e, select="a", select_range=None, check_finite=True, tol=None, *, device=None
):
    """Compute eigenvalues of a symmetric tridiagonal matrix, ascending, by bisection.

    Parameters
    ----------
    d, e : array_like (n,), (n - 1,) of float
        Diagonal and subdiagonal. Arrays on a GPU are searched there.
    select : {"a", "v", "i"}
        As in SciPy. "a", "all" or 0: all eigenvalues; "v", "value" or 1: those in the half-open
        interval (select_range[0], select_range[1]]; "i", "index" or 2: those with the indices
        select_range[0] to select_range[1], both included, counted from 0.
    select_range : pair of numbers
        For "v" and "i".
    check_finite : bool
        Accepted for the sake of SciPy's signature. NaN and infinity are always refused: the scaling
        needs a pass over the elements anyway.
    tol : float, optional
        Width of an interval at which an eigenvalue has converged. By default, and for tol <= 0,
        some eps times the norm of the matrix.
    device : None, "auto", "cpu", "cuda", "cuda:N" or hetero.Device

    Returns
    -------
    array of float64 (float32 if d and e are)
        Multiple eigenvalues as often as they occur. A NumPy array, or for `d` or `e` on a GPU an
        array of the same library on that GPU.

    Raises
    ------
    TypeError, ValueError, hetero.DeviceUnavailableError
        ValueError also where an eigenvalue overflows.

    Notes
    -----
    Each within some 2 eps of the norm of the matrix (LAPACK's dstebz with abstol = eps norm), and
    independent of the others: k eigenvalues cost k/n of all.
    """
    like = d if device_of(d) is not None else e
    for name, values in (("d", d), ("e", e)):
        if device_of(values) is not None:
            describe(name, values)  # refuses complex numbers before anything is copied
    device = resolve(device, d, e, work=_length(d), break_even=BREAK_EVEN)
    d, e = checked_real("d", d), checked_real("e", e)
    if d.ndim != 1 or e.shape != (max(len(d) - 1, 0),):
        raise ValueError(f"d and e must have shapes (n,) and (n - 1,), got {d.shape} and {e.shape}")
    checked_bool("check_finite", check_finite)
    search = Search.checked(select, select_range, tol, len(d))
    for name, values in (("d", d), ("e", e)):
        if not np.isfinite(values).all():
            where = int(np.argmin(np.isfinite(values)))
            raise ValueError(f"{name} must be finite, got {values[where]} at index {where}")
    values = bisect(d, e, search, device)
    return deliver(representable("d, e", values, np.result_type(d, e)), like)


def _length(d) -> int:
    """Return the number of elements of an array_like, 0 for what has none."""
    try:
        return len(d)
    except TypeError:
        return 0


@dataclass(frozen=True)
class Search:
    """Eigenvalues to look for, and how closely.

    Attributes
    ----------
    kind : {"a", "v", "i"}
    low, high : ends of an interval of values, or first and last index
    tolerance : absolute, 0 for the default
    """

    kind: str
    low: float
    high: float
    tolerance: float = 0.0

    @classmethod
    def checked(cls, select, select_range, tol, n: int) -> Search:
        """Validate the arguments of a public function for a matrix of order n."""
        tolerance = 0.0 if tol is None else max(errors.real("tol", tol), 0.0)
        return cls(*_selection(select, select_range, n), tolerance)


_SELECTIONS = {
    **{"a": "a", "all": "a", 0: "a"},
    **{"v": "v", "value": "v", 1: "v"},
    **{"i": "i", "index": "i", 2: "i"},
}
"""What SciPy takes for `select`."""


def _selection(select, select_range, n):
    """Return the kind of a selection, and the ends of its range: indices or values."""
    key = select.lower() if isinstance(select, str) else select
    if not isinstance(key, str | int | np.integer) or isinstance(key, bool):
        key = None
    if key not in _SELECTIONS:
        options = "'a' ('all', 0), 'v' ('value', 1), 'i' ('index', 2)"
        raise ValueError(f"select must be one of {options}, got {select!r}")
    kind = _SELECTIONS[key]
    if kind == "a":
        return kind, 0, n - 1
    try:
        low, high = map(float, select_range)
    except (TypeError, ValueError):
        raise ValueError(
            f"select_range must be a pair of numbers for select={select!r}, got {select_range!r}"
        ) from None
    if kind == "v":
        if not low < high:
            raise ValueError(f"select_range must be ascending, got ({low}, {high})")
        return kind, low, high
    if not (low.is_integer() and high.is_integer() and 0 <= low <= high < n):
        raise ValueError(
            f"select_range must hold indices 0 <= first <= last < {n}, got {select_range!r}"
        )
    return kind, int(low), int(high)


def bisect(d, e, search: Search, device, factor: float = 1.0) -> np.ndarray:
    """Compute eigenvalues of a tridiagonal matrix that was multiplied by a power of two.

    `d` and `e` are NumPy arrays of the scaled matrix; `search` and the float64 results are those of
    the matrix itself, so that results overflow only where eigenvalues do.
    """
    d, e = d.astype(float, copy=False), e.astype(float, copy=False)
    if not d.any() and not e.any():  # the empty matrix is one of these
        inside = search.kind != "v" or search.low < 0.0 <= search.high
        count = int(search.high - search.low) + 1 if search.kind == "i" else len(d)
        return np.zeros(count if inside else 0)
    with device.active(), region("eigenvalues by bisection"):
        return _Bisection(d, e, device, factor).values(search)


def representable(name: str, values: np.ndarray, dtype) -> np.ndarray:
    """Round float64 eigenvalues to `dtype`.

    Raises
    ------
    ValueError
        An eigenvalue is beyond the largest number of this type.
    """
    with np.errstate(over="ignore"):
        rounded = values.astype(dtype)
    if not np.isfinite(rounded).all():
        raise ValueError(
            f"{name} is too large: an eigenvalue overflows {np.dtype(dtype)}, which ends at "
            f"{np.finfo(dtype).max:.4g}. Divide the matrix by a power of two"
        )
    return rounded


class _Bisection:
    """A tridiagonal matrix on a device, scaled so that squares are harmless."""

    def __init__(self, d, e, device, factor):
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
        self.factor = factor  # of the matrix that came in
        self.space = Workspace(device)
        self.matrix = self.space.input("d", d), self.space.input("e", squares)
        self.loops = twin("sbth._sturm", device)

    def values(self, search: Search) -> np.ndarray:
        """Return the eigenvalues that `search` asks for, ascending."""
        if search.kind == "v":
            # Below the next float: the interval has its right end and not its left one.
            ends = [np.nextafter(self._scaled(v), np.inf) for v in (search.low, search.high)]
            first, stop = self.below(np.clip(ends, self.low, self.high))
        else:
            first, stop = search.low, search.high + 1
        least = max(self.least, min(self._scaled(search.tolerance), self.high - self.low))
        if stop <= first:
            return np.zeros(0)
        found = self.space.output((int(stop - first),))
        self.loops.bisect(
            *self.matrix,
            self.tiny,
            least,
            self.low,
            self.high,
            int(first),
            found,
            self.space.stream,
        )
        # Neighbours that agree to rounding may have come out in either order.
        scaled = np.sort(self.space.result(found, (int(stop - first),)))
        with np.errstate(over="ignore"):  # `representable` looks for infinity
            return scaled / self.scale / self.factor

    def _scaled(self, value: float) -> float:
        with np.errstate(over="ignore"):
            return np.float64(value) * self.factor * self.scale

    def below(self, x) -> np.ndarray:
        """How many eigenvalues are below each x."""
        counts = self.space.output(x.shape, np.int64)
        places = self.space.input("x", x)
        self.loops.below(*self.matrix, self.tiny, places, counts, self.space.stream)
        return self.space.result(counts, x.shape)


def eigvals_banded(
    a_band,
    lower=False,
    overwrite_a_band=False,
    select="a",
    select_range=None,
    check_finite=True,
    *,
    tol=None,
    device=None,
):
    """Compute eigenvalues of a symmetric band matrix, as `scipy.linalg.eigvals_banded` does.

    Parameters
    ----------
    a_band : array_like (bandwidth + 1, n) of float
        LAPACK band storage: a_band[bandwidth + i - j, j] is element (i, j) of the upper triangle,
        or with `lower` a_band[i - j, j] is element (i, j) of the lower one. Entries outside the
        matrix are ignored. An array on a GPU is reduced there.
    lower : bool
        Whether `a_band` holds the lower triangle. As in SciPy, the upper one is the default.
    overwrite_a_band : bool
        Accepted for the sake of SciPy's signature: `a_band` is never modified.
    select, select_range, check_finite, tol, device
        See `eigvalsh_tridiagonal`.

    Returns
    -------
    array of float64 (float32 if `a_band` is), ascending
        A NumPy array, or for an `a_band` on a GPU an array of its library on that GPU.

    Raises
    ------
    TypeError, ValueError, hetero.DeviceUnavailableError
        As `tridiagonalize` and `eigvalsh_tridiagonal`. Elements of the tridiagonal matrix that
        overflow do no harm as long as the eigenvalues that were asked for do not.
    """
    lower = checked_bool("lower", lower)
    checked_bool("overwrite_a_band", overwrite_a_band)
    checked_bool("check_finite", check_finite)
    band = checked_band(a_band, "a_band")
    shape = band.shape if isinstance(band, np.ndarray) else describe("a_band", band)[0]
    search = Search.checked(select, select_range, tol, shape[1])
    return deliver(band_eigenvalues("a_band", band, lower, search, device), a_band)


def band_eigenvalues(name: str, ab, lower: bool, search: Search, device, factor: float = 1.0):
    """Compute eigenvalues, in host memory, of a checked band that was multiplied by `factor`."""
    requested = device
    device, options = choose_method(ab, (None, None, False), requested)
    with device.active(), region("band to tridiagonal"):
        space = Workspace(device, ab)
        matrix = reduce_band(ab, lower, options, space, name)
        d, e = matrix.diagonals(scaled=True)
    if device_of(ab) is None:
        device = resolve(requested, work=len(d), break_even=BREAK_EVEN)
    values = bisect(d, e, search, device, factor * matrix.factor)
    return representable(name, values, matrix.dtype)
