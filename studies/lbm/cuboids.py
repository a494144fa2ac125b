"""Times of a box and of its faces over its size (Riesinger 2017, figure 16.13).

They are the times by which the performance model predicts a step: the update of all cells and of
the cells at a face, and the copy of a face to a neighbour on the same device.
"""

from __future__ import annotations

from collections.abc import Iterator

from lbm._performance.cavity import cavity_problem
from lbm._performance.measurement import measure_device
from lbm._performance.model import CROSSING
from lbm.lattices.precision import PRECISIONS
from studies.study import Study

SIZES = {"cuda": (32, 64, 96, 128, 192, 256, 320, 384), "cpu": (32, 48, 64, 96, 128)}
"""Cells of the edges of the boxes."""

AXES = "xyz"
HEADS = (
    *("cells of the edge", "box, us", "GLUPS"),
    *(f"cells at a face across {axis}, us" for axis in AXES),
    *(f"copy across {axis}, us" for axis in AXES),
)


def run(study: Study) -> dict:
    """Measure cubes of rising size in float64, and draw their times over the cells."""
    sizes = (12, 16) if study.quick else SIZES[study.device.kind]
    title = "Cubes and their faces in float64 (Riesinger 2017, figure 16.13)"
    rows = study.table(title, HEADS, _measure(study, sizes))
    figure = study.figure((11.0, 4.5))
    boxes, faces = figure.subplots(1, 2)
    boxes.loglog([row[0] for row in rows], [row[1] for row in rows], "o-", label="box")
    for column, name in enumerate(HEADS[3:], 3):
        style = "s--" if column < 6 else "^:"
        label = name.removesuffix(", us")
        faces.loglog([row[0] for row in rows], [row[column] for row in rows], style, label=label)
    for axis in (boxes, faces):
        axis.set(xlabel="cells of the edge", ylabel="us")
        axis.legend(fontsize=7)
    return {"picture": str(study.save(figure, "figure-16.13.png"))}


def _measure(study: Study, sizes: tuple[int, ...]) -> Iterator[tuple]:
    """Yield a row of the table for each size."""
    for n in sizes:
        problem = cavity_problem((n, n, n), precision=PRECISIONS["float64"])
        times = measure_device(problem, study.device)
        seconds, face = times.cells(n**3), CROSSING * problem.precision.itemsize * n**2
        yield (
            *(n, 1e6 * seconds, 1e-9 * n**3 / seconds),
            *(1e6 * layer(n**2) for layer in times.layers),
            *(1e6 * copy(face) for copy in times.halo["direct"]),
        )
