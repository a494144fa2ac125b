"""Large samples, of which a fit needs order statistics and tables of bins alone.

`ArraySample` is an array on a device. `StreamedSample` (`_fit/observations/streams`) is read piece
by piece.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np

from hetero.arrays import Array, Workspace
from stablegpu._fit.observations import large_samples


class Sample(Protocol):
    """A sample of float64 numbers.

    Attributes
    ----------
    size : number of observations
    is_weighted : whether observations have weights
    """

    size: int
    is_weighted: bool

    def select(self, ranks: np.ndarray) -> np.ndarray:
        """Return the observations of given ranks, 0 the smallest."""

    def count(self, values: np.ndarray) -> np.ndarray:
        """Count the observations that equal each of `values`."""

    def bin(self, centre: float, width: float, low: float, per_unit: float) -> np.ndarray:
        """Return weights and two moments of bins, (3, BINS): see `large_samples/formulas.py`."""


class ArraySample:
    """A sample in an array on the device of `workspace`; empty weights: all 1."""

    def __init__(self, data: Array, weights: Array, workspace: Workspace) -> None:
        self.size = int(data.size)
        self.is_weighted = bool(weights.size)
        self._data, self._weights, self._workspace = data, weights, workspace

    def select(self, ranks: np.ndarray) -> np.ndarray:
        """See `Sample`."""
        loops = large_samples.loops(self._workspace.device)
        return loops.select(self._data, ranks, self._workspace.stream)

    def count(self, values: np.ndarray) -> np.ndarray:
        """See `Sample`."""
        loops = large_samples.loops(self._workspace.device)
        return loops.count(self._data, values, self._workspace.stream)

    def bin(self, centre: float, width: float, low: float, per_unit: float) -> np.ndarray:
        """See `Sample`."""
        numbers = centre, width, low, per_unit
        return bin_arrays([self._data], self._weights, *numbers, self._workspace)


def bin_arrays(
    arrays: Iterable[Array],
    weights: Array,
    centre: float,
    width: float,
    low: float,
    per_unit: float,
    workspace: Workspace,
) -> np.ndarray:
    """Return the table of bins of arrays on the device of `workspace`, with the same weights."""
    from stablegpu._fit.observations.large_samples.formulas import BINS

    tables, loops = workspace.for_host_arrays(), large_samples.loops(workspace.device)
    table = tables.output((3 * BINS,))
    loops.start_table(table, workspace.stream)
    for data in arrays:
        loops.accumulate(data, weights, centre, width, low, per_unit, table, workspace.stream)
    result: Any = tables.result(table, (3, BINS))
    return result
