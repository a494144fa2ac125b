"""Smallest stable relaxation time over magic parameter and speed.

There are two flows, each run until it has developed: the lid-driven cavity, which is bounded by
walls, and a sphere in a stream between free-slip sides, with an inlet and an outlet. Both are
limited by the cell Reynolds number u/nu = 3 u/(tau - 1/2).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

from lbm.errors import UnstableError
from lbm.flows import cavity, sphere
from lbm.lattices import CS2, DEFAULT
from lbm.simulation import Simulation
from studies.study import Study

MAGIC_NUMBERS = (0.25, 3 / 16, 1 / 12, 0.03, 0.01, 3e-3, 1e-3, 1e-4, None)
"""Magic numbers of TRT; None stands for that of BGK, (tau - 1/2)^2."""

SPEEDS = (0.03, 0.06, 0.1, 0.17)
"""Speeds of the lid or of the stream in cells/step."""

CAVITY_CELLS, SPHERE_CELLS = 24, 6
"""Cells of the cavity's edge and of the sphere's diameter."""

_LID_PATH = 30  # edges by which the lid must move
_PASSES = 4  # times that the stream must pass through its box
_LARGEST_OFFSET, _OFFSET_RATIO, _OFFSET_COUNT = 0.2, 2.0**-0.25, 32
"""tau - 1/2 is one of 32 numbers, from 0.2 down with a constant ratio of 2^(-1/4)."""


def run(study: Study) -> dict:
    """Search both flows for the smallest stable tau at each magic parameter and speed."""
    flows = {"cavity": is_cavity_stable, "sphere": is_sphere_stable}
    magic_numbers: tuple[float | None, ...] = MAGIC_NUMBERS
    speeds: tuple[float, ...] = SPEEDS
    if study.quick:
        flows, magic_numbers, speeds = {"cavity": flows["cavity"]}, (0.25, None), (0.1,)

    def search() -> Iterator[tuple]:
        for (flow, is_stable), magic, speed in itertools.product(
            flows.items(), magic_numbers, speeds
        ):
            offset = smallest_stable_offset(is_stable, magic, speed, study, DEFAULT)
            name = "BGK" if magic is None else round(magic, 4)
            yield flow, name, speed, speed / float(CS2) ** 0.5, 0.5 + offset, 3 * speed / offset

    heads = ["flow", "magic", "speed", "Mach number", "smallest stable tau", "cell Reynolds number"]
    rows = study.table("Stability over magic parameter and speed", heads, search())
    return {"picture": str(draw_limits(study, [tuple(row) for row in rows]))}


def smallest_stable_offset(
    is_stable: Callable[..., bool], magic: float | None, speed: float, study: Study, lattice: str
) -> float:
    """Return the smallest stable tau - 1/2 by bisection."""
    stable, unstable = -1, 4 if study.quick else _OFFSET_COUNT
    while unstable - stable > 1:
        middle = (stable + unstable) // 2
        if is_stable(_LARGEST_OFFSET * _OFFSET_RATIO**middle, magic, speed, study, lattice):
            stable = middle
        else:
            unstable = middle
    return _LARGEST_OFFSET * _OFFSET_RATIO**stable


def is_cavity_stable(
    offset: float, magic: float | None, speed: float, study: Study, lattice: str
) -> bool:
    """Return whether the cavity is stable until its lid has moved by 30 edges."""
    n = 8 if study.quick else CAVITY_CELLS
    edges = 2 if study.quick else _LID_PATH
    flow = cavity(
        n, reynolds=3 * speed * n / offset, speed=speed, check=100,
        magic=_magic_number(magic, offset), lattice=lattice, device=study.device,
    )  # fmt: skip
    return is_stable_for(flow, round(edges * n / speed))


def is_sphere_stable(
    offset: float, magic: float | None, speed: float, study: Study, lattice: str
) -> bool:
    """Return whether the flow around a sphere is stable until it has passed its box four times."""
    d = SPHERE_CELLS
    flow = sphere(
        d, reynolds=3 * speed * d / offset, speed=speed, width=5.0, length=8.0, check=100,
        magic=_magic_number(magic, offset), lattice=lattice, device=study.device,
    )  # fmt: skip
    return is_stable_for(flow, round(_PASSES * flow.shape[0] / speed))


def is_stable_for(flow: Simulation, steps: int) -> bool:
    """Return whether a flow stays stable for a number of steps."""
    try:
        flow.run(steps)
    except UnstableError:
        return False
    return True


def _magic_number(magic: float | None, offset: float) -> float:
    return offset**2 if magic is None else magic


def draw_limits(study: Study, rows: list[tuple]) -> Path:
    """Draw the largest stable cell Reynolds number over the magic parameter."""
    figure = study.figure()
    flows = list(dict.fromkeys(row[0] for row in rows))
    for axis, flow in zip(figure.subplots(1, len(flows), squeeze=False)[0], flows, strict=True):
        for speed in dict.fromkeys(row[2] for row in rows):
            points = [(str(row[1]), row[5]) for row in rows if row[0] == flow and row[2] == speed]
            axis.plot(*zip(*points, strict=True), "-o", label=f"{speed} cells/step")
        axis.set(title=flow, xlabel="magic parameter", ylabel="largest stable u/nu", yscale="log")
        axis.legend(fontsize=7)
    return study.save(figure, "stability.png")
