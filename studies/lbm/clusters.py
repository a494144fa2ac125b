"""Scaling on three clusters on paper (Riesinger 2017, table 16.2 and figure 16.14).

The performance model predicts the scenarios from descriptions of Hydra, TSUBAME2.5 and Piz Daint,
which are made of published figures (examples/lattice_boltzmann). It needs no such machine: it says
what a cluster would do if its network and its ranks never made each other wait.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from lbm._parallel.partition import Decomposition
from lbm._performance.description import read_machine
from lbm._performance.machine import Machine
from lbm._performance.model import best_ratio, predict_step
from lbm.lattices.extent import Triple
from studies.papers.printed import FLOW_EFFICIENCIES
from studies.study import Study

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "lattice_boltzmann"
CLUSTERS = {"Hydra": "hydra.json", "TSUBAME2.5": "tsubame.json", "Piz Daint": "piz-daint.json"}

BOX = (512, 512, 128)
"""Cells of a rank in weak scaling, and of the smaller domain in strong scaling."""

GRIDS: dict[int, dict[str, Triple]] = {
    512: {"x": (512, 1, 1), "y": (1, 512, 1), "z": (1, 1, 512), "xyz": (8, 8, 8)},
    2048: {"x": (2048, 1, 1), "y": (1, 2048, 1), "z": (1, 1, 2048), "xyz": (16, 16, 8)},
}
"""Boxes of the largest weak scalings, by the number of ranks and the axes that are cut."""


def split_in_three(count: int) -> Triple:
    """Return a power of two as the product of three, falling and as equal as possible."""
    exponent = count.bit_length() - 1
    return 1 << (exponent + 2) // 3, 1 << (exponent + 1) // 3, 1 << exponent // 3


SCENARIOS: dict[str, tuple[Triple, bool, Callable[[int], Triple]]] = {
    "weak, across y": (BOX, True, lambda n: (1, n, 1)),
    "weak, across x, y and z": (BOX, True, split_in_three),
    "strong, 512 x 512 x 128": (BOX, False, split_in_three),
    "strong, 512^3": ((512, 512, 512), False, split_in_three),
}
"""The four scenarios of figure 16.14: cells, whether a rank has them, and the grid of n ranks."""

RATIO = 0.1
"""Share of the rows on CPUs in figure 16.14."""

HEADS = ("cluster", "devices", "across", "ranks", "predicted efficiency, %", "printed, %")
FIGURE_HEADS = ("cluster", "scenario", "ranks", "predicted GLUPS", "predicted efficiency, %")


def run(study: Study) -> dict:
    """Predict the largest weak scalings and the four scenarios on all clusters."""
    machines = {name: read_machine(FOLDER / file) for name, file in CLUSTERS.items()}
    title = "Efficiencies of the largest weak scalings on paper (Riesinger 2017, table 16.2)"
    study.table(title, HEADS, _predict_largest(machines))
    title = "Four scenarios with a tenth of the rows on CPUs (Riesinger 2017, figure 16.14)"
    rows = study.table(title, FIGURE_HEADS, _predict_scenarios(machines))
    figure = study.figure((11.0, 4.5))
    for axis, kind in zip(figure.subplots(1, 2), ("weak", "strong"), strict=True):
        chosen = [row for row in rows if row[1].startswith(kind)]
        for cluster, scenario in dict.fromkeys((row[0], row[1]) for row in chosen):
            points = [(r[2], r[3]) for r in chosen if r[:2] == [cluster, scenario]]
            axis.loglog(*zip(*points, strict=True), "o-", ms=3, label=f"{cluster}, {scenario}")
        axis.set(xlabel="ranks", ylabel="predicted GLUPS")
        axis.legend(fontsize=6)
    return {"picture": str(study.save(figure, "figure-16.14.png"))}


def _predict_largest(machines: dict[str, Machine]) -> Iterator[tuple]:
    """Yield a row of table 16.2 for each cluster, kind of devices and cut."""
    for (cluster, devices), printed in FLOW_EFFICIENCIES.items():
        machine, ranks = machines[cluster], 2048 if cluster == "Piz Daint" else 512
        ratio = best_ratio(machine, BOX) if devices == "GPUs and CPUs" else 0.0
        kind = "cpu" if devices == "CPUs" else "cuda"
        for (axes, grid), number in zip(GRIDS[ranks].items(), printed, strict=True):
            rates = [
                _rate(machine, weak_shape(BOX, boxes), boxes, kind, ratio)
                for boxes in ((1, 1, 1), grid)
            ]
            yield cluster, devices, axes, ranks, 100 * rates[1] / rates[0] / ranks, number


def _predict_scenarios(machines: dict[str, Machine]) -> Iterator[tuple]:
    """Yield a row for each cluster, scenario and number of ranks."""
    for cluster, machine in machines.items():
        for scenario, (cells, weak, grid_of) in SCENARIOS.items():
            alone = None
            for exponent in range(12 if cluster == "Piz Daint" else 10):
                ranks = 1 << exponent
                grid = grid_of(ranks)
                shape = weak_shape(cells, grid) if weak else cells
                rate = _rate(machine, shape, grid, "cuda", RATIO)
                alone = alone or rate
                yield cluster, scenario, ranks, rate, 100 * rate / alone / ranks


def weak_shape(box: Triple, grid: Triple) -> Triple:
    """Return the cells of a domain whose ranks have a box each."""
    return box[0] * grid[0], box[1] * grid[1], box[2] * grid[2]


def _rate(machine: Machine, shape: Triple, grid: Triple, kind: str, ratio: float) -> float:
    """Return the predicted GLUPS of all ranks."""
    decomposition = Decomposition(grid)
    predicted = predict_step(
        machine, shape, decomposition, kind=kind, ratio=ratio, transport="network"
    )
    return predicted.glups
