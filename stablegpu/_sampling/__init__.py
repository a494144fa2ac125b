"""Random numbers by the method of Chambers, Mallows and Stuck."""

from typing import Protocol

import numpy as np

from hetero.arrays import Array, Stream
from hetero.devices import Device


class Loops(Protocol):
    """Samples of a stable distribution."""

    def fill(
        self,
        key: tuple[np.uint32, np.uint32],
        path: int,
        number: int,
        samplers: tuple,
        loc: float,
        scale: float,
        first: int,
        out: Array,
        stream: Stream = 0,
    ) -> None:
        """Fill `out` with loc + scale X, sample i from Philox block first + i of stream `number`.

        `samplers` are the constants of the distribution, from `sample.sampler_of`.
        """


def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from stablegpu._sampling import cpu

        return cpu
    from stablegpu._sampling import cuda

    return cuda
