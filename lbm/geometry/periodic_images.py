"""Periodic images of bodies that pass through periodic faces of a domain."""

from __future__ import annotations

import itertools
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lbm.boundaries import Condition, Enclosure, Solid
from lbm.boundaries.prescribed import Function
from lbm.boundaries.solid import ATTACHED
from lbm.geometry.meshes import TriangleMesh
from lbm.geometry.shapes import Complement, Shape
from lbm.geometry.triangles.resolution import require_inside


@dataclass(frozen=True, eq=False)
class PeriodicImages(Shape):
    """A body with its images in a periodic domain, which do not overlap.

    Attributes
    ----------
    shape : the body
    shifts : float64 [image, (x, y, z)], by which the images are moved
    """

    shape: Any
    shifts: np.ndarray

    @property
    def crosses_links(self) -> bool:  # type: ignore[override]
        """Return whether the surface of the body does."""
        return getattr(self.shape, "crosses_links", True)

    def __call__(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Return whether points are inside of one of the images."""
        images = [self.shape(x - sx, y - sy, z - sz) for sx, sy, sz in self.shifts]
        return np.logical_or.reduce(images)

    def distances(self, points: np.ndarray, directions: np.ndarray) -> np.ndarray:
        """Return how far along each link the nearest image is."""
        return np.fmin.reduce(
            [self.shape.distances(points - shift, directions) for shift in self.shifts]
        )


def place_solids(enclosure: Enclosure, *, warns: bool = True) -> dict[str, Solid]:
    """Return the solids with their periodic images, if they suit the domain."""
    with warnings.catch_warnings():
        if not warns:
            warnings.simplefilter("ignore")
        require_bodies_inside(enclosure)
        return repeat_solids(enclosure)


def repeat_solids(enclosure: Enclosure) -> dict[str, Solid]:
    """Return the solids with periodic images of those that pass through a periodic face.

    A body must be shorter than the domain along that axis, and have `bounds` (`Shape`). Walls that
    move as a function of position do so at the points of the body itself.

    Warns
    -----
    UserWarning
        If a longer body that ends within the domain is cut off at a periodic face.
    """
    repeated = {}
    for name, solid in enclosure.solids.items():
        cells, condition = _repeat(name, solid.cells, enclosure), solid.condition
        images = cells.shape if isinstance(cells, Complement) else cells
        if (
            isinstance(images, PeriodicImages)
            and condition.prescribes == "velocity"
            and condition.depends_on.position
        ):
            velocity: Any = _velocity_at_body(condition, images)
            condition = replace(condition, **{condition.prescribes: velocity})
        repeated[name] = replace(solid, cells=cells, condition=condition)
    return repeated


def require_bodies_inside(enclosure: Enclosure) -> None:
    """Raise ValueError for meshes outside of the domain; warn of those that do not suit it.

    Flows pass around modelled walls that end within the domain along two axes: of these it warns.
    """
    domain, periodic = enclosure.shape, [face.is_periodic for face in enclosure.faces[::2]]
    for name, solid in enclosure.solids.items():
        bounds = getattr(solid.cells, "bounds", None)
        if solid.is_modelled and bounds is not None:
            low, high = np.clip(bounds, 0.0, domain)
            if (high - low < domain).sum() > 1:
                warnings.warn(f"boundaries[{name!r}]: wall='modelled': {ATTACHED}", stacklevel=5)
        if not isinstance(solid.cells, TriangleMesh):
            continue
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                require_inside(solid.cells, domain, periodic)
            except ValueError as error:
                raise ValueError(f"boundaries[{name!r}]: {error}") from None
        for warning in caught:
            warnings.warn(f"boundaries[{name!r}]: {warning.message}", stacklevel=5)


def _velocity_at_body(condition: Condition, images: PeriodicImages) -> Function:
    """Return the velocity of a wall as a function that takes points of images to the body."""
    velocity = condition.prescribed
    low, high = (bound + images.shifts[:, None] for bound in images.shape.bounds)

    def move(*coordinates: np.ndarray) -> np.ndarray:
        points = np.stack(np.broadcast_arrays(*coordinates), axis=-1).astype(float)
        outside = np.maximum(low - points, points - high).max(axis=-1)
        moved: np.ndarray = points - images.shifts[outside.argmin(axis=0)]
        return moved.T

    if condition.depends_on.time:
        return lambda x, y, z, t: velocity(*move(x, y, z), t)
    return lambda x, y, z: velocity(*move(x, y, z))


def _repeat(name: str, body: Any, enclosure: Enclosure) -> Any:
    """Return a body, with its images if it passes through a periodic face."""
    if isinstance(body, Complement):
        return Complement(_repeat(name, body.shape, enclosure))
    if (bounds := getattr(body, "bounds", None)) is None:
        return body
    shifts: list[tuple[float, ...]] = []
    for axis, (low, high, n) in enumerate(zip(*bounds, enclosure.shape, strict=True)):
        beyond = [n] * bool(low < 0.0 < high) + [-n] * bool(low < n < high)
        if not beyond or not enclosure.faces[2 * axis].is_periodic or len(beyond) == 2:
            shifts.append((0.0,))
            continue
        if high - low >= n:
            warnings.warn(
                f"boundaries[{name!r}] passes through a periodic face across {'xyz'[axis]}, but is "
                f"{high - low:g} cells long and the domain {n}: what lies outside of the domain "
                "is cut off, since it cannot go on behind the opposite face",
                stacklevel=6,
            )
            beyond = []
        shifts.append((0.0, *beyond))
    if all(len(along) == 1 for along in shifts):
        return body
    return PeriodicImages(body, np.array(list(itertools.product(*shifts))))
