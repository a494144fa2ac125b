"""Gallery of flows with exact or published solutions: error, order, cost, and a picture.

Each flow is computed at two or three resolutions (`studies.lbm.gallery_flows`). The largest error
in % of the largest speed, and the order at which it falls, are tabled beside the work.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from studies.lbm.gallery_flows import FLOWS as FLOWS_WITHOUT_HEAT
from studies.lbm.gallery_flows import GalleryFlow, Solution
from studies.lbm.gallery_heat import HEATED
from studies.study import Study

_HEADS = (
    "flow", "solution", "cells across", "largest error in %", "order", "million cell updates",
    "seconds",
)  # fmt: skip

COMPILE_SECONDS = 20.0
"""Runs that take less are repeated: compiling takes several seconds, on a busy machine more."""

FLOWS = *FLOWS_WITHOUT_HEAT, *HEATED
"""Flows in the order of the table."""

_MARKERS = "os^vD*<>PXh"
"""Markers of the flows in the panel of errors: there are more flows than colours."""


def run(study: Study) -> dict:
    """Compute all flows, print their errors and draw them."""
    solutions, orders = dict[str, dict[int, Solution]](), dict[str, float]()
    study.table("Flows with known solutions", _HEADS, _solve_flows(study, solutions, orders))
    draw(study, solutions)
    return {"orders": orders}


def _solve_flows(
    study: Study, solutions: dict[str, dict[int, Solution]], orders: dict[str, float]
) -> Iterator[tuple]:
    """Yield a row for each flow and size; add the solutions and the orders."""
    for flow in FLOWS:
        sizes: tuple[int, ...] = flow.sizes
        if study.quick:
            sizes = (flow.tiny,) if flow.tiny else ()
        series: dict[int, Solution] = {}
        for n in sizes:
            series[n], seconds = solve(flow, n, study)
            solution = series[n]
            order = find_order(series)
            updates = solution.cells * solution.steps / 1e6
            if order is not None:
                orders[flow.name] = order
            yield flow.name, flow.source, n, solution.error, order, updates, seconds
        if series:
            solutions[flow.name] = series


def solve(flow: GalleryFlow, n: int, study: Study) -> tuple[Solution, float]:
    """Return a solution and the seconds that it takes.

    Short runs are repeated, because they would be measured with the time to compile.
    """
    seconds = math.inf
    for _ in range(2):
        begin = time.perf_counter()
        solution = flow.solve(n, study.device)
        seconds = min(seconds, time.perf_counter() - begin)
        if study.quick or seconds > COMPILE_SECONDS:
            break
    return solution, seconds


def find_order(series: Mapping[int, Solution]) -> float | None:
    """Return the order at which the error has fallen in the last refinement; None for one size."""
    if len(series) < 2:
        return None
    (coarse, before), (fine, after) = list(series.items())[-2:]
    return math.log(before.error / after.error) / math.log(fine / coarse)


def draw(study: Study, solutions: Mapping[str, Mapping[int, Solution]]) -> None:
    """Draw the profiles of all flows at their finest resolution, and their errors."""
    figure = study.figure((15.0, 6.5))
    panels: Sequence[Any] = figure.subplots(2, -(-(len(FLOWS) + 1) // 2)).ravel()
    flows = [flow for flow in FLOWS if flow.name in solutions]
    for panel, flow in zip(panels, flows, strict=False):
        n, solution = list(solutions[flow.name].items())[-1]
        panel.plot(solution.position, solution.exact, label=flow.source)
        panel.plot(solution.position, solution.computed, "o", markersize=3, label=f"{n} cells")
        panel.set_title(flow.name)
        panel.set_xlabel(flow.position)
        panel.set_ylabel(flow.value)
        panel.legend(fontsize=7)
    errors = panels[len(FLOWS)]
    for flow, marker in zip(flows, _MARKERS, strict=False):
        series = solutions[flow.name]
        values = [solution.error for solution in series.values()]
        errors.loglog(list(series), values, marker=marker, markersize=5, label=flow.name)
    errors.set_title("largest error in %")
    errors.set_xlabel("cells across")
    errors.legend(fontsize=6, loc="lower left", markerscale=0.8)
    print(study.save(figure, "lbm-gallery.png"))
