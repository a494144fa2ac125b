"""The random words of a fill, and parts of an array that one launch can write."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

BLOCKS = 1 << 31
"""Blocks of words of a launch at most: kernels count them in 32 bits, and step beyond their end."""


class Words(NamedTuple):
    """Philox's words that a fill makes into numbers.

    Attributes
    ----------
    key, path, stream : of Philox's counter
    first : number of the first block of words; for Wallace's method, of the first pool
    """

    key: tuple[np.uint32, np.uint32]
    path: int
    stream: int
    first: int = 0

    @property
    def constants(self) -> tuple[np.uint32, ...]:
        """The two words of the key, path and stream, as loops take them."""
        return *self.key, np.uint32(self.path), np.uint32(self.stream)


def split_into_launches(
    out: Any, size: int, first: int = 0
) -> Iterator[tuple[tuple[np.uint32, np.uint32], Any, int]]:
    """Yield (words of the counter, piece of `out`, full block pairs) for each launch.

    The words are the higher and the lower one of the number of the piece's first block, which is
    `first` for the first piece; a launch stays within one higher word.
    """
    begin = 0
    while begin < out.size:
        high, low = divmod(first + begin // size, BLOCKS)
        end = min(out.size, begin + (BLOCKS - low) * size)
        piece = out[begin:end] if end - begin < out.size else out
        words = np.uint32(high), np.uint32(low)
        yield words, piece, piece.size // (2 * size) if is_aligned(piece) else 0
        begin = end


def is_aligned(out: Any) -> bool:
    """Return whether 16 bytes of `out` can be written at once."""
    interface = getattr(out, "__cuda_array_interface__", None)
    return interface is not None and interface["data"][0] % 16 == 0
