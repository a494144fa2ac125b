"""Measurements of what a device can do at most."""

from typing import Protocol

from hetero.devices import Device


class Loops(Protocol):
    """Measurements of a device."""

    def measure(self) -> dict[str, float]:
        """Return the measured rates and times of `machine_limits.Limits`, by name."""


def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from hetero.measurement.limit_loops import cpu

        return cpu
    from hetero.measurement.limit_loops import cuda

    return cuda
