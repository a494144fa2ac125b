"""Times of short operations of a GPU, without the time in which the host starts them."""

from __future__ import annotations

from typing import Any

import numpy as np

from hetero.cuda.driver import cuda
from hetero.measurement.limit_loops.cuda import keep_busy

LAUNCH_ROUNDS = 1500
"""Square roots that take as long as the launch of a kernel by the host, or longer."""


class QueueTimer:
    """Times what lies between `start` and `stop` in a stream of the current GPU.

    The stream is kept busy until the host has started all of it, so that the operations follow each
    other without gaps.

    Parameters
    ----------
    launches : number of operations that the host will start
    stream : Numba's stream, by default the default one
    """

    def __init__(self, launches: int, stream: Any = 0) -> None:
        self._rounds, self._stream = LAUNCH_ROUNDS * launches, stream
        self._begin, self._end = cuda.event(timing=True), cuda.event(timing=True)
        self._numbers = cuda.to_device(np.ones(1), stream=stream)
        keep_busy[1, 1, stream](1, self._numbers)
        cuda.synchronize()

    def start(self) -> None:
        """Keep the stream busy, and begin to measure after that."""
        keep_busy[1, 1, self._stream](self._rounds, self._numbers)
        self._begin.record(self._stream)

    def stop(self) -> float:
        """Wait for the stream, and return the seconds since `start`."""
        self._end.record(self._stream)
        self._end.synchronize()
        return 1e-3 * float(self._begin.elapsed_time(self._end))
