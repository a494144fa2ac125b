"""Slow and obvious reference: one path and one step after another, by NumPy and SciPy."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from rode._paths.process import Process
    from rode._solver.schemes.scheme import Field, Scheme


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


def step_by(
    scheme: Scheme, H: Field, B: np.ndarray, x: np.ndarray, o: np.ndarray, h: float
) -> np.ndarray:
    """Take a step of a scheme for x' = H(x) + B O; o holds O_0 .. O_M."""
    values = scheme.reference_forms(o, h)
    return scheme.reference_step(H, x, h, o[0] * B, np.outer(values, B), np.ones(len(values)))


def separable_step_by(
    scheme: Scheme, H: Field, G: np.ndarray, g: np.ndarray, x: np.ndarray, h: float
) -> np.ndarray:
    """Take a step of a scheme for x' = G + g H(x); G and g hold rows for the times 0 .. M."""

    def averages(values: np.ndarray) -> np.ndarray:
        if scheme.averages == "printed" or not scheme.uses_fine_steps:
            return scheme.reference_forms(values, h)
        M = len(values) - 1
        single = [1 / 2, *[1.0] * (M - 1), 1 / 2]
        double = [M / 2 - 1 / 6, *range(M - 1, 0, -1), 1 / 6]
        return np.array([single @ values / M, double @ values * 2 / M**2])[: scheme.form_count]

    forms = np.transpose([averages(column) for column in G.T])
    return scheme.reference_step(H, x, h, G[0], forms, averages(g))


def stationary_variance(
    A: np.ndarray,
    B: np.ndarray,
    scheme: Scheme,
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
        return step_by(scheme, lambda v: A @ v, B, x, o, h)

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
