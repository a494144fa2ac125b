"""Poses of a moving body over the next steps, and the box of cells around it."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np

from lbm._coupled.moving_bodies.shape_formulas import END, HALF, POSE, SPIN, VELOCITY
from lbm.boundaries.limits import MAX_SPEED, require_slow
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


def rotate_about(axis: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Return the matrices [i, 3, 3] of rotations (Rodrigues' formula)."""
    cross, angles = np.cross(np.eye(3), axis), angles[:, None, None]
    return np.eye(3) + np.sin(angles) * cross + (1 - np.cos(angles)) * (cross @ cross)


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
    domain : int [3], cells of the domain
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
        self.name, self._motions, self.domain = name, motions, np.array(domain)
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
        ends = np.stack([-self.centre, self.domain - self.centre]) if tilts else 0.0
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
        return Pose(self.centre + shift, rotate_about(self._axis, np.array([angle]))[0])

    def tabulate(self, t: int, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Return rows that move the body [count, POSE], and the first cells of its box [count, 3].

        Row 0 has the place at time t as that at the end of the step before; the others have the
        steps from t on.
        """
        times = range(t, t + count)
        angles = np.array([sum(m.angle_at(s) for m in self._motions) for s in times], float)
        shifts = np.array([np.sum([m.displacement_at(s) for m in self._motions], 0) for s in times])
        velocity, turn, centres = np.diff(shifts, axis=0), np.diff(angles), self.centre + shifts
        speeds = np.linalg.norm(velocity, axis=1) + np.abs(turn) * self.radius
        step = int(np.argmax(speeds > MAX_SPEED))
        where = f"boundaries[{self.name!r}] in step {t + step}"
        require_slow(float(speeds[step]), f"{where}: velocity")
        lowest = np.where(self._spans, 0.0, self._extent[0] + centres)
        cells = np.where(self._spans, 0, np.floor(lowest) - MARGIN)
        inside = np.clip(cells, 0, self.domain - self.box)
        first = np.where(self._periodic, cells, inside).astype(int)
        pose = np.zeros((count, POSE))
        middles = (centres[:-1] + centres[1:]) / 2.0, (angles[:-1] + angles[1:]) / 2.0
        _write(*middles, self._axis, pose[1:, HALF:], first[1:])
        _write(centres, angles, self._axis, pose[:, END:], first)
        pose[1:, VELOCITY : VELOCITY + 3] = velocity
        pose[1:, SPIN : SPIN + 3] = np.outer(turn, self._axis)
        return pose, np.where(self._periodic, first % self.domain, first)


def _write(
    centres: np.ndarray, angles: np.ndarray, axis: np.ndarray, rows: np.ndarray, first: np.ndarray
) -> None:
    """Write poses with the coordinates of the box, and the rotations into the body's frame."""
    rows[:, :3] = centres - first
    rows[:, 3:12] = rotate_about(axis, angles).swapaxes(1, 2).reshape(-1, 9)


assert POSE == END + 12
