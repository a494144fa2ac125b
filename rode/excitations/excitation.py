"""Common base of all excitations, and their description to the solver."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy import linalg

from hetero.arrays import as_real

Envelope: TypeAlias = Callable[[float], float] | tuple[Any, Any] | None
"""A function of t, or times and values between which it is linear; None stands for 1."""


@dataclass(frozen=True, eq=False)
class Source:
    """Linear filter of white noise: ds = F s dt + L dW, u = C s, with an envelope.

    Attributes
    ----------
    F, L, C : arrays (states, states), (states, noises), (components, states)
    mean : (states,) array, mean of s
    covariance : (states, states) array, of s at the start
    envelope : factor of u
    """

    F: np.ndarray
    L: np.ndarray
    C: np.ndarray
    mean: np.ndarray
    covariance: np.ndarray
    envelope: Envelope


class Excitation:
    """A function u(t) of one or several components. Members derive from this class.

    Attributes
    ----------
    envelope : factor of u: a function of t, or a pair (times, values), linear in between and
        constant beyond; None for 1. Within a coarse step it is linear, between its values at the
        ends.
    """

    envelope: Envelope

    @property
    def components(self) -> int:
        """Number of components of u."""
        raise NotImplementedError

    def sources(self) -> Sequence[Source]:
        """Return the independent filters whose outputs make u, each with all components."""
        return ()

    def integrals(self, t0: float, h: float, steps: int, degree: int) -> np.ndarray | None:
        """Return u and its integrals where it is not random, or None.

        The shape is (steps, components, degree + 3, records): u at the start and at the end of each
        coarse step, and the integrals of (h - s)^d/d! u for d = 0 .. degree.
        """
        return None

    def for_paths(
        self, key: tuple[np.uint32, np.uint32], paths: range, whole: range, term: int = 0
    ) -> Excitation:
        """Return the excitation of some paths of a run whose paths are `whole`.

        What is drawn at the start of a path is drawn here, by its number, Philox's key, and the
        number of the term within a sum.
        """
        return self

    @property
    def draws_at_start(self) -> bool:
        """Return whether `for_paths` draws random numbers of a path that steps do not draw."""
        return False

    def numbers_of_path(self, steps: int, forms: int) -> int:
        """Return how many numbers `integrals` keeps for each path; 0 if all paths share them."""
        return 0

    @property
    def stepwise_envelopes(self) -> list[Envelope]:
        """Envelopes that a solver replaces by a line within each coarse step."""
        return [one.envelope for one in self.sources()]

    @property
    def deviation(self) -> np.ndarray:
        """Standard deviation of each component at the start, without envelopes."""
        total = np.zeros(self.components)
        for one in self.sources():
            total += np.diag(one.C @ one.covariance @ one.C.T)
        return np.sqrt(total)


def checked_envelope(envelope: Envelope) -> Envelope:
    """Return an envelope whose points, if it has some, are arrays; raise an error for bad ones."""
    if envelope is None or callable(envelope):
        return envelope
    if not isinstance(envelope, tuple | list) or len(envelope) != 2:
        raise TypeError(
            f"envelope must be a function of t or a pair (times, values), got {envelope!r}"
        )
    times, values = (np.atleast_1d(as_real("envelope", one)) for one in envelope)
    if times.ndim != 1 or times.shape != values.shape or times.size == 0:
        raise ValueError(
            f"envelope must have as many values as times, got {values.shape} and {times.shape}"
        )
    if not (np.isfinite(times).all() and np.isfinite(values).all() and (np.diff(times) > 0).all()):
        raise ValueError("envelope must have finite values at ascending times")
    return times, values


def values_of(envelope: Envelope, t: np.ndarray) -> np.ndarray:
    """Return an envelope at times, as float64."""
    if envelope is None:
        return np.ones(t.size)
    if callable(envelope):
        values = np.array([float(envelope(float(one))) for one in t])
    else:
        values = np.interp(t, *envelope)
    if not np.isfinite(values).all():
        bad = t[np.argmin(np.isfinite(values))]
        raise ValueError(
            f"envelope must be finite, got {values[~np.isfinite(values)][0]} at t={bad:g}"
        )
    return values


def stationary(F: np.ndarray, L: np.ndarray) -> np.ndarray:
    """Return P of F P + P F^T + L L^T = 0, the stationary covariance of a stable filter."""
    rates = linalg.eigvals(F)
    if not np.all(rates.real < 0.0):
        raise ValueError(
            "a filter must be stable to have a stationary law, but F has the eigenvalue "
            f"{rates[np.argmax(rates.real)]:.4g}; start='rest' begins at 0"
        )
    covariance = linalg.solve_continuous_lyapunov(F, -L @ L.T)
    return 0.5 * (covariance + covariance.T)
