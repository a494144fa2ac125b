"""Ornstein-Uhlenbeck processes, one or several that are correlated."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from hetero import validation
from hetero.arrays import as_real
from rode.excitations.excitation import Envelope, Excitation, Source, checked_envelope

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class OU(Excitation):
    """Ornstein-Uhlenbeck processes dO_i = -(O_i - mean_i)/tau_i dt + sqrt(c_i) dW_i.

    Parameters
    ----------
    tau : relaxation time in s, one for each component, or one for all
    c : diffusion constant, in the same way
    theta, sigma : rate 1/tau and noise sqrt(c) instead, as in many textbooks
    mean : mean, in the same way
    correlation : (components, components) matrix of the Wiener processes W_i; None: independent
    envelope : factor of u; see `Excitation`
    start : {"stationary", "mean"}
        O at the beginning: drawn from the stationary law, or the mean.

    Raises
    ------
    TypeError, ValueError
        A number is not positive or not finite, lengths differ, or the matrix is not a correlation.
    """

    def __init__(
        self,
        tau: ArrayLike | None = None,
        c: ArrayLike | None = None,
        *,
        theta: ArrayLike | None = None,
        sigma: ArrayLike | None = None,
        mean: ArrayLike = 0.0,
        correlation: ArrayLike | None = None,
        envelope: Envelope = None,
        start: str = "stationary",
    ) -> None:
        if (tau is None) == (theta is None) or (c is None) == (sigma is None):
            raise ValueError("OU needs tau and c, or theta and sigma: one of each pair")
        rate = 1.0 / _column("tau", tau) if theta is None else _column("theta", theta)
        noise = np.sqrt(_column("c", c)) if sigma is None else _column("sigma", sigma)
        centre = np.atleast_1d(as_real("mean", mean))
        matrix = None if correlation is None else _correlation(correlation)
        sizes = [rate.size, noise.size, centre.size, 1 if matrix is None else len(matrix)]
        count = max(sizes)
        if any(size not in (1, count) for size in sizes):
            raise ValueError(
                f"tau, c, mean and correlation must be for one number of components, got {sizes}"
            )
        validation.check_choice("start", start, ("stationary", "mean"))
        if centre.ndim != 1 or not np.isfinite(centre).all():
            raise ValueError(f"mean must be finite, got {validation.describe(mean)}")
        self.rate, self.noise, self.mean = (
            np.broadcast_to(a, count) for a in (rate, noise, centre)
        )
        self.correlation = np.eye(count) if matrix is None else matrix
        self.start = start
        self.envelope = checked_envelope(envelope)

    def __repr__(self) -> str:
        return (
            f"OU(tau={(1.0 / self.rate).tolist()}, c={(self.noise**2).tolist()}, "
            f"mean={self.mean.tolist()}, correlation={self.correlation.tolist()}, "
            f"start={self.start!r})"
        )

    @property
    def components(self) -> int:
        """Number of processes."""
        return self.rate.size

    def sources(self) -> list[Source]:
        """Return the filter, whose states are the processes and, for a mean, a constant 1."""
        n, rate = self.components, self.rate
        spread = self.correlation * np.outer(self.noise, self.noise)
        covariance = spread / np.add.outer(rate, rate)
        F, L, C = (np.zeros((n + 1, n + 1)), np.zeros((n + 1, n)), np.zeros((n, n + 1)))
        F[:n, :n], C[:, :n], C[:, n] = -np.diag(rate), np.eye(n), self.mean
        values, vectors = np.linalg.eigh(self.correlation)
        root = vectors * np.sqrt(np.maximum(values, 0.0)) @ vectors.T  # it may be singular
        L[:n] = self.noise[:, None] * root
        full = np.zeros((n + 1, n + 1))
        full[:n, :n] = covariance if self.start == "stationary" else 0.0
        keep = n + 1 if self.mean.any() else n
        mean = np.append(np.zeros(n), 1.0)[:keep]
        cut = slice(keep)
        return [Source(F[cut, cut], L[cut], C[:, cut], mean, full[cut, cut], self.envelope)]


def _column(name: str, value: Any) -> np.ndarray:
    """Return positive finite numbers, one for each component."""
    column = np.atleast_1d(as_real(name, value))
    if column.ndim != 1 or column.size == 0 or not np.all((column > 0.0) & (column < math.inf)):
        raise ValueError(f"{name} must be positive and finite, a number or a list, got {value!r}")
    return column


def _correlation(value: Any) -> np.ndarray:
    """Return a matrix with ones on its diagonal that is symmetric and not indefinite."""
    matrix = np.atleast_2d(as_real("correlation", value))
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"correlation must be a square matrix, got the shape {matrix.shape}")
    if not (np.allclose(matrix, matrix.T, atol=1e-12) and np.allclose(np.diag(matrix), 1.0)):
        raise ValueError("correlation must be symmetric, with ones on its diagonal")
    least = float(np.linalg.eigvalsh(matrix)[0])
    if not least > -1e-10:
        raise ValueError(f"correlation must have no negative eigenvalue, got {least:.4g}")
    return matrix
