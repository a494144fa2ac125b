"""Limits of simulations whose state is ten moments: errors that say what to change."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from lbm._kernels.moments.formulas import GROUP
from lbm.boundaries import FACES, Condition, Solid
from lbm.collisions import OPERATORS
from lbm.collisions.operator import Collision
from lbm.lattices.extent import Triple

MOMENTS_PATTERN = "ab"
"""Streaming pattern of a problem whose state is moments: there are two copies."""

_REMEDY = "choose another, or state='populations'"


def require_moments_suffice(
    collision: Collision,
    faces: Sequence[Condition],
    solids: Mapping[str, Solid],
    cells: Triple,
    grid: Triple,
    ranks: int,
    ratio: float | str,
) -> None:
    """Raise ValueError if the moments of cells are not enough to compute a flow.

    A layer of cells across z must be a whole number of groups: it is what parts send each other.
    """
    operator = type(collision)
    if operator.relax_moments is Collision.relax_moments:
        able = (o for o in OPERATORS.values() if o.relax_moments is not Collision.relax_moments)
        raise ValueError(
            f"collision={collision} needs more than ten moments of a cell: state='moments' goes "
            f"with {', '.join(o.__name__ for o in able)}"
        )
    if ranks > 1 or ratio != 0.0:
        raise ValueError(
            f"state='moments' is for the devices of one rank, got {ranks} ranks and "
            f"ratio={ratio!r}: use device='cuda:all' in one process, or state='populations'"
        )
    layer = cells[0] * cells[1]
    across = grid[:2] == (1, 1)
    if grid != (1, 1, 1) and not (across and layer % GROUP == 0):
        remedies = [] if across else [f"decomposition=(1, 1, {math.prod(grid)})"]
        if layer % GROUP:
            remedies.append("another nx or ny")
        raise ValueError(
            f"state='moments' is cut across z into layers of a multiple of {GROUP} cells, got "
            f"boxes {grid} and layers of {layer} cells: use {' and '.join(remedies)}, one device, "
            "or state='populations'"
        )
    for name, face in zip(FACES, faces, strict=True):
        if face.is_equilibrium:
            raise ValueError(
                f"boundaries[{name!r}] cannot be {type(face).__name__} with state='moments', "
                f"because it changes populations that it has returned: {_REMEDY}"
            )
    for name, solid in solids.items():
        if solid.is_modelled:
            raise ValueError(
                f"boundaries[{name!r}] cannot have wall='modelled' with state='moments': its "
                "friction was tried with SmagorinskyBGK only, which needs more than ten moments of "
                "a cell: use wall='interpolated', or state='populations'"
            )
