"""Machines and clusters, described by the times of the operations of a step."""

from __future__ import annotations

import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Linear:
    """A time that grows linearly with an amount.

    Attributes
    ----------
    start : seconds for nothing
    each : further seconds for each unit of the amount
    """

    start: float
    each: float

    def __call__(self, amount: float) -> float:
        """Return the seconds for an amount."""
        return self.start + self.each * amount

    def slope(self, amount: float) -> float:
        """Return the seconds for one more unit."""
        return self.each

    @classmethod
    def through(cls, first: tuple[float, float], second: tuple[float, float]) -> Linear:
        """Return the line through two measurements (amount, seconds), with a start of at least 0.

        If noise makes the larger amount look cheaper, the time is proportional to the amount.
        """
        (a, t), (b, u) = sorted((first, second))
        each = (u - t) / (b - a)
        start = t - a * each
        if each <= 0.0 or start < 0.0:
            return cls(0.0, u / b)
        return cls(start, each)


@dataclass(frozen=True)
class Curve:
    """A time that was measured at several amounts, with straight lines in between.

    A CPU updates the cells of a small box faster, because they stay in its caches.

    Attributes
    ----------
    points : pairs (amount, seconds) with rising amounts; the first holds for each smaller amount in
        proportion, and the line through the last two goes on beyond them
    """

    points: tuple[tuple[float, float], ...]

    def __call__(self, amount: float) -> float:
        """Return the seconds for an amount."""
        (a, t), (b, u) = self._ends(amount)
        return t + (amount - a) * (u - t) / (b - a)

    def slope(self, amount: float) -> float:
        """Return the seconds for one more unit."""
        (a, t), (b, u) = self._ends(amount)
        return (u - t) / (b - a)

    def _ends(self, amount: float) -> Sequence[tuple[float, float]]:
        """Return the points between which an amount lies, or the nearest two."""
        points = (0.0, 0.0), *self.points
        k = bisect.bisect_left([a for a, _ in points[1:-1]], amount)
        return points[k : k + 2]


Axes = tuple[Linear, Linear, Linear]
"""Times for faces across x, y and z."""


@dataclass(frozen=True)
class DeviceTimes:
    """Times of the operations of one device.

    Attributes
    ----------
    kind : "cpu" or "cuda"
    cells : update of a box, over its cells
    layers : update of the cells at a face, over the cells of the face
    halo : for each transport, packing and unpacking of a message, over its bytes
    overhead : seconds that the host takes to start a step with an exchange
    """

    kind: str
    cells: Linear | Curve
    layers: Axes
    halo: Mapping[str, Axes]
    overhead: float = 0.0

    def packing(self, transport: str) -> Axes:
        """Return the times of packing and unpacking, or raise ValueError if they are unknown."""
        # Between hosts a message is packed as for MPI on one host.
        for name in (transport, "host"):
            if name in self.halo:
                return self.halo[name]
        raise ValueError(
            f"there are no times of messages by {transport!r} for a {self.kind} device"
        )


@dataclass(frozen=True)
class Machine:
    """A machine or a cluster: its devices and the links between ranks.

    Attributes
    ----------
    name : of the machine
    itemsize : bytes of a population for which the times hold
    gpu, cpu : times of a GPU and of the CPU cores of a rank; None if there is none
    links : for each transport the time of a message between two ranks, over its bytes
    """

    name: str
    itemsize: int
    gpu: DeviceTimes | None
    cpu: DeviceTimes | None
    links: Mapping[str, Linear] = field(default_factory=dict)

    def device(self, kind: str) -> DeviceTimes:
        """Return the times of a kind of device, or raise ValueError if they are unknown."""
        times = self.gpu if kind == "cuda" else self.cpu
        if times is None:
            raise ValueError(
                f"the description of {self.name} has no times of a {kind} device: add a table "
                f"{'gpu' if kind == 'cuda' else 'cpu'} to it, or choose devices and shares without"
            )
        return times

    def link(self, transport: str) -> Linear:
        """Return the time of a message between ranks, over its bytes, or raise ValueError."""
        if transport in ("direct", "mapped"):
            return Linear(0.0, 0.0)
        if transport not in self.links:
            raise ValueError(
                f"the description of {self.name} has no link {transport!r}, only "
                f"{', '.join(self.links) or 'none'}"
            )
        return self.links[transport]
