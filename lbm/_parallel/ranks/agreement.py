"""Checks that the ranks of a simulation agree before it starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from lbm._parallel.ranks.communication import Ranks
from lbm._parallel.ranks.fingerprints import fingerprint, fingerprint_force, fingerprint_solids
from lbm.boundaries import Solid
from lbm.geometry import wall_links
from lbm.lattices.extent import Triple


def require_same_arguments(
    ranks: Ranks, shape: Triple, *, solids: Mapping[str, Solid], force: object, **arguments: object
) -> None:
    """Raise ValueError if another rank has another version, geometry, start or setting."""
    if ranks.size == 1:
        return
    ranks.require_same({"shape": shape})
    described = {name: fingerprint(value, shape) for name, value in arguments.items()}
    described |= {"solids": fingerprint_solids(solids, shape), "force": fingerprint_force(force)}
    ranks.require_same(described)


def require_same_run(ranks: Ranks, steps: int, callbacks: Sequence[tuple[Callable, int]]) -> None:
    """Raise ValueError if another rank runs other steps or callbacks, or something else.

    They would otherwise wait for each other forever. Callbacks are pairs of a callable and its
    period. Those of the user may differ (one rank prints, another does not), those of this package
    may not: they talk to those of the other ranks.
    """
    periods = [every for _, every in callbacks]
    types = [type(callback) for callback, _ in callbacks]
    kinds = [t.__name__ if t.__module__.startswith("lbm.") else "callable" for t in types]
    ranks.require_same_call(
        "run", {"steps": steps, "steps between callbacks": periods, "callbacks": kinds}
    )


def require_cells_of_solids(ranks: Ranks, links: wall_links.Links) -> None:
    """Raise ValueError if a solid covers no cell: it would be ignored, with a force of zero."""
    for name, size in links.solid_sizes.items():
        if not ranks.sum(size):
            raise ValueError(
                f"boundaries[{name!r}] covers no cell of the domain: correct its position and its "
                "size, or remove it"
            )


def require_fluid(ranks: Ranks, links: wall_links.Links) -> None:
    """Raise ValueError if the domain has no fluid, or a solid covers no cell.

    `links` are the walls around the cells of this rank.
    """
    require_cells_of_solids(ranks, links)
    if not ranks.any((links.classes != wall_links.SOLID_CLASS).any()):
        raise ValueError("the solids in boundaries leave no fluid cell in the domain")
