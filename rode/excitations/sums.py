"""Sums of independent excitations."""

from __future__ import annotations

import numpy as np

from rode.excitations.excitation import Envelope, Excitation, Source


class Sum(Excitation):
    """Sum of independent excitations with equally many components, each with its own envelope.

    Parameters
    ----------
    *terms : Excitation

    Raises
    ------
    TypeError, ValueError
        A term is not an excitation, there is none, or numbers of components or records differ.
    """

    def __init__(self, *terms: Excitation) -> None:
        for one in terms:
            if not isinstance(one, Excitation):
                raise TypeError(f"terms of a Sum must be excitations, got {one!r}")
        if len({one.components for one in terms}) != 1:
            counts = [one.components for one in terms]
            raise ValueError(f"terms of a Sum must have equally many components, got {counts}")
        self.terms = terms
        self.envelope = None

    def __repr__(self) -> str:
        return f"Sum({', '.join(map(repr, self.terms))})"

    @property
    def components(self) -> int:
        """That of each term."""
        return self.terms[0].components

    def sources(self) -> list[Source]:
        """Return the filters of all terms."""
        return [source for one in self.terms for source in one.sources()]

    def integrals(self, t0: float, h: float, steps: int, degree: int) -> np.ndarray | None:
        """Return the sum of those of all terms."""
        total = None
        for one in self.terms:
            added = one.integrals(t0, h, steps, degree)
            if added is not None:
                total = added if total is None else total + added
        return total

    def for_paths(
        self, key: tuple[np.uint32, np.uint32], paths: range, whole: range, term: int = 0
    ) -> Sum:
        """Return the sum for some paths; each term has random numbers of its own."""
        # Terms of sums within sums are numbered in base 1024.
        terms = (
            one.for_paths(key, paths, whole, 1024 * term + k) for k, one in enumerate(self.terms, 1)
        )
        return Sum(*terms)

    @property
    def draws_at_start(self) -> bool:
        """Return whether a term draws random numbers at the start of a path."""
        return any(one.draws_at_start for one in self.terms)

    def numbers_of_path(self, steps: int, forms: int) -> int:
        """Return the sum of those of all terms."""
        return sum(one.numbers_of_path(steps, forms) for one in self.terms)

    @property
    def stepwise_envelopes(self) -> list[Envelope]:
        """Return the envelopes of all terms."""
        return [envelope for one in self.terms for envelope in one.stepwise_envelopes]

    @property
    def deviation(self) -> np.ndarray:
        """Standard deviation of each component at the start, without envelopes."""
        return np.sqrt(np.sum([one.deviation**2 for one in self.terms], axis=0))
