"""Smallest stable relaxation time, over the magic number and the speed.

Two flows, each from rest or from a uniform stream until it has developed: the lid-driven cavity,
bounded by walls, and a sphere in a stream between slip sides, with an inlet and an outlet. What
limits both is the Reynolds number of a cell, u/nu = 3 u/(tau - 1/2).
"""

from __future__ import annotations

from hetero.study import Study
from lbm.cases import cavity, sphere
from lbm.errors import UnstableError
from lbm.lattice import CS2

MAGIC_NUMBERS = (0.25, 3 / 16, 1 / 12, 0.03, 0.01, 3e-3, 1e-3, 1e-4, None)
"""None stands for that of BGK, (tau - 1/2)^2, which falls with tau."""

SPEEDS = (0.03, 0.06, 0.1, 0.17)
"""Of the lid or of the stream, in cells/step."""

CAVITY_CELLS, SPHERE_CELLS = 24, 6
_TURNS, _PASSES = 30, 4
_LARGEST, _STEP, _COUNT = 0.2, 2.0**-0.25, 32
"""tau - 1/2 is one of 32 numbers from 0.2 down, each smaller by a sixth than the one before."""


def run(study: Study) -> dict:
    flows = {"cavity": is_cavity_stable, "sphere": is_sphere_stable}
    magic_numbers, speeds = MAGIC_NUMBERS, SPEEDS
    if study.quick:
        flows, magic_numbers, speeds = {"cavity": flows["cavity"]}, (0.25, None), (0.1,)
    rows = []
    for flow, is_stable in flows.items():
        for magic in magic_numbers:
            for speed in speeds:
                offset = smallest_stable_offset(is_stable, magic, speed, study)
                name = "BGK" if magic is None else round(magic, 4)
                rows.append(
                    (flow, name, speed, speed / float(CS2) ** 0.5, 0.5 + offset, 3 * speed / offset)
                )
    heads = ["flow", "magic", "speed", "Mach number", "smallest stable tau", "u/nu of a cell"]
    study.table("Stability over the magic number and the speed", heads, rows)
    return {"picture": str(draw(study, rows))}


def smallest_stable_offset(is_stable, magic: float | None, speed: float, study: Study) -> float:
    """Return the smallest stable tau - 1/2 of the grid, found by bisection."""
    stable, unstable = -1, 4 if study.quick else _COUNT
    while unstable - stable > 1:
        middle = (stable + unstable) // 2
        if is_stable(_LARGEST * _STEP**middle, magic, speed, study):
            stable = middle
        else:
            unstable = middle
    return _LARGEST * _STEP**stable


def is_cavity_stable(offset: float, magic: float | None, speed: float, study: Study) -> bool:
    """Whether the cavity lives until its lid has moved by 30 edges."""
    n = 8 if study.quick else CAVITY_CELLS
    turns = 2 if study.quick else _TURNS
    flow = cavity(n, reynolds=3 * speed * n / offset, speed=speed, check=100,
                  magic=_value(magic, offset), device=study.device)  # fmt: skip
    return survives(flow, round(turns * n / speed))


def is_sphere_stable(offset: float, magic: float | None, speed: float, study: Study) -> bool:
    """Whether the stream around a sphere lives until it has passed its box four times."""
    d = SPHERE_CELLS
    flow = sphere(d, reynolds=3 * speed * d / offset, speed=speed, width=5.0, length=8.0,
                  check=100, magic=_value(magic, offset), device=study.device)  # fmt: skip
    return survives(flow, round(_PASSES * flow.shape[0] / speed))


def survives(flow, steps: int) -> bool:
    """Whether a flow can be run for so many steps."""
    try:
        flow.run(steps)
    except UnstableError:
        return False
    return True


def _value(magic: float | None, offset: float) -> float:
    return offset**2 if magic is None else magic


def draw(study: Study, rows):
    """Draw the Reynolds number of a cell over the magic number."""
    figure = study.figure()
    flows = list(dict.fromkeys(row[0] for row in rows))
    for axis, flow in zip(figure.subplots(1, len(flows), squeeze=False)[0], flows, strict=True):
        for speed in dict.fromkeys(row[2] for row in rows):
            points = [(str(row[1]), row[5]) for row in rows if row[0] == flow and row[2] == speed]
            axis.plot(*zip(*points, strict=True), "-o", label=f"{speed} cells/step")
        axis.set(title=flow, xlabel="magic number", ylabel="largest stable u/nu", yscale="log")
        axis.legend(fontsize=7)
    return study.save(figure, "stability.png")
