"""Checks that the ranks of a simulation agree before it starts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from lbm._domain.ranks.communication import Ranks
from lbm._domain.ranks.fingerprints import fingerprint, fingerprint_solids
from lbm._model import wall_links
from lbm._model.extent import Triple
from lbm.boundaries import Condition, Solid, require_outlet


def require_same_arguments(
    ranks: Ranks, shape: Triple, *, solids: Mapping[str, Solid], **arguments: object
) -> None:
    """Raise ValueError if another rank has another version, geometry, start or setting."""
    if ranks.size == 1:
        return
    ranks.require_same({"shape": shape})
    described = {name: fingerprint(value, shape) for name, value in arguments.items()}
    ranks.require_same(described | {"solids": fingerprint_solids(solids, shape)})


def require_same_run(ranks: Ranks, steps: int, periods: Sequence[int]) -> None:
    """Raise ValueError if another rank runs other steps or callbacks, or something else.

    They would otherwise wait for each other forever.
    """
    ranks.require_same_call("run", {"steps": steps, "steps between callbacks": list(periods)})


def require_cells_of_solids(ranks: Ranks, links: wall_links.Links) -> None:
    """Raise ValueError if a solid covers no cell: it would be ignored, with a force of zero."""
    for name, size in links.solid_sizes.items():
        if not ranks.sum(size):
            raise ValueError(
                f"boundaries[{name!r}] covers no cell of the domain: correct its position and its "
                "size, or remove it"
            )


def require_fluid_and_outlet(
    ranks: Ranks,
    links: wall_links.Links,
    faces: Sequence[Condition],
    solids: Mapping[str, Solid],
) -> None:
    """Raise ValueError if the domain has no fluid, empty solids, or inlets without an outlet.

    `links` are the walls around the cells of this rank.
    """
    require_cells_of_solids(ranks, links)
    if not ranks.any((links.classes != wall_links.SOLID_CLASS).any()):
        raise ValueError("the solids in boundaries leave no fluid cell in the domain")

    def inflow() -> tuple[float, float]:
        net, gross = zip(*ranks.gather_all(wall_links.mass_inflow(links)), strict=True)
        return math.fsum(net), math.fsum(gross)

    require_outlet(faces, solids, inflow)
