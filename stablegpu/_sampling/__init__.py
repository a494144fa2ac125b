"""Random numbers by the method of Chambers, Mallows and Stuck."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from hetero.arrays import Array, Stream
from hetero.devices import Device

if TYPE_CHECKING:
    from stablegpu._sampling.formulas import RandomStream


class Loops(Protocol):
    """Samples of a stable distribution."""

    def fill(
        self,
        random_stream: RandomStream,
        samplers: tuple,
        loc: float,
        scale: float,
        first: int,
        out: Array,
        stream: Stream = 0,
    ) -> None:
        """Fill `out` with loc + scale X, sample i from Philox block first + i of the stream.

        `samplers` are the constants of the distribution, from `sample.sampler_of`.
        """


def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from stablegpu._sampling import cpu

        return cpu
    from stablegpu._sampling import cuda

    return cuda
