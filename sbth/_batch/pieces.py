"""Ranges of the matrices of a batch, which the threads of a CPU solve."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from hetero.display.progress_bar import report_loop
from sbth._problem.limits import LARGEST_THREADED_BATCH

_PIECES = 8
"""Number of pieces of a batch for each thread, for balance (not tuned)."""

_WORTH_A_THREAD = 1e6
"""Sum of the cubed orders below which starting a pool of threads takes longer than solving (two
cores)."""


def run_pieces(solve: Callable[[range], None], count: int, order: int) -> None:
    """Call `solve` for ranges of the matrices of a batch, on all threads if these are small."""
    from hetero.cpu.threads import threads, use_threads

    is_small = order <= LARGEST_THREADED_BATCH and count * order**3 < _WORTH_A_THREAD
    workers = 1 if is_small or order > LARGEST_THREADED_BATCH else threads()
    ranges = list(pieces(count, 1 if is_small else workers * _PIECES))

    def solve_alone(piece: range) -> None:
        """Solve a piece with one thread for each loop."""
        with use_threads(1):
            solve(piece)

    with report_loop(count) as advance:
        if workers == 1 or count < 2:
            solve_here = solve_alone if is_small else solve
            for piece in ranges:
                solve_here(piece)
                advance(len(piece))
            return

        with ThreadPoolExecutor(workers) as pool:
            for piece, _ in zip(ranges, pool.map(solve_alone, ranges), strict=True):
                advance(len(piece))


def pieces(count: int, most: int) -> Iterator[range]:
    """Yield at most so many ranges of about equal lengths that cover 0, ..., count - 1."""
    bounds: Sequence[int] = [count * i // most for i in range(most + 1)]
    yield from (range(i, j) for i, j in itertools.pairwise(bounds) if i < j)
