"""The reduction of a narrow band to tridiagonal form by bulge chasing."""

import functools
from typing import Protocol

from hetero.arrays import Array, Stream
from hetero.devices import Device


class Loops(Protocol):
    """The reduction of a working matrix."""

    def chase_bulges(
        self,
        work: Array,
        d: int,
        method: str | None,
        in_flight: int | None,
        reflectors: Array,
        stream: Stream = 0,
    ) -> None:
        """Reduce a working matrix (n, 2 d) of bandwidth d >= 2 to tridiagonal form in place.

        `method` is one of `sbth._reduction.bands.METHODS` for the device; on a GPU d is at most
        64, and `in_flight` limits the block pairs that are processed at once (None: no limit). The
        reflections are stored in `reflectors` (`sbth._back.reflections` has the layout) unless it
        is empty.
        """


@functools.cache
def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from sbth._reduction.bulge_chasing import cpu

        return cpu
    from sbth._reduction.bulge_chasing import cuda

    return cuda
