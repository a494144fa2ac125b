"""Poses of a moving body over the next steps, and the box of cells around it."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np

from lbm._coupled.moving_bodies.formulas import END, HALF, POSE, SPIN, VELOCITY
from lbm.boundaries.limits import require_slow
from lbm.boundaries.motion import Motion, Rotation
from lbm.geometry.triangles.topology import describe_point
from lbm.lattices.extent import Triple

MARGIN = 2
"""Cells by which a box is larger than its body at the end of a step: it moves by less than one
cell in a step, and cells that it has left in the step before belong to the box."""


class Pose(NamedTuple):
    """Position of a body: its centre, and the rotation [3, 3] from its frame to the domain."""

    centre: np.ndarray
    rotation: np.ndarray


def rotate_about(axis: np.ndarray, angle: float) -> np.ndarray:
    """Return the matrix [3, 3] of a rotation (Rodrigues' formula)."""
    cross = np.cross(np.eye(3), axis)
    rotation: np.ndarray = np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
    return rotation


class Path:
    """The motion of a body through a domain.

    Parameters
    ----------
    name : of the body, for messages
    motions : of its solid
    bounds : float64 [2, 3], lowest and highest coordinates of its shape in the domain
    middle : the centre of the shape, which is that of the body if it does not turn
    domain : cells of the domain
    periodic : whether each axis is periodic

    Attributes
    ----------
    centre : that of the body, from which its frame counts
    radius : largest distance from the centre, or from the axis, of points that move
    box : cells of the box around the body
    """

    def __init__(
        self,
        name: str,
        motions: tuple[Motion, ...],
        bounds: np.ndarray,
        middle: np.ndarray,
        domain: Triple,
        periodic: tuple[bool, ...],
    ):
        self.name, self._motions, self._domain = name, motions, np.array(domain)
        self._periodic = np.array(periodic)
        self._rotation = next((m for m in motions if isinstance(m, Rotation)), None)
        rotation = self._rotation
        self.centre = middle if rotation is None else np.array(rotation.centre)
        self._axis = np.zeros(3) if rotation is None else np.array(rotation.axis)
        self._extent, self.radius = self._find_extent(bounds - self.centre)
        low, high = self._extent + self.pose(0.0).centre
        if (((high <= 0.0) | (low >= domain)) & ~self._periodic).any():
            warnings.warn(
                f"boundaries[{name!r}] lies outside of the domain of shape {domain} at step 0: it "
                f"reaches from {describe_point(low)} to {describe_point(high)}, in cells, and does "
                "nothing until it moves in",
                stacklevel=2,
            )
        self._spans = (low <= 0.0) & (high >= domain)
        with np.errstate(invalid="ignore"):
            box = np.where(self._spans, domain, np.ceil(high - low) + 2 * MARGIN + 1)
        for axis, n in enumerate(domain):
            if box[axis] > n and periodic[axis] and not self._spans[axis]:
                raise ValueError(
                    f"boundaries[{name!r}] needs {int(box[axis])} cells along {'xyz'[axis]} where "
                    f"it moves, but the periodic domain has {n}: use a larger domain"
                )
        self.box = np.minimum(box, domain).astype(int)

    def _find_extent(self, bounds: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the lowest and highest coordinates from the centre at any angle; the radius."""
        if self._rotation is None:
            return bounds, 0.0
        axis, finite = self._axis, np.isfinite(bounds).all(axis=0)
        # Along an axis of the domain about which it turns, a cylinder may have no ends.
        keeps_ends = finite.all() or ((np.abs(axis) > 1 - 1e-12) == ~finite).all()
        tilts = finite.any() and not keeps_ends
        if tilts and self._periodic.any():
            raise ValueError(
                f"boundaries[{self.name!r}] has no ends and turns about the axis "
                f"{describe_point(axis)}, so that it would not fit to itself at periodic faces: "
                "use a mesh of a cylinder with ends, or walls"
            )
        ends = np.stack([-self.centre, self._domain - self.centre]) if tilts else 0.0
        inside = np.where(finite, bounds, ends)
        corners = np.stack(np.meshgrid(*inside.T, indexing="ij"), axis=-1).reshape(-1, 3)
        along = corners @ axis
        radius = float(np.linalg.norm(corners - np.outer(along, axis), axis=1).max())
        spread = radius * np.sqrt(np.maximum(1.0 - axis**2, 0.0))
        ends = np.sort(np.outer([along.min(), along.max()], axis), axis=0)
        extent = ends + np.outer([-1.0, 1.0], spread)
        if not keeps_ends:
            extent[:] = np.outer([-1.0, 1.0], np.full(3, np.inf))
        return np.where(finite, extent, bounds), radius

    def pose(self, t: float) -> Pose:
        """Return the pose at time t in steps."""
        angle = sum(m.angle_at(t) for m in self._motions)
        shift = np.sum([m.displacement_at(t) for m in self._motions], axis=0)
        return Pose(self.centre + shift, rotate_about(self._axis, angle))

    def velocity(self, t: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the velocity of the centre and the angular velocity during step t."""
        angle = sum(m.angle_at(t + 1) - m.angle_at(t) for m in self._motions)
        velocity = np.sum(
            [m.displacement_at(t + 1) - m.displacement_at(t) for m in self._motions], 0
        )
        try:
            require_slow(float(np.linalg.norm(velocity)) + abs(angle) * self.radius)
        except ValueError as error:
            raise ValueError(f"boundaries[{self.name!r}] in step {t}: {error}") from None
        return velocity, angle * self._axis

    def first_cell(self, t: float) -> np.ndarray:
        """Return the first cell of the box around the body at time t; it may lie outside."""
        lowest = np.where(self._spans, 0.0, self._extent[0] + self.pose(t).centre)
        first = np.where(self._spans, 0, np.floor(lowest) - MARGIN)
        inside = np.clip(first, 0, self._domain - self.box)
        return np.where(self._periodic, first, inside).astype(int)

    def write_step(self, t: int, row: np.ndarray, first_cell: np.ndarray) -> None:
        """Write what moves the body in step t to a row of the table of poses [POSE]."""
        first = self.first_cell(t + 1)
        now, after = self.pose(t), self.pose(t + 1)
        velocity, spin = self.velocity(t)
        angle = sum(m.angle_at(t) + m.angle_at(t + 1) for m in self._motions) / 2.0
        half = Pose((now.centre + after.centre) / 2.0, rotate_about(self._axis, angle))
        row[VELOCITY : VELOCITY + 3], row[SPIN : SPIN + 3] = velocity, spin
        _write(half, row[HALF:], first)
        _write(after, row[END:], first)
        first_cell[:] = self._wrap(first)

    def write_start(self, t: int, row: np.ndarray, first_cell: np.ndarray) -> None:
        """Write the place at time t as that at the end of the step before."""
        first = self.first_cell(t)
        row[:] = 0.0
        _write(self.pose(t), row[HALF:], first)
        _write(self.pose(t), row[END:], first)
        first_cell[:] = self._wrap(first)

    def _wrap(self, first: np.ndarray) -> np.ndarray:
        return np.where(self._periodic, first % self._domain, first)


def _write(pose: Pose, row: np.ndarray, first: np.ndarray) -> None:
    """Write a pose with the coordinates of the box, and the rotation into the body's frame."""
    row[:3], row[3:12] = pose.centre - first, pose.rotation.T.ravel()


assert POSE == END + 12
