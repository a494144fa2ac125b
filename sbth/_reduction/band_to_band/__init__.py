"""The reduction of a wide band to a narrow one."""

import functools
from typing import Protocol

from hetero.arrays import Array, Stream
from hetero.devices import Device


class Loops(Protocol):
    """The reduction of a working matrix."""

    def reduce_bandwidth(
        self,
        work: Array,
        d: int,
        b: int,
        in_flight: int | None,
        reflectors: Array,
        stream: Stream = 0,
    ) -> None:
        """Reduce a working matrix (n, 2 d) of bandwidth d to b < d subdiagonals in place.

        The reflections are stored in `reflectors` (see `sbth._back.reflections`) unless it
        is empty. On a GPU b is `cuda.PANEL`, and `in_flight` limits the block pairs that are
        processed at once (None: no limit).
        """


@functools.cache
def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from sbth._reduction.band_to_band import cpu

        return cpu
    from sbth._reduction.band_to_band import cuda

    return cuda
