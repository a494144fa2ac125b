"""Koutrouvelis' regression of many data sets, from McCulloch's estimates."""

from __future__ import annotations

import numpy as np

from hetero.arrays import Array, Workspace
from stablegpu._fit.datasets import UnsortedDataSets
from stablegpu._fit.estimators import koutrouvelis

PART_SIZE = 1 << 16
"""Observations whose characteristic function one block of threads sums; not tuned."""


def improve_estimates(
    sets: UnsortedDataSets, estimates: np.ndarray, workspace: Workspace, host_workspace: Workspace
) -> np.ndarray:
    """Return the estimates after all passes of the regression, a row for each set."""
    from stablegpu._fit.estimators.koutrouvelis.formulas import PASSES, SUMS

    count = len(estimates)
    parts = -(-int((sets.stops - sets.starts).max()) // PART_SIZE)
    starts, stops = (host_workspace.input("sets", v, np.int64) for v in (sets.starts, sets.stops))
    result = host_workspace.input("estimates", estimates).reshape(count, 4)
    sums = host_workspace.output((count * parts, SUMS)).reshape(count * parts, SUMS)
    loops, stream = koutrouvelis.loops(workspace.device), workspace.stream
    for k in range(PASSES):
        loops.add_up(sets.x, starts, stops, parts, sums, result, stream)
        loops.regress(starts, stops, parts, sums, result, k == PASSES - 1, stream)
    return host_workspace.result(result.reshape(4 * count), (count, 4))


def add_up_set(x: Array, estimate: np.ndarray, workspace: Workspace) -> np.ndarray:
    """Return the sums of the empirical characteristic function of one set, (1, SUMS).

    `estimate` is (1, 4), in host memory; x is on the device.
    """
    from stablegpu._fit.estimators.koutrouvelis.formulas import SUMS

    parts = -(-int(x.size) // PART_SIZE)
    if not parts:
        return np.zeros((1, SUMS))
    starts, stops = (workspace.input("sets", [end], np.int64) for end in (0, x.size))
    sums = workspace.output((parts, SUMS)).reshape(parts, SUMS)
    estimates = workspace.input("estimate", estimate).reshape(1, 4)
    loops = koutrouvelis.loops(workspace.device)
    loops.add_up(x, starts, stops, parts, sums, estimates, workspace.stream)
    total: np.ndarray = workspace.result(sums, (parts, SUMS)).sum(axis=0, keepdims=True)
    return total
