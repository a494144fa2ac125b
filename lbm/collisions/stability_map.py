"""Stable settings and the magic parameters that suit a flow, as measured by studies.

The stability of a flow is limited by its cell Reynolds number u/nu = 3 u/(tau - 1/2) in lattice
units, where u is the speed of the lid or the stream: the Reynolds number of the flow divided by the
number of cells in its length. A smaller time step does not change it. The speed itself hardly
matters up to 0.1 cells/step. Each limit is the last stable one of a series of settings with a ratio
of 1.19 (1.41 without walls), and the lowest of speeds from 0.03 to 0.1: `python -m studies run
lbm-stability lbm-magic`; the records are `lbm-stability-cuda.json` and `lbm-magic-cuda.json` in
`benchmarks/records/studies`. D3Q27 has the same limits but for two, which are one setting lower
(`python -m studies run lbm-lattices`). `lbm.collisions.bgk` has the limits of BGK.
"""

from __future__ import annotations

from typing import Literal, get_args

FlowKind = Literal["walls", "open", "free"]
"""Bounds of a flow: "walls" only, "open" ends (inlets or outlets, with or without walls), or
"free": no wall, no solid and no open end, only periodic and free-slip faces."""

FLOW_KINDS: tuple[FlowKind, ...] = get_args(FlowKind)

BETWEEN_WALLS = {0.25: 28.5, 3 / 16: 24.0, 1 / 12: 20.1, 0.03: 16.9, 0.01: 16.9}
"""Largest stable cell Reynolds number for each magic parameter of TRT, in the lid-driven cavity."""

WITH_OPEN_ENDS = {0.25: 7.1, 3 / 16: 8.4, 1 / 12: 12.0, 0.03: 16.9, 0.01: 20.1}
"""The same for a sphere in a stream: large magic parameters fail at the inlet, small ones behind
the sphere. The limit with 1/4 is that of D3Q27; D3Q19 was stable up to 8.4, as it is with 3/16. The
limit with 0.01 is that of D3Q19; D3Q27 was stable up to 16.9."""

WITHOUT_WALLS = {0.25: 39.5, 3 / 16: 39.5, 1 / 12: 39.5, 0.03: 56.0, 0.01: 56.0, 1e-3: 79.5}
"""The same for three-dimensional Taylor-Green vortices. Flows that are smoother or thinner in their
layers than these have other limits."""

LIMITS: dict[FlowKind, dict[float, float]] = {
    "walls": BETWEEN_WALLS,
    "open": WITH_OPEN_ENDS,
    "free": WITHOUT_WALLS,
}
"""Largest stable cell Reynolds number by the kind of the flow and the magic parameter."""

MOST_ACCURATE: dict[FlowKind, tuple[float, ...]] = {
    "walls": (1 / 12, 3 / 16, 0.25),
    "open": (0.25, 3 / 16, 1 / 12, 0.03, 0.01),
    "free": (1e-3,),
}
"""Magic parameters to use, the most accurate first (`python -m studies run lbm-magic`). With 1/12
boundary layers of a cavity and the flow rate of a duct are most accurate; the drag of bodies in a
stream is too large with small ones; without walls the smallest are the most accurate."""

LARGEST = max(*BETWEEN_WALLS.values(), *WITH_OPEN_ENDS.values())
"""No flow with walls or bodies was stable above this cell Reynolds number."""


def choose_magic(cell_reynolds: float, kind: FlowKind) -> float:
    """Return the magic parameter to use at a cell Reynolds number (speed/viscosity).

    It is the most accurate one that is stable; if none is, the one with the highest limit.
    """
    limits = LIMITS[kind]
    for magic in MOST_ACCURATE[kind]:
        if cell_reynolds <= limits[magic]:
            return magic
    return max(limits, key=lambda magic: limits[magic])


def advise_magic(magic: float | None, cell_reynolds: float, kind: FlowKind) -> float:
    """Return the magic parameter to use in the place of `magic`, with which a flow was unstable.

    The cell Reynolds number is 0 if it is unknown. Where `magic` should have been stable, or none
    is, the answer is the one with the highest limit.
    """
    limits = LIMITS[kind]
    better = choose_magic(cell_reynolds, kind)
    own_limit = max((limits[m] for m in limits if magic and is_same_magic(m, magic)), default=0.0)
    if own_limit < cell_reynolds <= limits[better]:
        return better
    return max(limits, key=lambda m: limits[m])


def is_same_magic(a: float, b: float) -> bool:
    """Return whether two magic parameters are the same but for the digits of a message."""
    return abs(a - b) < 1e-3 * max(a, b)
