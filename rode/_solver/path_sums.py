"""Distribution of an Ornstein-Uhlenbeck path's sums over a coarse step, given its start.

dO = -O/tau dt + sqrt(c) dW, seen at fine steps of delta: O' = mu O + sigma n. The state
s = (O, F_0, .., F_D) of `_paths.step_formulas` obeys s' = T s + b n with a constant triangular T,
so all of it is linear algebra of small matrices: T^M carries a state over M fine steps, and the
covariance is the sum of T^k b b^T T^kT. Both are computed by doubling, in high precision, because
the matrices are as badly conditioned as Hilbert's.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from rode.process import Process

DIGITS = 80
"""Decimal digits of the arithmetic with these matrices; not tuned."""


@dataclass(frozen=True, eq=False)
class GaussianDistribution:
    """Distribution of the Gaussian vector mean O_0 + factor n, n standard normal, given O_0.

    Attributes
    ----------
    mean : (size,) array
    factor : (size, size) lower triangular array
    """

    mean: np.ndarray
    factor: np.ndarray

    @property
    def covariance(self) -> np.ndarray:
        """Covariance matrix of the vector given O_0."""
        return self.factor @ self.factor.T


@functools.lru_cache(maxsize=256)
def transfer(process: Process, delta: float, degree: int, steps: int) -> np.ndarray:
    """Return T^steps, which carries (O, F_0, .., F_degree) over fine steps without noise."""
    power, _ = _doubled(process, delta, degree, steps)
    return _floats(power)


@functools.lru_cache(maxsize=256)
def sums_distribution(
    process: Process, delta: float, degree: int, steps: int
) -> GaussianDistribution:
    """Return the distribution of (O_M, F_0, .., F_degree) after M = `steps` fine steps from O_0."""
    power, covariance = _doubled(process, delta, degree, steps)
    return _gaussian(power, covariance)


@functools.lru_cache(maxsize=256)
def integrals_distribution(process: Process, h: float, degree: int) -> GaussianDistribution:
    """Return the distribution of (O_h, J_0, .., J_degree), the limit delta -> 0 of sums.

    J_d = int_0^h (h - s)^d/d! O_s ds.

    Van Loan's integral: the exponential of one block matrix holds the transfer and the covariance.
    """
    with _precision() as flint:
        size = degree + 2
        block = flint.arb_mat(2 * size, 2 * size)
        block[0, 0], block[size, size] = 1 / _exact(process.tau), -1 / _exact(process.tau)
        for row in range(1, size):
            block[row, row - 1], block[size + row - 1, size + row] = flint.arb(-1), flint.arb(1)
        block[0, size] = _exact(process.c)
        exponential = (block * _exact(h)).exp()
        corner, power = (flint.arb_mat(size, size) for _ in range(2))
        for i in range(size):
            for j in range(size):
                corner[i, j] = exponential[i, size + j]
                power[i, j] = exponential[size + j, size + i]
        return _gaussian(power, power * corner)


def filter_distribution(
    F: np.ndarray, L: np.ndarray, C: np.ndarray, h: float, degree: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return matrices that make (s, J_0, .., J_degree) at the end of a step of s at its start.

    ds = F s dt + L dW, and J_d is the integral of (h - r)^d/d! C s_r over the step, with the
    components of C s. The first matrix, (size, states), multiplies s, and the second, (size, size),
    independent standard normal numbers (Van Loan 1978).
    """
    states, components = len(F), len(C)
    size = states + components * (degree + 1)
    A = np.zeros((size, size))
    A[:states, :states], A[states : states + components, :states] = F, C
    lower = np.arange(states + components, size)
    A[lower, lower - components] = 1.0
    noise = np.zeros((size, L.shape[1]))
    noise[:states] = L
    with _precision() as flint:
        block = flint.arb_mat(2 * size, 2 * size)
        for i, j in zip(*np.nonzero(A), strict=True):
            block[int(i), int(j)] = -_exact(float(A[i, j]))
            block[size + int(j), size + int(i)] = _exact(float(A[i, j]))
        for i in range(states):
            for j in range(states):
                products = (
                    _exact(float(x)) * _exact(float(y)) for x, y in zip(L[i], L[j], strict=True)
                )
                block[i, size + j] = sum(products, flint.arb(0))
        exponential = (block * _exact(h)).exp()
        corner, power = (flint.arb_mat(size, size) for _ in range(2))
        for i in range(size):
            for j in range(size):
                corner[i, j] = exponential[i, size + j]
                power[i, j] = exponential[size + j, size + i]
        factor = _floats(_cholesky(power * corner))
        return _floats(power)[:, :states].copy(), factor


def _doubled(process: Process, delta: float, degree: int, steps: int) -> tuple[Any, Any]:
    """Return T^steps and the sum of T^k b b^T T^kT for k < steps, in high precision."""
    with _precision() as flint:
        size, x = degree + 2, -_exact(delta) / _exact(process.tau)
        power, covariance, base, noise = (flint.arb_mat(size, size) for _ in range(4))
        base[0, 0] = base[1, 0] = x.exp()
        for row in range(1, size):
            base[row, row] = flint.arb(1)
        for row in range(2, size):
            base[row, row - 1] = flint.arb(1)
        variance = -_exact(process.c) * _exact(process.tau) / 2 * (2 * x).expm1()
        for i, j in ((0, 0), (0, 1), (1, 0), (1, 1)):
            noise[i, j] = variance
        for row in range(size):
            power[row, row] = flint.arb(1)
        for bit in f"{steps:b}":
            covariance = power * covariance * power.transpose() + covariance
            power = power * power
            if bit == "1":
                covariance = base * covariance * base.transpose() + noise
                power = base * power
        return power, covariance


def _gaussian(power: Any, covariance: Any) -> GaussianDistribution:
    """Return the distribution for the first column of T^M and a covariance."""
    with _precision():
        return GaussianDistribution(_floats(power)[:, 0].copy(), _floats(_cholesky(covariance)))


def _cholesky(a: Any) -> Any:
    """Return the lower triangular factor; if rounding hides a pivot, its column is zero."""
    from flint import arb, arb_mat

    size = a.nrows()
    lower, least = arb_mat(size, size), arb(10) ** (-DIGITS // 2)
    for j in range(size):
        pivot = a[j, j] - sum((lower[j, k] ** 2 for k in range(j)), arb(0))
        if not pivot > a[j, j] * least:
            continue
        lower[j, j] = pivot.sqrt()
        for i in range(j + 1, size):
            remainder = a[i, j] - sum((lower[i, k] * lower[j, k] for k in range(j)), arb(0))
            lower[i, j] = remainder / lower[j, j]
    return lower


def _exact(number: float) -> Any:
    """Return a ball of radius 0."""
    from flint import arb

    return arb(number)


def _floats(matrix: Any) -> np.ndarray:
    """Return the midpoints of a matrix of balls."""
    return np.array([[float(x.mid()) for x in row] for row in matrix.tolist()])


@contextlib.contextmanager
def _precision() -> Iterator[Any]:
    """Yield the module flint, set to `DIGITS` decimal digits within the block."""
    import flint

    before = flint.ctx.dps
    flint.ctx.dps = DIGITS
    try:
        yield flint
    finally:
        flint.ctx.dps = before
