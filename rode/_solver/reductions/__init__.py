"""The reductions: one file each, with everything that the package knows about it.

To add a reduction, add a file with a `Reduction`, and name the object in `REDUCTIONS`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from hetero import validation
from rode._solver.reductions.moments import MOMENTS
from rode._solver.reductions.paths import PATHS
from rode._solver.reductions.peaks import PEAKS
from rode._solver.reductions.quantiles import Quantiles as Quantiles
from rode._solver.reductions.reduction import Reduction as Reduction

REDUCTIONS: dict[str, Reduction] = {one.name: one for one in (PATHS, MOMENTS, PEAKS)}
"""Reductions without settings, by the name that `rode.solve` takes."""

Requested: TypeAlias = str | Reduction | Sequence[str | Reduction] | None
"""The argument `reduction` of `rode.solve`: names, or objects such as `Quantiles`."""


def find_reductions(requested: Requested) -> tuple[Reduction, ...]:
    """Return the reductions of the argument `reduction`; None stands for "paths".

    Quantiles become one reduction, which takes the place of the first. Raises ValueError for others
    of one name, whose arrays would replace each other.
    """
    requested = "paths" if requested is None else requested
    several = requested if isinstance(requested, tuple | list) else (requested,)
    by_name: dict[str, Reduction] = {}
    for one in several:
        if not isinstance(one, Reduction):
            one = REDUCTIONS[validation.check_choice("reduction", one, tuple(REDUCTIONS))]
        before = by_name.get(one.name)
        if isinstance(before, Quantiles) and isinstance(one, Quantiles):
            one = Quantiles(*before.probabilities, *one.probabilities)
        elif before is not None and before != one:
            raise ValueError(
                f"reduction has several of the name {one.name!r}: give them names, as in "
                "rode.first_passage(2.0).named('passage of 2')"
            )
        by_name[one.name] = one
    return tuple(by_name.values())
