"""Limits of simulations whose state is ten moments: errors that say what to change."""

from __future__ import annotations

import math
from collections.abc import Callable

from lbm._kernels.moments.formulas import GROUP
from lbm.collisions import OPERATORS
from lbm.collisions.operator import Collision
from lbm.lattices.extent import Triple
from lbm.lattices.precision import AUTO_STATE

MOMENTS_PATTERN = "ab"
"""Streaming pattern of a problem whose state is moments: there are two copies."""


def require_moments_suffice(
    collision: Collision,
    cells: Triple,
    grid: Triple,
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
    if ratio != 0.0:
        raise ValueError(
            f"state='moments' cannot be shared with a CPU, got ratio={ratio!r}: use ratio=0, or "
            "state='populations'"
        )
    layer = cells[0] * cells[1]
    across = grid[:2] == (1, 1)
    if grid != (1, 1, 1) and not (across and layer % GROUP == 0):
        remedies = [] if across else [f"decomposition=(1, 1, {math.prod(grid)})"]
        if layer % GROUP:
            remedies.append("another nx or ny")
        raise ValueError(
            f"state='moments' is cut across z into layers of a multiple of {GROUP} cells, got "
            f"boxes {grid} and layers of {layer} cells: use {' and '.join(remedies)}, one device "
            "of one rank, or state='populations'"
        )


def choose_state(
    asked: str, storage: str, on_gpus: bool, require_moments: Callable[[], None]
) -> tuple[str, str]:
    """Return what a simulation stores of its cells, and why.

    With "auto" moments are taken where they are possible, as exact and were faster in measurements
    (`benchmarks/records/lbm/lbm-moments-cuda.json`; docs/packages/lbm.md for CPUs).

    Parameters
    ----------
    asked : the argument `state`
    storage : type of the numbers in memory
    on_gpus : whether GPUs compute all cells
    require_moments : raises ValueError if moments are not enough, whose message says why
    """
    if asked != AUTO_STATE:
        if asked == "moments":
            require_moments()
        return asked, "as asked"
    try:
        require_moments()
    except ValueError as error:
        return "populations", str(error)
    if not on_gpus:
        return "populations", "steps of moments are slower than those of populations on a CPU"
    if storage == "float16":
        return "populations", "with 16 bits moments have larger errors than populations"
    return "moments", "their steps move about half of the bytes of populations"
