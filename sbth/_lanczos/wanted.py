"""The eigenvalues that are wanted: how many at which ends of the spectrum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

_RANKS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "LM": np.abs,
    "SM": lambda values: -np.abs(values),
    "LA": lambda values: values,
    "SA": lambda values: -values,
}
"""Functions that are larger for eigenvalues that are wanted more."""

WHICH = (*_RANKS, "BE")
"""Values of `which`, as in ARPACK."""


@dataclass(frozen=True)
class End:
    """One end of the spectrum.

    Attributes
    ----------
    which : {"LM", "SM", "LA", "SA"}
    count : int
        Number of eigenvalues that are wanted there.
    """

    which: str
    count: int

    def rank(self, values: np.ndarray) -> np.ndarray:
        """Return numbers that are larger for values that are wanted more."""
        return _RANKS[self.which](values)

    def order(self, values: np.ndarray, ties: np.ndarray | None = None) -> np.ndarray:
        """Return the indices of values, the most wanted one first.

        Equal ones are in the order in which the numbers `ties` in their places are wanted.
        """
        if ties is None:
            return np.argsort(-self.rank(values), kind="stable")
        return np.lexsort((-self.rank(ties), -self.rank(values)))


def wanted_ends(which: str, k: int) -> tuple[End, ...]:
    """Return the ends for `which`; "BE" takes the odd one at the upper end, as ARPACK does."""
    if which != "BE":
        return (End(which, k),)
    ends = End("LA", k - k // 2), End("SA", k // 2)
    return tuple(end for end in ends if end.count)


def choose_wanted(
    ends: tuple[End, ...], values: np.ndarray, ties: np.ndarray | None = None
) -> np.ndarray:
    """Return the indices of the wanted ones of at least k values, in ascending order of index.

    `ties` says which of equal ones; see `End.order`.
    """
    chosen = np.zeros(values.size, bool)
    for end in ends:
        order = end.order(values, ties)
        order = order[~chosen[order]]
        chosen[order[: end.count]] = True
    return np.flatnonzero(chosen)


def most_wanted(ends: tuple[End, ...], values: np.ndarray, count: int) -> np.ndarray:
    """Return the indices of the `count` most wanted values, taken from all ends in turn."""
    orders = [end.order(values) for end in ends]
    in_turn = np.stack(orders, axis=1).ravel()
    _, first = np.unique(in_turn, return_index=True)
    return in_turn[np.sort(first)][:count]
