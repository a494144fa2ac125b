"""Averages of paths over coarse steps."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from hetero.arrays import Array, Stream
from hetero.devices import Device


class Loops(Protocol):
    """Weighted sums of each window of M = `steps` elements of a path, float32 or float64."""

    def fill_sums(
        self, path: Array, steps: int, out: Array, stream: Stream = 0, threads: int = ...
    ) -> None:
        """Fill out[d, w] with the sum over j < M of ((M - j)/M)^d path[w M + j].

        A GPU takes blocks of `threads` threads.
        """

    def finish(
        self, path: Array, steps: int, weights: np.ndarray, out: Array, stream: Stream = 0
    ) -> None:
        """Replace out[d, w] by scale (out[d, w] + first path[w M] + last path[(w + 1) M]).

        The three factors (scale, first, last) are row d of `weights`.
        """


def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from rode._paths.averages import cpu

        return cpu
    from rode._paths.averages import cuda

    return cuda
