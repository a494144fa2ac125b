"""Long loops in pieces, between which Python answers signals.

A compiled loop runs to its end before Python sees a Ctrl-C. Host code that may have work for
seconds hands it to the loop in ranges that take a fraction of a second each.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from hetero.display.progress_bar import LoopBar, shown_loops
from hetero.distributed.cancellation import flag_of_caller, raise_if_stopped

TARGET_SECONDS = 0.2
"""Time that one range should take: short for a waiting user, long compared with a call's 10 us."""

MAX_GROWTH = 8
"""Largest factor between the sizes of two ranges, so that one lucky timing does no harm."""

LARGEST_RANGE = 1 << 62
"""Most items in a range: no limit, unless a test cuts loops into small ranges."""


def ranges(total: int, *, first: int, multiple: int = 1) -> Iterator[tuple[int, int]]:
    """Yield (begin, end) pairs that cover range(total) in order.

    The sizes follow the clock: each range is to take `TARGET_SECONDS`. The progress is reported to
    the `hetero.display.progress_bar.loop_progress` around the loop, if there is one. If the work is
    a part of a larger one that was stopped, a StoppedError ends it.

    Parameters
    ----------
    total : int
    first : int
        Items in the first range, so few that they take less than a second on any machine (without
        the compilation of the loop).
    multiple : int
        Every range but the last has a multiple of this number of items.
    """
    begin, size = 0, max(multiple, min(first, LARGEST_RANGE) // multiple * multiple)
    fastest = 0.0  # items per second, of the fastest range so far: the first one may compile
    loops, flag = shown_loops.get(), flag_of_caller.get()
    bar = None if loops is None else LoopBar(loops, total)
    try:
        while begin < total:
            if flag is not None:
                raise_if_stopped()
            end = min(begin + size, total)
            start = time.perf_counter()
            yield begin, end
            fastest = max(fastest, (end - begin) / max(time.perf_counter() - start, 1e-9))
            if bar is not None:
                bar.advance(end - begin)
            begin = end
            size = min(int(TARGET_SECONDS * fastest), MAX_GROWTH * size, LARGEST_RANGE)
            size = max(multiple, size // multiple * multiple)
    finally:
        if bar is not None:
            bar.close()
