"""Collision operators: a file for each, and the names by which they are chosen.

To add an operator, add a file with a class that derives from `Collision`, and its name to
`OPERATORS`. `tests/lbm/test_collisions.py` compares every member with its reference.

Operators outside of the package use what those in it use: `Collision`, the lattices
(`lbm.lattices`), `lbm.collisions.unroll` and `lbm.collisions.moments`. The last two modules import
Numba, so import them where an operator makes its functions.
"""

from __future__ import annotations

from typing import Any

from hetero.validation import check_choice
from lbm.collisions.bgk import BGK
from lbm.collisions.central_moments import CentralMoments
from lbm.collisions.operator import Collision, check_collision
from lbm.collisions.recursive import RecursiveRegularized
from lbm.collisions.regularized import Regularized
from lbm.collisions.smagorinsky import Smagorinsky, SmagorinskyBGK, SmagorinskyRecursive
from lbm.collisions.trt import TRT
from lbm.collisions.vreman import Vreman, VremanBGK, VremanCentralMoments, VremanRecursive

OPERATORS: dict[str, type[Collision]] = {
    "trt": TRT,
    "bgk": BGK,
    "smagorinsky": Smagorinsky,
    "smagorinsky-bgk": SmagorinskyBGK,
    "smagorinsky-recursive": SmagorinskyRecursive,
    "vreman": Vreman,
    "vreman-bgk": VremanBGK,
    "vreman-recursive": VremanRecursive,
    "vreman-central-moments": VremanCentralMoments,
    "regularized": Regularized,
    "recursive": RecursiveRegularized,
    "central-moments": CentralMoments,
}
"""Operators by the names that case files, commands and flows take."""

CollisionChoice = str | type[Collision] | Collision
"""An operator by its name, as a class, or complete."""

DEFAULT = "trt"
"""Name of the operator that is used where none is named."""


def choose_operator(collision: str | type[Collision]) -> type[Collision]:
    """Return the class of an operator that is given by its name or as a class."""
    if isinstance(collision, type) and issubclass(collision, Collision):
        return collision
    return OPERATORS[check_choice("collision", collision, tuple(OPERATORS))]


def make_collision(collision: CollisionChoice, tau: float, **parameters: Any) -> Collision:
    """Make an operator with the relaxation time `tau`.

    Parameters
    ----------
    collision : the name of an operator, its class, or an operator with this tau
    tau : relaxation time in steps
    parameters : further ones of the operator, such as `magic`

    Raises
    ------
    ValueError
        If the operator has no such parameter, or another tau.
    """
    if isinstance(collision, Collision):
        check_collision(collision)
        if abs(collision.tau - tau) > 1e-12 * tau or parameters:
            settings = [f"tau={tau:.16g}", *(f"{n}={v!r}" for n, v in parameters.items())]
            raise ValueError(
                f"collision={collision!r} is complete, but the flow asks for "
                f"{', '.join(settings)}: pass its class (collision={type(collision).__name__}) "
                "or leave the other arguments out"
            )
        return collision
    operator = choose_operator(collision)
    for name in parameters:
        if name not in operator.parameters():
            raise ValueError(
                f"{name} is no parameter of the operator {operator.__name__}: leave it out, or "
                "choose another collision"
            )
    return check_collision(operator(tau, **parameters))  # type: ignore[call-arg]  # a dataclass
