"""The operator for a flow whose cells may be too large for its Reynolds number."""

from __future__ import annotations

from lbm.collisions.operator import Collision
from lbm.collisions.recursive import RecursiveRegularized
from lbm.collisions.smagorinsky import SmagorinskyBGK, SmagorinskyRecursive
from lbm.collisions.stability_map import FlowKind
from lbm.collisions.trt import TRT

AUTO = "auto"
"""Name by which flows and case files ask for the operator that suits them."""

RESOLVED: dict[FlowKind, float] = {"walls": 20.1, "open": 12.0, "free": 39.5}
"""Cell Reynolds numbers up to which TRT is taken: the limits of a magic parameter of 1/12. Smaller
ones are stable a little further with open ends, but enlarge bodies."""

CONSTANT = 0.173
"""Smagorinsky's constant beyond: that of isotropic turbulence (study `lbm-tunnels`)."""

WALL_CONSTANT = 0.2
"""Constant of Vreman's model beside modelled walls (study `lbm-wall-model`): central differences
miss a part of the gradient, and with 0.07 eddies mix the middle of a channel too well. It was
chosen in one small box at one speed, by channels that were not in equilibrium; drags of bodies are
wrong with it, too (docs/known-limits.md)."""


def choose_automatically(
    tau: float, cell_reynolds: float, kind: FlowKind, state: str = "populations"
) -> tuple[Collision, str]:
    """Return the operator for a flow, and why.

    `cell_reynolds` is speed/viscosity in lattice units, and `kind` says what bounds the flow. With
    the state "moments" it is one to which ten moments are enough.
    """
    limit, by_moments = RESOLVED[kind], state == "moments"
    if cell_reynolds <= limit:
        operator: Collision = TRT.suited_to(tau, cell_reynolds, kind)
        if by_moments:
            operator = RecursiveRegularized(tau)
        return operator, (
            f"the Reynolds number of a cell is {cell_reynolds:.3g}, at most {limit:g}: the flow is "
            "resolved"
        )
    return (SmagorinskyRecursive if by_moments else SmagorinskyBGK)(tau, CONSTANT), (
        f"the Reynolds number of a cell is {cell_reynolds:.3g}, above {limit:g}: eddies smaller "
        "than cells need a viscosity, and "
        f"{'a regularized operator' if by_moments else 'one relaxation time'} damps what is left"
    )
