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

from rode._paths.process import Process

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
    """
    with _precision() as flint:
        size = degree + 2
        generator, spread = flint.arb_mat(size, size), flint.arb_mat(size, size)
        generator[0, 0], spread[0, 0] = -1 / _exact(process.tau), _exact(process.c)
        for row in range(1, size):
            generator[row, row - 1] = flint.arb(1)
        return _gaussian(*_van_loan(generator, spread, h))


def filter_distribution(
    F: np.ndarray, L: np.ndarray, C: np.ndarray, h: float, degree: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return matrices that make (s, J_0, .., J_degree) at the end of a step of s at its start.

    ds = F s dt + L dW, and J_d is the integral of (h - r)^d/d! C s_r over the step, with the
    components of C s. The first matrix, (size, states), multiplies s, and the second, (size, size),
    independent standard normal numbers.
    """
    states, components = len(F), len(C)
    size = states + components * (degree + 1)
    with _precision() as flint:
        generator, spread = flint.arb_mat(size, size), flint.arb_mat(size, size)
        for (i, j), value in np.ndenumerate(np.vstack([F, C])):
            generator[i, j] = _exact(float(value))
        for i in range(states + components, size):
            generator[i, i - components] = flint.arb(1)
        for i, j in np.ndindex(states, states):
            pairs = zip(map(_exact, L[i].tolist()), map(_exact, L[j].tolist()), strict=True)
            spread[i, j] = sum((x * y for x, y in pairs), flint.arb(0))
        power, covariance = _van_loan(generator, spread, h)
        return _floats(power)[:, :states].copy(), _floats(_cholesky(covariance))


def _van_loan(generator: Any, spread: Any, h: float) -> tuple[Any, Any]:
    """Return exp(A h) and the covariance of ds = A s dt + L dW after h from 0; L L^T is `spread`.

    The exponential of one block matrix holds both (Van Loan 1978).
    """
    from flint import arb_mat

    size = generator.nrows()
    block, power, corner = (arb_mat(n, n) for n in (2 * size, size, size))
    for i, j in np.ndindex(size, size):
        block[i, j], block[size + j, size + i] = -generator[i, j], generator[i, j]
        block[i, size + j] = spread[i, j]
    exponential = (block * _exact(h)).exp()
    for i, j in np.ndindex(size, size):
        corner[i, j], power[i, j] = exponential[i, size + j], exponential[size + j, size + i]
    return power, power * corner


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
