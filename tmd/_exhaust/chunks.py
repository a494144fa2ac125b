"""Chunks of arguments, and what a comparison finds in them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tmd._exhaust.segments import NOT_JUDGED, Table

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


def split_into_chunks(table: Table) -> Chunks:
    """Return all chunks of the segments that can be judged."""
    segments = table.segments
    sizes = segments["count"].astype(np.int64)
    numbers = np.where(segments["rule"] == NOT_JUDGED, 0, -(-sizes // CHUNK))
    ids = np.repeat(np.arange(segments.size), numbers)
    position = np.arange(ids.size) - np.repeat(np.cumsum(numbers) - numbers, numbers)
    starts = segments["start"][ids].astype(np.int64) + position * CHUNK
    counts = np.minimum(CHUNK, sizes[ids] - position * CHUNK)
    return Chunks(ids, starts.astype(np.uint32), counts)
