"""The reduction that keeps the outputs of every path at the saved times."""

from __future__ import annotations

from types import MappingProxyType

from rode._solver.reductions.reduction import Reduction, Rows, State


class Paths(Reduction):
    """All outputs at all saved times; on a CPU, loops write them where they stay."""

    name = "paths"
    axes = MappingProxyType({"paths": ("t", "output", "path")})
    keeps_rows = "paths"

    def take(self, state: State, rows: Rows) -> None:
        """Copy the values to the host, unless they are there."""
        if rows.workspace.device.kind == "cuda":
            rows.values.copy_to_host(state["paths"][rows.times])


PATHS = Paths()
