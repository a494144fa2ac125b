"""The plane of an inlet: its points, and the mass that a velocity at each of them brings in."""

from __future__ import annotations

import numpy as np

from lbm.boundaries import FACES, Enclosure
from lbm.geometry.boundary_cells import BoundaryCells
from lbm.geometry.wall_links import mirror_images
from lbm.lattices import Lattice
from lbm.lattices.extent import Extent


class InletPlane:
    """A face of the domain through which fluid enters, in all ranks' cells.

    Its points are those at which links may meet it: half a cell apart along both axes, from one
    edge to the other, which is the same point if the domain is periodic.

    Parameters
    ----------
    face : number of the face
    enclosure : the domain and its walls; the condition of `face` equals no other

    Attributes
    ----------
    axis, axes : the axis across the plane, and the two in it
    wraps : whether the domain is periodic along these
    size : numbers of points along these
    inwards : 1.0 or -1.0, the direction along `axis` into the domain
    weights : float64 [component, row, column], mass per step that a velocity of 1 at each point
        brings in: walls bring in -6 w_q (c_q . u) on each link
    area : mass that a velocity of 1 into the domain brings in, in cells^2
    """

    def __init__(self, face: int, lattice: Lattice, enclosure: Enclosure):
        self.face, (shape, faces, _) = face, enclosure
        self.shape = shape
        self.axis, self.inwards = face // 2, -1.0 if face % 2 else 1.0
        first, second = (axis for axis in range(3) if axis != self.axis)
        self.axes = first, second
        self.wraps = faces[2 * first].is_periodic, faces[2 * second].is_periodic
        self.size = (
            2 * shape[first] + (not self.wraps[0]),
            2 * shape[second] + (not self.wraps[1]),
        )
        self.weights = self._weigh_points(lattice, enclosure)
        self.area = self.inwards * float(self.weights[self.axis].sum())
        if self.area <= 0.0:
            raise ValueError(f"the inlet {FACES[face]!r} with lbm.SyntheticEddies has no fluid")

    def _weigh_points(self, lattice: Lattice, enclosure: Enclosure) -> np.ndarray:
        """Return `weights`, the sums over the links that end at the inlet and bounce."""
        layer = (self.shape[self.axis] - 1) * (self.face % 2)
        extent = Extent.of_layers(self.shape, self.axis, layer, layer + 1)
        cells = BoundaryCells(lattice, enclosure, extent)
        cell, q = cells.links_of(enclosure.faces[self.face])
        partner = mirror_images(lattice, cells.slip, cells.owner, cells.row)
        bounces = partner[cell, q] == q
        cell, q = cell[bounces], q[bounces]
        c = np.array(lattice.velocities)[q]
        points = np.stack([cells.x, cells.y, cells.z], axis=1)[cell] + 0.5 + 0.5 * c
        positions = tuple(self.find_places(*points.T))
        weights = np.zeros((3, *self.size))
        brought = -6.0 * np.array(lattice.weights)[q] * c.T
        for k in range(3):
            np.add.at(weights[k], positions, brought[k])
        return weights

    def find_places(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Return the rows and columns [2, ...] of the points nearest to coordinates in cells."""
        coordinates = x, y, z
        return np.stack([
            np.rint(2.0 * coordinates[axis]).astype(np.int64) % size
            for axis, size in zip(self.axes, self.size, strict=True)
        ])  # fmt: skip

    def points(self) -> np.ndarray:
        """Return all points, row by row, float64 [k, (x, y, z)] in cells."""
        points = np.empty((*self.size, 3))
        points[..., self.axis] = self.shape[self.axis] * (self.face % 2)
        points[..., self.axes[0]] = 0.5 * np.arange(self.size[0])[:, None]
        points[..., self.axes[1]] = 0.5 * np.arange(self.size[1])[None, :]
        return points.reshape(-1, 3)
