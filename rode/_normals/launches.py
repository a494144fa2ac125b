"""Parts of an array that one launch of a fill can write."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def split_into_launches(out: Any, size: int) -> Iterator[tuple[int, Any, int]]:
    """Yield (launch number, piece of `out`, full block pairs) for pieces that fit one launch."""
    most = size << 31  # kernels count blocks in 32 bits, and step beyond their end
    for part, begin in enumerate(range(0, out.size, most)):
        piece = out[begin : min(begin + most, out.size)] if out.size > most else out
        yield part, piece, piece.size // (2 * size) if is_aligned(piece) else 0


def is_aligned(out: Any) -> bool:
    """Return whether 16 bytes of `out` can be written at once."""
    interface = getattr(out, "__cuda_array_interface__", None)
    return interface is not None and interface["data"][0] % 16 == 0
