"""Shapes of solids whose surface is known exactly, for walls that follow it within a cell.

A shape tells which cell centres it covers, as every function given to `lbm.Solid` does, and how far
along a link its surface is, which interpolated walls need. Coordinates are in cells from the corner
of the domain; the centre of the first cell is at 0.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hetero.validation import check_choice, check_in_range
from lbm.boundaries.limits import check_numbers, check_vector
from lbm.geometry import LARGEST_RADIUS

AXES = "x", "y", "z"
"""Names of axes along which a cylinder may lie."""


class Shape:
    """A body whose surface is known: the base class of shapes for `lbm.Solid`.

    A shape of your own is a subclass with the two methods below. `~shape` is everything outside of
    a shape, such as the wall of a pipe.

    Attributes
    ----------
    bounds : float64 [2, (x, y, z)], or None
        Lowest and highest coordinates, which may be infinite. A body that has them and passes
        through a periodic face goes on behind the opposite one; a shape of your own without them is
        cut off.
    crosses_links : bool
        Whether the surface is between each cell inside and each neighbour outside. If not, as with
        holes, links that do not meet it end half-way.
    """

    bounds: Any = None
    crosses_links: bool = True

    def __call__(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Return whether points are inside, bool, for coordinates that broadcast."""
        raise NotImplementedError(_describe_missing(self, "__call__(self, x, y, z)"))

    def distances(self, points: np.ndarray, directions: np.ndarray) -> np.ndarray:
        """Return how far along each link the surface is, as a share of the link.

        Parameters
        ----------
        points : float64 [link, (x, y, z)], the centres of fluid cells, on the other side of the
            surface than their links' ends
        directions : float64 [link, (x, y, z)], the links: `points + directions` are their ends

        Returns
        -------
        float64 [link] from 0 to 1 ; the nearest crossing if there are several, NaN if there is none
        """
        raise NotImplementedError(_describe_missing(self, "distances(self, points, directions)"))

    def __invert__(self) -> Shape:
        return Complement(self)


def _describe_missing(shape: Shape, method: str) -> str:
    """Return a message for a shape that lacks a method."""
    return f"{type(shape).__name__} must define {method}: see lbm.Shape"


@dataclass(frozen=True)
class Complement(Shape):
    """Everything outside of a shape; `~shape` makes it."""

    shape: Any

    @property
    def crosses_links(self) -> bool:  # type: ignore[override]
        """Return whether the surface of the shape does."""
        return getattr(self.shape, "crosses_links", True)

    def __call__(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Return whether points are outside of the shape."""
        return ~self.shape(x, y, z)

    def distances(self, points: np.ndarray, directions: np.ndarray) -> np.ndarray:
        """Return those of the shape: both have the same surface."""
        return self.shape.distances(points, directions)

    def __invert__(self) -> Any:
        return self.shape


@dataclass(frozen=True)
class Sphere(Shape):
    """A sphere.

    Parameters
    ----------
    centre : three floats
        In cells.
    radius : float
        In cells.
    """

    centre: Sequence[float] = field(metadata={"quantity": "position"})
    radius: float = field(metadata={"quantity": "length"})

    def __post_init__(self) -> None:
        object.__setattr__(self, "centre", check_vector("centre", self.centre))
        _check_radius(self)

    @property
    def bounds(self) -> np.ndarray:
        """Lowest and highest coordinates, float64 [2, 3]."""
        return np.array(self.centre) + np.outer((-1.0, 1.0), (self.radius,) * 3)

    def __call__(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Return whether points are inside."""
        cx, cy, cz = self.centre
        return (x - cx) ** 2 + (y - cy) ** 2 + (z - cz) ** 2 < self.radius**2

    def distances(self, points: np.ndarray, directions: np.ndarray) -> np.ndarray:
        """Return how far along each link the surface is."""
        return _meet_quadric(points - np.array(self.centre), directions, self.radius)


@dataclass(frozen=True)
class Cylinder(Shape):
    """A cylinder without ends, along an axis of the domain.

    Parameters
    ----------
    centre : two floats
        Coordinates in cells of its line across the axis: (x, y) for axis="z".
    radius : float
        In cells.
    axis : {"x", "y", "z"}
    """

    centre: Sequence[float] = field(metadata={"quantity": "point"})
    radius: float = field(metadata={"quantity": "length"})
    axis: str = field(default="z", metadata={"choices": "xyz"})

    def __post_init__(self) -> None:
        check_choice("axis", self.axis, AXES)
        object.__setattr__(self, "centre", check_numbers("centre", self.centre, 2))
        _check_radius(self)

    @property
    def bounds(self) -> np.ndarray:
        """Lowest and highest coordinates, float64 [2, 3]."""
        bounds = np.outer((-1.0, 1.0), (np.inf,) * 3)
        bounds[:, self._across] = np.array(self.centre) + np.outer((-1, 1), (self.radius,) * 2)
        return bounds

    @property
    def _across(self) -> list[int]:
        return [a for a in range(3) if AXES[a] != self.axis]

    def __call__(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Return whether points are inside."""
        (a, b), (p, q) = self.centre, (np.asarray((x, y, z)[k]) for k in self._across)
        inside = (p - a) ** 2 + (q - b) ** 2 < self.radius**2
        return np.broadcast_to(inside, np.broadcast_shapes(*(np.shape(c) for c in (x, y, z))))

    def distances(self, points: np.ndarray, directions: np.ndarray) -> np.ndarray:
        """Return how far along each link the surface is."""
        across = self._across
        from_line = points[:, across] - np.array(self.centre)
        return _meet_quadric(from_line, directions[:, across], self.radius)


@dataclass(frozen=True)
class HalfSpace(Shape):
    """Everything on one side of a plane.

    Parameters
    ----------
    point : three floats
        A point of the plane, in cells.
    normal : three floats
        A vector across the plane, of any length, that points into the fluid.
    """

    point: Sequence[float]
    normal: Sequence[float]

    def __post_init__(self) -> None:
        object.__setattr__(self, "point", check_vector("point", self.point))
        object.__setattr__(self, "normal", check_vector("normal", self.normal))
        if not any(self.normal):
            raise ValueError(f"normal must not be zero, got {self.normal!r}")

    def _height(self, x: Any, y: Any, z: Any) -> Any:
        return sum(n * (c - p) for n, c, p in zip(self.normal, (x, y, z), self.point, strict=True))

    def __call__(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Return whether points are behind the plane."""
        return np.asarray(self._height(x, y, z)) < 0.0

    def distances(self, points: np.ndarray, directions: np.ndarray) -> np.ndarray:
        """Return how far along each link the plane is."""
        return _meet_plane(self._height(*points.T), directions @ np.array(self.normal))


@dataclass(frozen=True)
class Box(Shape):
    """A box along the axes.

    Parameters
    ----------
    low, high : three floats
        Its lowest and its highest corner, in cells. Centres on its lower sides are inside.
    """

    low: Sequence[float]
    high: Sequence[float]

    def __post_init__(self) -> None:
        low, high = check_vector("low", self.low), check_vector("high", self.high)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        if not all(a < b for a, b in zip(low, high, strict=True)):
            raise ValueError(f"high must lie above low={low} on every axis, got {high}")

    @property
    def bounds(self) -> np.ndarray:
        """Lowest and highest coordinates, float64 [2, 3]."""
        return np.array([self.low, self.high])

    def __call__(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Return whether points are inside."""
        inside: Any = True
        for c, a, b in zip((x, y, z), self.low, self.high, strict=True):
            inside = inside & (a <= c) & (c < b)
        return np.asarray(inside)

    def distances(self, points: np.ndarray, directions: np.ndarray) -> np.ndarray:
        """Return how far along each link the surface is, through the nearest of the six sides."""
        low, high = np.array(self.low), np.array(self.high)
        nearest = np.full(len(points), np.inf)
        for axis in range(3):
            others = [a for a in range(3) if a != axis]
            for side in (low, high):
                t = _meet_plane(points[:, axis] - side[axis], directions[:, axis])
                with np.errstate(invalid="ignore"):
                    hits = points + t[:, None] * directions
                    near = (hits > low - _SLACK) & (hits < high + _SLACK)
                    nearest = np.where(near[:, others].all(axis=1) & (t < nearest), t, nearest)
        return np.where(np.isfinite(nearest), nearest, np.nan)


_SLACK = 1e-9
"""Cells by which a link that meets an edge of a box may miss its side, from rounding."""


def _check_radius(shape: Any) -> None:
    radius = check_in_range("radius", shape.radius, 0.0, LARGEST_RADIUS, closed="right")
    object.__setattr__(shape, "radius", radius)


def _meet_plane(height: np.ndarray, change: np.ndarray) -> np.ndarray:
    """Return where links meet a plane, from 0 to 1, or NaN.

    `height` is that of a link's begin above the plane, and `change` what the link adds to it.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(height == 0.0, 0.0, -height / change)
    return _within_link(t)


def _meet_quadric(points: np.ndarray, directions: np.ndarray, radius: float) -> np.ndarray:
    """Return where links meet a sphere or a cylinder around the origin, from 0 to 1, or NaN.

    Points outside run into it, and those inside run out of it. The root of the quadratic equation
    is taken in the form without cancellation. A discriminant that is below 0 by rounding counts as
    0: the link ends on the surface.
    """
    a = (directions**2).sum(axis=1)
    b = (points * directions).sum(axis=1)
    square = (points**2).sum(axis=1)
    c, discriminant = square - radius**2, b**2 - a * (square - radius**2)
    is_rounding = discriminant > -_ROUNDING * a * (square + radius**2)
    root = np.sqrt(np.where(is_rounding, np.maximum(discriminant, 0.0), np.nan))
    with np.errstate(divide="ignore", invalid="ignore"):
        entering = np.where(c == 0.0, 0.0, c / (root - b))
        leaving = np.where(b > 0.0, -c / (root + b), (root - b) / a)
    return _within_link(np.where(c >= 0.0, entering, leaving))


def _within_link(t: np.ndarray) -> np.ndarray:
    """Return crossings that lie on their links, from 0 to 1, and NaN for the others."""
    return np.where((t >= 0.0) & (t <= 1.0 + _ROUNDING), np.minimum(t, 1.0), np.nan)


_ROUNDING = 1e-9
"""Share of a link by which the computed crossing may lie behind its end, if that is on the surface,
and share of the squares by which a discriminant may be below 0."""
