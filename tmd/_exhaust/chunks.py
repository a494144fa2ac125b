"""Chunks of arguments, and what a comparison finds in them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

CHUNK = 2048
"""Arguments of a chunk: consecutive ones of one segment."""


class Chunks(NamedTuple):
    """Chunks of arguments: their segments, the bits of their first arguments, and their sizes."""

    segments: np.ndarray
    starts: np.ndarray
    counts: np.ndarray


class Judged(NamedTuple):
    """Result of a comparison.

    Attributes
    ----------
    wrong : int64 (modes, 2)
        Wrong results near numbers, and near midpoints.
    undecided : uint32
        Bits of arguments that float64 cannot decide.
    examples : float64 (n, 3)
        Mode, bits of the argument, and returned value of some wrong results.
    """

    wrong: np.ndarray
    undecided: np.ndarray
    examples: np.ndarray
