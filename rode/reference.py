"""Slow and obvious reference: one path and one step after another, by NumPy and SciPy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy import linalg

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from rode.process import Process

Field: TypeAlias = Callable[[np.ndarray], np.ndarray]
"""Right-hand side H of an equation."""


def ornstein_uhlenbeck(
    noise: Iterable[float], start: float, delta: float, process: Process
) -> np.ndarray:
    """Return O_1, O_2, .. from standard normal numbers: O' = mu O + sigma n."""
    mu = math.exp(-delta / process.tau)
    sigma = math.sqrt(process.c * process.tau / 2 * (1 - mu * mu))
    values: list[float] = []
    o = start
    for n in noise:
        o = mu * o + sigma * n
        values.append(o)
    return np.array(values)


def averages(o: np.ndarray, M: int) -> tuple[float, float]:
    """Return (A_1, A_2) of O_0 .. O_(M-1)."""
    first = sum(o[j] for j in range(M)) / M
    second = 2 / M**2 * sum((M - j) * o[j] for j in range(M))
    return first, second


def riemann(o: np.ndarray, M: int, delta: float, count: int) -> list[float]:
    """Return T_d of O_0 .. O_M, d < count."""
    h = M * delta
    return [
        delta
        / math.factorial(d)
        * sum((h - j * delta) ** d * (o[j] - o[0]) for j in range(1, M + 1))
        for d in range(count)
    ]


def euler(H: Field, B: np.ndarray, x: np.ndarray, o: np.ndarray, h: float, M: int) -> np.ndarray:
    """Take the step of the averaged Euler scheme for x' = H(x) + B O; o holds O_0 .. O_M."""
    return x + h * (B * averages(o, M)[0] + H(x))


def heun(H: Field, B: np.ndarray, x: np.ndarray, o: np.ndarray, h: float, M: int) -> np.ndarray:
    """Take the step of the averaged Heun scheme."""
    first, second = averages(o, M)
    y = x + h * (B * second + H(x))
    return x + h / 2 * (2 * B * first + H(x) + H(y))


def taylor(
    A: np.ndarray, B: np.ndarray, x: np.ndarray, o: np.ndarray, h: float, M: int, K: int
) -> np.ndarray:
    """Take the K-RODE-Taylor step of x' = A x + B O."""
    f, T = A @ x + B * o[0], riemann(o, M, h / M, K)
    power, total = np.eye(len(x)), np.zeros(len(x))
    for d in range(K):
        total = total + power @ (h ** (d + 1) / math.factorial(d + 1) * f + B * T[d])
        power = power @ A
    return x + total


def stationary_variance(
    A: np.ndarray,
    B: np.ndarray,
    scheme: str,
    K: int,
    h: float,
    M: int,
    process: Process,
    outputs: ArrayLike,
) -> np.ndarray:
    """Return the variances of linear outputs C x + D O in the stationary state of a scheme.

    The scheme is a linear map of (x, O_0) and M normal numbers; the discrete Lyapunov equation
    gives the covariance of (x, O) after many steps. `outputs` are rows over (x, O).
    """
    size, delta = len(B), h / M
    mu = math.exp(-delta / process.tau)
    sigma = math.sqrt(-process.c * process.tau / 2 * math.expm1(-2 * delta / process.tau))

    def step(x: np.ndarray, o: np.ndarray) -> np.ndarray:
        if scheme == "rode-taylor":
            return taylor(A, B, x, o, h, M, K)
        one = euler if scheme == "averaged-euler" else heun
        return one(lambda v: A @ v, B, x, o, h, M)

    transfer, noise = np.zeros((size + 1, size + 1)), np.zeros((size + 1, M))
    nothing = np.zeros(M + 1)
    for i in range(size):
        transfer[:size, i] = step(np.eye(size)[i], nothing)
    decay = mu ** np.arange(M + 1)
    transfer[:size, size], transfer[size, size] = step(np.zeros(size), decay), decay[-1]
    for k in range(1, M + 1):
        o = np.where(np.arange(M + 1) >= k, sigma * mu ** (np.arange(M + 1) - k), 0.0)
        noise[:size, k - 1], noise[size, k - 1] = step(np.zeros(size), o), o[-1]
    covariance = linalg.solve_discrete_lyapunov(transfer, noise @ noise.T)
    rows = np.asarray(outputs)
    return np.einsum("ij,jk,ik->i", rows, covariance, rows)


def kanai_tajimi(
    zeta: float = 0.64, omega: float = 15.56, tau: float = 1.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return A, B, and the outputs (x, x', u'') as rows over (x, z, O)."""
    A = np.array([[0.0, -1.0], [omega**2, -2 * zeta * omega]])
    B = np.array([-1.0, 1 / tau - 2 * zeta * omega])
    velocity = np.array([0.0, -1.0, -1.0])
    position = np.array([1.0, 0.0, 0.0])
    outputs = [position, velocity, -2 * zeta * omega * velocity - omega**2 * position]
    return A, B, np.array(outputs)
