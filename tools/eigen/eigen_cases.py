"""Cases of `tools/eigen_campaign.py`: a random matrix, what is wanted, and the judge of results."""

import math
from typing import Any

import numpy as np

from eigen_matrices import MAKERS

RATIO = 3.0, 2.0
"""Accepted residual and deviation from orthogonality, in units of n eps and the norm: for orders
below 100, for complex ones and float32, and for other ones from there on. Complex bands are
reduced by rotations, whose errors add up."""

LEAST_ORDER = 20
"""Order below which limits are those of this order."""


class Deviation(Exception):
    """What is wrong with a result."""


class Case:
    """A random matrix, with its eigenvalues by NumPy, and the words that describe what is done.

    Attributes
    ----------
    a : array (n, n)
        The matrix in its dtype, multiplied by `scale`, a power of two.
    unit : array (n, n) of float64 or complex128
        The matrix without the factor, exactly.
    every : float64 (n,)
        Its eigenvalues, ascending.
    """

    def __init__(self, seed: int, number: int) -> None:
        self.rng = rng = np.random.default_rng([seed, number])
        order = int(
            rng.integers(*((2, 60), (60, 200), (200, 360))[rng.choice(3, p=(0.7, 0.25, 0.05))])
        )
        maker = MAKERS[rng.integers(len(MAKERS))]
        a = maker(order, rng)
        if rng.random() < 0.2:
            chosen = rng.permutation(len(a))
            a = a[np.ix_(chosen, chosen)]
        self.n = n = len(a)
        dtype = np.dtype(rng.choice(list("dddddfDDF")))
        if dtype.kind == "c":
            phases = np.exp(1j * rng.uniform(0.0, 6.0, n))
            a = phases[:, None] * a * phases.conj()
            a = 0.5 * (a + a.conj().T)
        a = a.astype(dtype)
        self.unit = a.astype(np.promote_types(dtype, float))
        power = int(rng.choice([-1, 0, 0, 0, 0, 1])) * (500 if dtype.char in "dD" else 50)
        self.scale = 2.0**power
        self.a = a * a.real.dtype.type(self.scale)
        self.eps = float(np.finfo(dtype).eps)
        self.every = np.linalg.eigvalsh(self.unit)
        self.norm = float(np.abs(self.every).max())
        self.limit = RATIO[n >= 100 and dtype.char == "d"] * max(n, LEAST_ORDER) * self.eps
        self.words = [maker.__name__, f"n={n}", dtype.name, f"scale=2^{power}"]

    def say(self, *words: object) -> None:
        """Add words to the description."""
        self.words += map(str, words)

    def choose(self, *options: Any) -> Any:
        """Return one of some options, and add it to the description."""
        option = options[self.rng.integers(len(options))]
        self.say(option)
        return option

    def near_an_eigenvalue(self) -> float:
        """Return an eigenvalue, or a number near one."""
        value = float(self.rng.choice(self.every))
        distance = float(self.rng.choice([0.0, 1e-17, 1e-15, 1e-13, 1e-10, 1e-7, 1e-4, 1e-2]))
        return value + float(self.rng.choice([-1.0, 1.0])) * distance * (self.norm or 1.0)

    def subset(self) -> tuple[str, tuple | None]:
        """Return a selection: "a", "i" with two indices, or "v" with an interval (unscaled)."""
        kind = str(self.rng.choice(["a", "i", "i", "v"]))
        if kind == "a":
            return kind, None
        if kind == "i":
            most = max(1, int(self.n / self.rng.choice([1, 2, 6, 12, 1000])))
            count = int(self.rng.integers(1, most + 1))
            middle = int(self.rng.integers(0, self.n - count + 1))
            first = int(self.rng.choice([0, middle, self.n - count]))
            return kind, (first, first + count - 1)
        ends = [self.near_an_eigenvalue() for _ in range(2)]
        low, high = min(ends), max(ends)
        low = -math.inf if self.rng.random() < 0.2 else low
        return kind, (low, high) if low < high else (low, math.inf)

    def judge(self, kind: str, chosen: tuple | None, w: Any, v: Any, limit: float = 0.0) -> None:
        """Compare results for a subset with what was asked for."""
        limit = limit or self.limit
        w, expected = self.read_values(w), self.every
        tolerance = limit * self.norm
        if kind == "v":
            low, high = chosen or (-math.inf, math.inf)
            least, most = (
                np.searchsorted(expected, high + sign * tolerance, side="right")
                - np.searchsorted(expected, low - sign * tolerance, side="right")
                for sign in (-1.0, 1.0)
            )
            if not max(least, 0) <= w.size <= most:
                raise Deviation(f"{w.size} pairs, not {least} to {most}")
            self.require_values(w, tolerance)
        else:
            first, last = chosen or (0, self.n - 1)
            expected = expected[first : last + 1]
            if w.shape != expected.shape:
                raise Deviation(f"{w.size} pairs, not {expected.size}")
            self.require(np.max(np.abs(w - expected)), tolerance, "eigenvalues are off by")
        if v is not None:
            self.require_pairs(self.unit, w, v, limit)

    def read_values(self, w: Any) -> np.ndarray:
        """Return computed eigenvalues without the factor; they must be ascending."""
        w = np.asarray(w).astype(float) / self.scale
        if np.any(np.diff(w) < 0.0) or not np.isfinite(w).all():
            raise Deviation("eigenvalues are not ascending, or not finite")
        return w

    def require_values(self, w: np.ndarray, tolerance: float) -> None:
        """Compare with the list, also how often values occur."""
        ends = zip(
            *(
                (np.searchsorted(x, w - t), np.searchsorted(x, w + t, "right"))
                for x, t in ((w, tolerance), (self.every, 2.0 * tolerance))
            ),
            strict=True,
        )
        (first, least), (stop, most) = ends
        if np.any(stop - first > most - least):
            raise Deviation("a value occurs more often than in the list")

    def require_pairs(self, a: np.ndarray, w: np.ndarray, v: Any, limit: float) -> None:
        """Check residuals and orthogonality."""
        v = np.asarray(v).astype(self.unit.dtype)
        if v.shape != (self.n, w.size):
            raise Deviation(f"vectors of shape {v.shape}")
        if w.size:
            residual = np.max(np.linalg.norm(a @ v - v * w, axis=0))
            self.require(float(residual), limit * self.norm, "residual")
            deviation = np.linalg.norm(v.conj().T @ v - np.eye(w.size), 1)
            self.require(float(deviation), max(limit, self.limit), "orthogonality")

    @staticmethod
    def require(value: float, limit: float, what: str) -> None:
        """Raise Deviation for a value above its limit, or NaN."""
        if not value <= limit:
            raise Deviation(f"{what} {value:.3g}, limit {limit:.3g}")

    def interval(self, chosen: tuple | None) -> tuple | None:
        """Return the ends of an interval as the matrix has them."""
        return None if chosen is None else tuple(x * self.scale for x in chosen)
