"""Koutrouvelis' regression of many data sets, from McCulloch's estimates."""

from __future__ import annotations

import numpy as np

from hetero.arrays import Workspace
from stablegpu._fit import koutrouvelis
from stablegpu._fit.datasets import UnsortedDataSets

PART_SIZE = 1 << 16
"""Observations whose characteristic function one block of threads sums; not tuned."""


def improve_estimates(
    sets: UnsortedDataSets,
    estimates: np.ndarray,
    workspace: Workspace,
    host_workspace: Workspace,
) -> np.ndarray:
    """Return the estimates after all passes of the regression, a row for each set."""
    from stablegpu._fit.koutrouvelis.formulas import PASSES, SUMS

    count = len(estimates)
    parts = -(-int((sets.stops - sets.starts).max()) // PART_SIZE)
    starts, stops = (host_workspace.input("sets", v, np.int64) for v in (sets.starts, sets.stops))
    result = host_workspace.input("estimates", estimates).reshape(count, 4)
    sums = host_workspace.output((count * parts, SUMS)).reshape(count * parts, SUMS)
    improve = koutrouvelis.loops(workspace.device).improve
    for _ in range(PASSES):
        improve(sets.x, starts, stops, parts, sums, result, workspace.stream)
    return host_workspace.result(result.reshape(4 * count), (count, 4))
