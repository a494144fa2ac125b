"""Few combinations of settings in which every pair of two settings occurs.

A fault in how parts of a program work together shows in nearly all cases with two of the settings
that cause it: all triples take several times as many runs, and find little more.
"""

import itertools
from collections.abc import Iterable
from typing import Any


def cover_pairs(*factors: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Return combinations of values, one of each factor, with every pair of values of two factors.

    The choice is greedy and depends on nothing but the factors.
    """
    values = [list(factor) for factor in factors]
    candidates = list(itertools.product(*map(range, map(len, values))))
    open_pairs = set().union(*map(_pairs_in, candidates))
    chosen = []
    while open_pairs:
        best = max(candidates, key=lambda c: len(open_pairs & _pairs_in(c)))
        open_pairs -= _pairs_in(best)
        chosen.append(tuple(column[k] for column, k in zip(values, best, strict=True)))
    return chosen


def _pairs_in(combination: tuple[int, ...]) -> set[tuple[tuple[int, int], tuple[int, int]]]:
    """Return the pairs of (factor, number of its value) in a combination."""
    return set(itertools.combinations(enumerate(combination), 2))
