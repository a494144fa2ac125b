"""Times of messages between two ranks: `python -m lbm._performance.ping PATH` on each of them."""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

from lbm._performance.machine import Linear
from lbm._performance.rank_programs import run_program, write_result
from lbm.launcher import world

SIZES = 1 << 10, 1 << 23
"""Bytes of the messages."""

REPEATS = 5
"""Samples of each time, of which the best counts."""


def measure_messages() -> Linear:
    """Start two ranks and return the time of messages that both send each other at once."""
    points = run_program("lbm._performance.ping", 2)
    return Linear.through(*((size, seconds) for size, seconds in points))


def time_messages(comm: Any, size: int) -> float:
    """Return the seconds in which two ranks send each other a message."""
    sent, received = np.zeros(size, np.uint8), np.zeros(size, np.uint8)
    other, calls, times = 1 - comm.rank, 200 if size < 1 << 20 else 5, []
    for _ in range(REPEATS):
        comm.Barrier()
        start = time.perf_counter()
        for _ in range(calls):
            request = comm.Irecv(received, other)
            comm.Send(sent, other)
            request.Wait()
        times.append((time.perf_counter() - start) / calls)
    return min(times)


def main(path: str) -> None:
    """Write pairs (bytes, seconds) to a file on the first rank."""
    comm = world()
    if comm is None or comm.size != 2:
        raise RuntimeError("messages are measured between two ranks: use mpiexec -n 2")
    points = [(size, time_messages(comm, size)) for size in SIZES]
    if comm.rank == 0:
        write_result(path, points)


if __name__ == "__main__":
    main(sys.argv[1])
