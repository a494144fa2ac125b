"""Selections of eigenvalues: all, those in an interval, or those with some indices."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from hetero import validation


@dataclass(frozen=True)
class Selection:
    """The eigenvalues to compute, and their accuracy.

    Attributes
    ----------
    kind : {"a", "v", "i"}
    low, high : float or int
        Ends of an interval of values, or first and last index.
    tolerance : float
        Absolute; 0 for the default.
    """

    kind: str
    low: float
    high: float
    tolerance: float = 0.0

    @classmethod
    def create(
        cls, select: Any, select_range: Any, tol: float | None, n: int, name: str = "select_range"
    ) -> Selection:
        """Validate the arguments of a public function for a matrix of order n.

        `name` is that of the argument `select_range`.
        """
        tolerance = 0.0 if tol is None else max(validation.check_finite("tol", tol), 0.0)
        return cls(*_parse_selection(select, select_range, n, name), tolerance)

    @classmethod
    def of_call(cls, arguments: dict[str, Any], n: int) -> Selection:
        """Validate the arguments of a call by their names, for matrices of order n."""
        select, name = arguments.get("select", "a"), "select_range"
        if arguments.get("subset_by_index") is not None:
            select, name = "i", "subset_by_index"
        return cls.create(select, arguments.get(name), arguments.get("tol"), n, name)

    def of_part(self, all_values: bool = False) -> Selection:
        """Return the selection among the eigenvalues of a part of the matrix.

        Nobody knows the indices of its eigenvalues among all, so that it takes all for "i", and
        with `all_values` for "v", too.
        """
        return self if self.kind == "v" and not all_values else Selection("a", 0, 0, self.tolerance)

    def bounds(self, values: np.ndarray) -> tuple[int, int]:
        """Return the indices of the first selected one of all eigenvalues, and of the next.

        `values` is in ascending order.
        """
        if self.kind == "v":
            first, stop = np.searchsorted(values, (self.low, self.high), side="right")
            return int(first), int(stop)
        return (int(self.low), int(self.high) + 1) if self.kind == "i" else (0, values.size)

    def clip(self, values: Any) -> Any:
        """Return eigenvalues in an interval, of which rounding may have put some beside it.

        Which are selected is counted; those beside an end become the nearest number within.
        """
        if not values.size:
            return values
        with np.errstate(over="ignore"):
            low, high = (values.dtype.type(x) for x in (self.low, self.high))
        # NumPy would round the ends of the interval to float32 for a comparison with float32.
        low = np.nextafter(low, np.inf) if float(low) <= self.low else low
        high = np.nextafter(high, -np.inf) if float(high) > self.high else high
        return values.clip(low, high) if low <= high else values

    def count_indices(self) -> int:
        """Return the number of eigenvalues of a selection by index."""
        return int(self.high - self.low) + 1

    def select(self, values: np.ndarray) -> np.ndarray:
        """Return the selected eigenvalues, in ascending order, out of those of all parts."""
        return self.select_sorted(np.sort(values))

    def select_sorted(self, values: np.ndarray) -> np.ndarray:
        """Return the selected eigenvalues out of all, which are in ascending order."""
        return values if self.kind == "a" else values[slice(*self.bounds(values))]


@functools.lru_cache(maxsize=64)
def select_all(n: int) -> Selection:
    """Return the selection of all eigenvalues of a matrix of order n."""
    return Selection("a", 0, n - 1)


_SELECT_KINDS = {
    **{"a": "a", "all": "a", 0: "a"},
    **{"v": "v", "value": "v", 1: "v"},
    **{"i": "i", "index": "i", 2: "i"},
}
"""Values of `select` in SciPy."""


def _parse_selection(select: Any, select_range: Any, n: int, name: str) -> tuple[str, float, float]:
    """Return the kind of a selection, and the ends of its range of indices or values."""
    key = select.lower() if isinstance(select, str) else select
    if not isinstance(key, str | int | np.integer) or isinstance(key, bool):
        key = None
    if key not in _SELECT_KINDS:
        options = "'a' ('all', 0), 'v' ('value', 1), 'i' ('index', 2)"
        raise ValueError(f"select must be one of {options}, got {select!r}")
    kind = _SELECT_KINDS[key]
    if kind == "a":
        return kind, 0, n - 1
    try:
        validation.require_unmasked(name, select_range)
        low, high = map(float, select_range)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"{name} must be a pair of numbers for select={select!r}, got {select_range!r}"
        ) from None
    if kind == "v":
        if not low < high:
            raise ValueError(f"{name} must be ascending, got ({low}, {high})")
        return kind, low, high
    if not (low.is_integer() and high.is_integer() and 0 <= low <= high < n):
        raise ValueError(f"{name} must hold indices 0 <= first <= last < {n}, got {select_range!r}")
    return kind, int(low), int(high)
