"""Thick-restart Lanczos with locking, and the search for copies of multiple eigenvalues."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sbth._lanczos.arguments import Arguments
from sbth._lanczos.krylov_space import KrylovSpace
from sbth._lanczos.operators import Operator
from sbth._lanczos.wanted import choose_wanted, most_wanted

CONVERGED = 10.0
"""Residual, in units of eps times the largest Ritz value, at which a pair has converged without
`tol`. Rounding errors of the small eigenproblem are about as large."""

TIE = 100.0
"""Difference, in units of eps times the largest Ritz value, of eigenvalues that count as equal, so
that rounding errors do not make one copy of a multiple eigenvalue wanted more than another."""

MISSED = 1e-4
"""Probability, for exact arithmetic and a random start, that the search for copies misses one.

The Ritz vector of the most wanted Ritz value is p(A) x for the start x and a polynomial p whose
zeros are less wanted. A unit eigenvector u with an eigenvalue that is wanted more has a larger
share in it than in x, so that the residual is at least |u^T x| times the distance of the two
values. As |u^T x| is about |N(0, 1)| / sqrt(n), a residual of at most MISSED / sqrt(n) times that
distance leaves about this probability."""

_KEPT_SHARE = 0.5
"""Share of the Krylov space beyond the wanted Ritz vectors that a restart keeps. Not tuned."""


@dataclass
class Outcome:
    """Eigenpairs that an iteration has computed, and how it ended.

    Attributes
    ----------
    values : float64 (m,)
        Eigenvalues that have converged, in host memory, in no order.
    rows : array of the operator's array module (m, n)
        Their eigenvectors.
    is_converged : bool
        True if they are the wanted ones, and the search for copies has ended.
    restarts : int
        Number of cycles.
    residual : float
        Largest |A v - w v| of the matrix itself, in units of |A|; 0 if it was not measured.
    """

    values: np.ndarray
    rows: Any
    is_converged: bool
    restarts: int
    residual: float = 0.0


Advance = Callable[[float], None]
"""Function that reports how many more eigenpairs have converged."""


class Iteration:
    """An iteration of thick-restart Lanczos (Wu and Simon 2000)."""

    def __init__(
        self,
        operator: Operator,
        arguments: Arguments,
        random: np.random.Generator,
        advance: Advance,
    ) -> None:
        self.arguments, self.ends, self.advance = arguments, arguments.ends, advance
        self.n, self.eps = operator.order, operator.eps
        self.space = KrylovSpace(operator, 2 * arguments.k, arguments.size, random)
        self.missing = [end.count for end in self.ends]
        self.restarts = self.copies = 0

    def run(self, start: Any) -> Outcome:
        """Compute the wanted eigenpairs, from a start vector or a random one."""
        self.space.begin(start)
        is_converged = self._run_cycles(self._lock_first, lambda *_: not any(self.missing))
        while is_converged and self.arguments.search_copies and not self.space.is_complete:
            self.copies = 0
            self.space.begin()
            is_converged = self._run_cycles(self._lock_copies, self._has_no_more_copies)
            if not self.copies:
                break
        return self.outcome(is_converged)

    def outcome(self, is_converged: bool = True) -> Outcome:
        """Return the locked eigenpairs."""
        rows = self.space.rows[: self.space.locked]
        return Outcome(self.space.values, rows, is_converged, self.restarts)

    def resume(self, keep: np.ndarray) -> Outcome:
        """Compute all wanted eigenpairs anew, but for locked ones with the indices `keep`.

        Convergence is then measured beside the norm of the operator on the other vectors.
        """
        self.space.drop(keep)
        self.space.norm = 0.0
        values, ends = self.space.values, self.ends
        locked = [values.size]
        if len(ends) > 1:  # the upper and the lower end
            locked = [int(np.sum(values > 0.0)), int(np.sum(values <= 0.0))]
        self.missing = [max(0, e.count - m) for e, m in zip(ends, locked, strict=True)]
        return self.run(None)

    def _run_cycles(self, choose: Callable, is_done: Callable) -> bool:
        """Run cycles until they are done; return False if their number is exhausted before."""
        space = self.space
        while self.restarts < self.arguments.restarts:
            self.restarts += 1
            space.expand()
            values, vectors, residuals = space.ritz_pairs()
            converged = residuals <= self._tolerances(values)
            locked = choose(values, converged)
            others = np.setdiff1d(np.arange(values.size), locked)
            count = self._retained_count(locked.size)
            retained = others[most_wanted(self.ends, values[others], count)]
            space.restart(values, vectors, locked, retained)
            if not any(self.missing):
                self._forget_unwanted()
            if is_done(values[others], residuals[others]):
                return True
            if space.is_complete:  # nothing is left to compute, as all Ritz pairs are exact
                return True
        return False

    def _tolerances(self, values: np.ndarray) -> np.ndarray:
        """Return the residuals at which Ritz values have converged."""
        largest = float(np.max(np.abs(values), initial=0.0))
        smallest = CONVERGED * self.eps * largest
        return np.maximum(smallest, self.arguments.tolerance * np.abs(values))

    def _ties(self, values: np.ndarray) -> np.ndarray:
        """Return the differences of eigenvalues that count as equal."""
        largest = float(np.max(np.abs(values), initial=0.0))
        return np.maximum(self._tolerances(values), TIE * self.eps * largest)

    def _retained_count(self, locked: int) -> int:
        """Return how many Ritz vectors a restart keeps, besides those that it locks."""
        size = min(self.space.most, self.n - self.space.locked - locked)
        missing = max(1, sum(self.missing))
        count = missing + int(_KEPT_SHARE * max(size - missing, 0))
        return max(0, min(count, size - 2))

    def _lock_first(self, values: np.ndarray, converged: np.ndarray) -> np.ndarray:
        """Return the indices of Ritz values to lock: converged ones of the most wanted."""
        if self.space.is_complete:  # all eigenvalues are known, also those that are wanted more
            self.missing = [0 for _ in self.missing]
            everything = np.concatenate([self.space.values, values])
            numbers = choose_wanted(self.ends, everything) - self.space.locked
            return numbers[numbers >= 0]
        locked: list[int] = []
        for number, end in enumerate(self.ends):
            order = [i for i in end.order(values) if i not in locked]
            chosen = [i for i in order[: self.missing[number]] if converged[i]]
            self.missing[number] -= len(chosen)
            locked += chosen
        self.advance(len(locked))
        return np.array(locked, np.int64)

    def _thresholds(self) -> list[float]:
        """Return for each end the rank of the least wanted of its locked eigenvalues."""
        locked = self.space.values
        return [np.sort(end.rank(locked))[-end.count] for end in self.ends]

    def _lock_copies(self, values: np.ndarray, converged: np.ndarray) -> np.ndarray:
        """Return the indices of converged Ritz values that are wanted more than a locked one."""
        chosen = np.zeros(values.size, bool)
        for end, threshold in zip(self.ends, self._thresholds(), strict=True):
            chosen |= converged & (end.rank(values) > threshold + self._ties(values))
        copies = np.flatnonzero(chosen)
        copies = copies[most_wanted(self.ends, values[copies], self.arguments.k)]
        self.copies += copies.size
        return copies

    def _has_no_more_copies(self, values: np.ndarray, residuals: np.ndarray) -> bool:
        """Return whether the most wanted Ritz values show that no wanted eigenvalue was missed."""
        if not values.size:
            return True
        rounding = CONVERGED * self.eps * float(np.max(np.abs(values)))
        share = MISSED / math.sqrt(self.n)
        for end, threshold in zip(self.ends, self._thresholds(), strict=True):
            first = end.order(values)[0]
            excess, tie = end.rank(values)[first] - threshold, self._ties(values)[first]
            if excess > tie:
                return False
            good_enough = self._tolerances(values)[first] if -excess <= tie else rounding
            if residuals[first] > max(good_enough, share * abs(excess)):
                return False
        return True

    def _forget_unwanted(self) -> None:
        """Unlock eigenvectors that are no longer among the wanted ones."""
        self.space.drop(choose_wanted(self.ends, self.space.values))
