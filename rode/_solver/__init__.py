"""The solver of random ODEs: plans, schemes and the fused integration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from hetero.arrays import Array, Stream
from hetero.devices import Device

if TYPE_CHECKING:
    from rode._solver.kernel_arguments import KernelSpec, RunArrays, RunParameters


class Loops(Protocol):
    """The integration of all paths."""

    def integrate(
        self,
        spec: KernelSpec,
        run: RunParameters,
        arrays: RunArrays,
        stop: np.ndarray,
        stream: Stream = 0,
    ) -> None:
        """Advance every path by `run.coarse_steps` coarse steps.

        The state carries over from call to call, and no bit depends on where calls end. If the flag
        `stop` of `hetero.distributed.cancellation` is set, the call returns early.
        """

    def count_nonfinite(
        self, o: Array, x: Array, failed: Array, stream: Stream = 0
    ) -> tuple[int, int]:
        """Return the number of paths that are infinite or NaN, and of others with such outputs.

        o has the shape (paths,), x (dimension, paths), failed (paths,): see
        `rode._solver.kernel_arguments.RunArrays`.
        """


def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from rode._solver import cpu

        return cpu
    from rode._solver import cuda

    return cuda
