"""The number of CPU threads that loops use."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from numbers import Integral

import numba
import numpy as np


def threads() -> int:
    """Return the number of CPU threads that loops started from this thread use."""
    return numba.get_num_threads()


def set_threads(count: int) -> None:
    """Use `count` CPU threads in loops started from this thread.

    Raises ValueError outside 1 .. the number that Numba started with (NUMBA_NUM_THREADS).
    """
    limit = numba.config.NUMBA_NUM_THREADS
    is_number = isinstance(count, Integral) and not isinstance(count, bool | np.timedelta64)
    if not is_number or not 1 <= count <= limit:
        raise ValueError(
            f"threads must be an integer in 1..{limit}, got {count!r}; "
            "for more, set NUMBA_NUM_THREADS before Python starts"
        )
    numba.set_num_threads(int(count))


@contextlib.contextmanager
def use_threads(count: int) -> Iterator[None]:
    """Use `count` CPU threads in loops started from this thread while the block runs."""
    before = threads()
    set_threads(count)
    try:
        yield
    finally:
        numba.set_num_threads(before)
