"""The faces of a domain, and the arguments that give them and solids their conditions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from lbm.boundaries.condition import Condition
from lbm.boundaries.solid import Solid
from lbm.boundaries.walls import Periodic
from lbm.collisions.stability_map import FlowKind
from lbm.lattices.extent import Triple

FACES = ("x-", "x+", "y-", "y+", "z-", "z+")
"""Names of the faces of a domain, in the order in which their conditions are stored."""


def require_in_plane(face: str, speed: float) -> None:
    """Raise ValueError if a moving face has a speed across its own plane."""
    if speed:
        raise ValueError(
            f"the face {face!r} would move through its own plane, into the domain or out of it, "
            f"with a speed of {speed:g}: set the component of its velocity along {face[0]} to 0, "
            "or use VelocityInlet if fluid enters or leaves there"
        )


def split_boundaries(
    boundaries: Mapping[str, Condition | Solid] | None,
) -> tuple[tuple[Condition, ...], dict[str, Solid]]:
    """Return the conditions of the six faces, and the solids by name.

    Keys are faces ("x-" ... "z+"), axes ("x": both faces) or any other name for a `Solid`. A face
    that is not named is periodic.
    """
    if not isinstance(boundaries, Mapping | None):
        raise TypeError(f"boundaries must map faces to conditions, got {boundaries!r}")
    faces: dict[str, Condition] = {}
    solids: dict[str, Solid] = {}
    for key, value in (boundaries or {}).items():
        if isinstance(value, Solid):
            if key in FACES or key in ("x", "y", "z"):
                raise ValueError(f"boundaries[{key!r}] names a face, but holds a Solid")
            solids[key] = value
            continue
        names = (key,) if key in FACES else tuple(f for f in FACES if f[0] == key)
        if not names:
            raise ValueError(
                f"boundaries has the key {key!r}: faces are {', '.join(FACES)} or x, y, z; use "
                "other names for lbm.Solid(cells, condition)"
            )
        if not isinstance(value, Condition):
            raise TypeError(f"boundaries[{key!r}] must be a boundary condition, got {value!r}")
        for name in names:
            if name in faces:
                raise ValueError(f"boundaries specifies the face {name!r} twice")
            faces[name] = value
    conditions = tuple(faces.get(f, Periodic()) for f in FACES)
    for k, (name, condition) in enumerate(zip(FACES, conditions, strict=True)):
        if condition.moves and not condition.depends_on:
            require_in_plane(name, condition.prescribed[k // 2])
    for axis in range(3):
        low, high = conditions[2 * axis : 2 * axis + 2]
        if low.is_periodic != high.is_periodic:
            raise ValueError(
                f"the faces {FACES[2 * axis]!r} and {FACES[2 * axis + 1]!r} must both be periodic "
                f"or both have another condition, got {low} and {high}"
            )
    return conditions, solids


class Enclosure(NamedTuple):
    """A domain and what bounds the fluid in it.

    Attributes
    ----------
    shape : cells of the whole domain
    faces : conditions of its six faces
    solids : by name
    """

    shape: Triple
    faces: Sequence[Condition]
    solids: Mapping[str, Solid]

    @property
    def conditions(self) -> dict[str, Condition]:
        """Conditions of the six faces and of the solids by name."""
        of_solids = {name: solid.condition for name, solid in self.solids.items()}
        return dict(zip(FACES, self.faces, strict=True)) | of_solids


def kind_of_flow(conditions: Iterable[Condition]) -> FlowKind:
    """Return what bounds a flow with these conditions, at its faces and on its solids."""
    conditions = list(conditions)
    if any(condition.is_open for condition in conditions):
        return "open"
    return "free" if all(c.is_periodic or c.mirrors for c in conditions) else "walls"
