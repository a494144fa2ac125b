"""An orthonormal basis: locked eigenvectors, and a Krylov space orthogonal to them.

In the basis of the Krylov space the operator is the real symmetric matrix T of a thick restart (Wu
and Simon 2000): a diagonal of the Ritz values that were kept, a border that couples them to the
next vector, and a tridiagonal matrix from there on.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hetero.distributed.cancellation import raise_if_stopped
from sbth._lanczos.operators import Operator

CANCELLATION = 0.7
"""Vectors are orthogonalized again if this share of their length, or less, is left: then rounding
errors of the first pass are no longer small beside it (Daniel, Gragg, Kaufman and Stewart 1976)."""

BREAKDOWN = 16.0
"""Length, in units of eps times the norm of the operator, of a vector that is rounding error: the
Krylov space is then invariant, and continued with a random vector."""

_SINGLE_THREAD = 1 << 21
"""Elements of arrays below which NumPy's own loops multiply them by vectors. They are a fifth
slower than one thread of the BLAS, but waking its other threads takes milliseconds if other
processes use the cores."""

_PASSES = 4
"""Most passes of orthogonalization: two suffice unless a vector is rounding error."""


class KrylovSpace:
    """Locked eigenvectors and a Krylov space.

    Parameters
    ----------
    operator : Operator
    capacity : int
        Most eigenvectors that are locked at a time.
    size : int
        Most vectors of the Krylov space.
    random : numpy.random.Generator

    Attributes
    ----------
    rows : array of the operator's array module (capacity + size + 1, n)
        Locked vectors, then those of the Krylov space, then the next one.
    values : float64 (locked,)
        Eigenvalues of the locked vectors, in host memory.
    kept, size : int
        Vectors of the Krylov space that a restart left, and all of them.
    t : float64 (size, size)
        The matrix T, in host memory.
    coupling : float
        Length of the part of the operator's image that is outside of the space.
    is_complete : bool
        Whether the locked vectors and the Krylov space are a basis of the whole space.
    norm : float
        Largest absolute value of T so far: an estimate of the operator's norm.
    """

    def __init__(
        self, operator: Operator, capacity: int, size: int, random: np.random.Generator
    ) -> None:
        self.operator, self.xp, self.random = operator, operator.xp, random
        self.most, n = size, operator.order
        self.rows = self.xp.empty((capacity + size + 1, n), operator.dtype)
        self.values = np.zeros(0)
        self.kept = self.size = 0
        self.t = np.zeros((0, 0))
        self.border = np.zeros(0)
        self.coupling = self.norm = 0.0
        self.is_complete = False

    @property
    def locked(self) -> int:
        """Number of locked eigenvectors."""
        return self.values.size

    def begin(self, start: Any = None) -> None:
        """Begin a new Krylov space, orthogonal to locked vectors, by default at random."""
        self.kept = self.size = 0
        self.border = np.zeros(0)
        self.coupling, self.is_complete = 0.0, False
        if start is None:
            self._append_random(self.locked)
        else:
            self.rows[0] = start / self._length(start)

    def expand(self) -> None:
        """Extend the Krylov space to its full size."""
        size = min(self.most, self.operator.order - self.locked)
        t = np.zeros((size, size))
        t[: self.kept, : self.kept] = np.diag(self.t.diagonal()[: self.kept])
        t[self.kept : self.kept + 1, : self.kept] = self.border
        self.t, self.size, self.coupling = t, size, 0.0
        for j in range(self.kept, size):
            raise_if_stopped()
            t[j, j], self.coupling = self._step(j)
            if j + 1 < size:
                t[j + 1, j] = self.coupling
        self.is_complete = self.locked + size == self.operator.order
        if self.is_complete:
            self.coupling = 0.0  # what is left is rounding error

    def ritz_pairs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return Ritz values (m,), vectors in the basis (m, m), and the norms of residuals."""
        values, vectors = np.linalg.eigh(self.t, "L")
        return values, vectors, self.coupling * np.abs(vectors[-1])

    def restart(
        self, values: np.ndarray, vectors: np.ndarray, locked: np.ndarray, retained: np.ndarray
    ) -> None:
        """Lock some Ritz vectors, keep some others, and go on with the next vector.

        Parameters
        ----------
        values, vectors : float64 (size,), (size, size)
            All Ritz pairs.
        locked, retained : int64
            Indices of Ritz pairs.
        """
        first, end = self.locked, self.locked + self.size
        chosen = np.concatenate([locked, retained])
        turned = self.xp.asarray(vectors[:, chosen].T, dtype=self.operator.dtype)
        ritz_vectors = turned @ self.rows[first:end]
        following = self.rows[end].copy()
        for i in range(locked.size):  # these stay as they are: they are orthonormal to rounding
            ritz_vectors[i], _ = self._orthonormalize(ritz_vectors[i], self.rows[: first + i])
            self.rows[first + i] = ritz_vectors[i]
        start = first + locked.size
        self.values = np.concatenate([self.values, values[locked]])
        self.rows[start : start + retained.size] = ritz_vectors[locked.size :]
        self.kept = self.size = retained.size
        self.t = np.diag(values[retained])
        self.border = self.coupling * vectors[-1, retained]
        if not self.is_complete:
            self.rows[start + retained.size] = following

    def multiply_locked(self) -> None:
        """Multiply the locked vectors by the operator, and make them orthonormal.

        Those of the largest eigenvalues are first, of which the others then have no part.
        """
        order = np.argsort(-np.abs(self.values), kind="stable")
        self.values = self.values[order]
        for i, v in enumerate(self.rows[self.xp.asarray(order)]):
            self.rows[i], _ = self._orthonormalize(self.operator.apply(v), self.rows[:i])

    def drop(self, keep: np.ndarray) -> None:
        """Unlock all locked vectors but those with the indices `keep`, right after a restart."""
        if keep.size < self.locked:
            others = np.arange(self.locked, self.locked + self.kept + 1)
            rows = self.xp.asarray(np.concatenate([keep, others]))
            self.rows[: rows.size] = self.rows[rows]
            self.values = self.values[keep]

    def _step(self, j: int) -> tuple[float, float]:
        """Compute vector j + 1 of the Krylov space; return an element of T's diagonal and the next.

        The second one is 0 if the space is invariant; the vector is then a random one.
        """
        xp, first = self.xp, self.locked
        v = self.rows[first + j]
        w = self.operator.apply(v)
        diagonal = self._dot(v, w)
        if not math.isfinite(diagonal):
            self.operator.refuse_values()
        w = w - diagonal * v
        if j == self.kept and j:
            border = xp.asarray(self.border, dtype=w.dtype)
            w -= _combine(border, self.rows[first : first + j])
        elif j:
            w -= float(self.t[j, j - 1]) * self.rows[first + j - 1]
        w, length = self._orthonormalize(w, self.rows[: first + j + 1])
        self.norm = max(self.norm, abs(diagonal), length)
        if length <= BREAKDOWN * self.operator.eps * self.norm:
            if first + j + 1 < self.operator.order:
                self._append_random(first + j + 1)
            return diagonal, 0.0
        self.rows[first + j + 1] = w
        return diagonal, length

    def _orthonormalize(self, w: Any, rows: Any) -> tuple[Any, float]:
        """Return a vector without its parts along `rows` and normalized, and its length before."""
        before = self._length(w)
        for _ in range(_PASSES):
            w = w - _combine(_multiply(rows, w.conj()).conj(), rows)
            length = self._length(w)
            if not math.isfinite(length):
                self.operator.refuse_values()
            if length > CANCELLATION * before:
                break
            before = length
        return w / length if length else w, length

    def _dot(self, x: Any, y: Any) -> float:
        """Return the real part of the inner product of two vectors."""
        if isinstance(x, np.ndarray) and x.size < _SINGLE_THREAD:
            return float(np.einsum("i,i->", x.conj(), y).real)
        return float(self.xp.vdot(x, y).real)

    def _length(self, x: Any) -> float:
        """Return the length of a vector."""
        return math.sqrt(self._dot(x, x))

    def _append_random(self, index: int) -> None:
        """Store a random vector, orthogonal to the rows before it, as row `index`."""
        w = self.operator.random_vector(self.random)
        self.rows[index], _ = self._orthonormalize(w, self.rows[:index])


def _multiply(rows: Any, vector: Any) -> Any:
    """Return the products of rows (m, n) with a vector (n,)."""
    if isinstance(rows, np.ndarray) and rows.size < _SINGLE_THREAD:
        return np.einsum("ij,j->i", rows, vector)
    return rows @ vector


def _combine(weights: Any, rows: Any) -> Any:
    """Return the sum of rows (m, n) times weights (m,)."""
    if isinstance(rows, np.ndarray) and rows.size < _SINGLE_THREAD:
        return np.einsum("i,ij->j", weights, rows)
    return weights @ rows
