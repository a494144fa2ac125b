"""Periodic functions of large arguments: windows of residues, and lattice points in slabs."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from hetero.devices import Device


class Loops(Protocol):
    """The search of groups of windows."""

    def search_groups(
        self,
        reals: np.ndarray,
        words: np.ndarray,
        firsts: np.ndarray,
        lasts: np.ndarray,
        capacity: int,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Search the windows from a first to a last one of each group.

        Return the survivors (groups, capacity, 2), and the numbers of survivors and candidates. A
        group with more survivors than `capacity` has to be searched again.
        """

    def search_groups_in_float32(
        self, reals: np.ndarray, words: np.ndarray, windows: np.ndarray, capacity: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Search all windows but those for which float32 does not suffice.

        Return the survivors (groups, capacity, 2), the skipped windows (groups, capacity), and the
        numbers of survivors, candidates and skipped windows.
        """


def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from tmd._periodic import cpu

        return cpu
    from tmd._periodic import cuda

    return cuda
