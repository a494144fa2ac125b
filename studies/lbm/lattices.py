"""Largest stable cell Reynolds numbers of D3Q27 beside those of D3Q19.

The flows are those of `lbm-stability`, at one speed: the lid-driven cavity, and a sphere in a
stream between an inlet and an outlet.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from lbm.lattices import LATTICES
from studies.lbm.stability import is_cavity_stable, is_sphere_stable, smallest_stable_offset
from studies.study import Study

MAGIC_NUMBERS = (0.25, 3 / 16, 1 / 12, 0.03, 0.01)
"""Magic numbers of TRT among which the package chooses."""

SPEED = 0.1
"""Speed of the lid or of the stream in cells/step."""

HEADS = "flow", "magic", *(f"cell Reynolds number, {name}" for name in LATTICES), "ratio"


def run(study: Study) -> dict:
    """Search both flows for the smallest stable tau on each lattice."""
    flows = {"cavity": is_cavity_stable, "sphere": is_sphere_stable}
    magic_numbers: tuple[float, ...] = MAGIC_NUMBERS
    if study.quick:
        flows, magic_numbers = {"cavity": flows["cavity"]}, (0.25,)

    def search() -> Iterator[tuple]:
        for (flow, is_stable), magic in itertools.product(flows.items(), magic_numbers):
            limits = [
                3.0 * SPEED / smallest_stable_offset(is_stable, magic, SPEED, study, lattice)
                for lattice in LATTICES
            ]
            yield flow, round(magic, 4), *limits, limits[-1] / limits[0]

    rows = study.table("Largest stable cell Reynolds number", HEADS, search())
    return {"lowest ratio": min(row[-1] for row in rows)}
