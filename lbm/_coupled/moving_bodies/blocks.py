"""The cells of the parts of a domain in which bodies move."""

from __future__ import annotations

import numpy as np

from lbm._kernels.items.store import Store
from lbm._parallel.parts import Part
from lbm.geometry.wall_links import SOLID_CLASS


class BodyBlock:
    """The cells of a part in which bodies move.

    Attributes
    ----------
    size : cells of the block along x, y and z, pitch of its populations, number of these of a cell
    own : the first own cell along x, y and z, and the end of these
    shift : from coordinates of the domain to those of the block
    labels : uint8 of each cell, which body covers it
    populations : what all loops take, after even and after odd steps
    lattice : directions with the opposite ones, and weights
    """

    def __init__(self, part: Part, solid: np.ndarray | None):
        engine, problem = part.engine, part.engine.problem
        self.part, self.problem, store = part, problem, Store(engine)
        self.store, lattice = store, problem.lattice
        halo, cells = np.array(part.halo), np.array(part.extent.shape)
        self.size = [*problem.shape, problem.pitch, lattice.size]
        self.own = np.concatenate([halo, halo + cells])
        self.shift = (halo - part.extent.start) * (halo > 0)
        self.labels = store.zeros(problem.cells, dtype=np.uint8)
        self.classes = problem.links.classes
        if solid is not None:
            self.classes = self._find_classes(solid)
        self.rows = store.put(self.classes.ravel()), store.put(problem.links.masks)
        directions = np.column_stack([lattice.velocities, lattice.opposite]).astype(np.int64)
        self.lattice = store.put(directions), store.put(np.array(lattice.weights))
        self.populations = [
            (store.flat_target(t), self.labels, *self.rows, store.put(self._addresses(1 - t)))
            for t in (0, 1)
        ]

    def _find_classes(self, solid: np.ndarray) -> np.ndarray:
        """Return the classes of cells, in halos those of fluid and of solids.

        `solid` says where there are solids, [z, y, x] of the rank with one more cell around it.
        """
        part, size = self.part, self.problem.shape[::-1]
        classes = np.full(size, SOLID_CLASS, self.problem.links.classes.dtype)
        with_halo, without_halo = [], []
        for n, halo, start in zip(part.extent.shape, part.halo, part.local.start, strict=True):
            with_halo.append(slice(start + 1 - halo, start + 1 + n + halo))
            without_halo.append(slice(halo, halo + n))
        beside = solid[tuple(with_halo[::-1])]
        nz, ny, nx = beside.shape
        classes[:nz, :ny, :nx] = np.where(beside, SOLID_CLASS, 0)
        inside = tuple(without_halo[::-1])
        classes[inside] = self.problem.links.classes[inside]
        return classes

    def _addresses(self, odd: int) -> np.ndarray:
        """Return where populations are loaded, and where if they come from walls [2, q, 5].

        Behind the slot and the shift along x, y and z is how far an element is from that of the
        cell in the first slot, if none of its coordinates wraps around.
        """
        access, (nx, ny, _, pitch, _) = self.problem.pattern.steps[odd], self.size
        tables = [[(a.slot, *a.shift) for a in t] for t in (access.load, access.wall)]
        strides = pitch, 1, nx, nx * ny
        return np.array([[(*a, np.dot(a, strides)) for a in t] for t in tables], np.int64)

    def read_labels(self) -> np.ndarray:
        """Return the labels of the part's cells [z, y, x]."""
        x0, y0, z0, x1, y1, z1 = self.own
        labels = self.store.get(self.labels).reshape(self.problem.shape[::-1])
        return labels[z0:z1, y0:y1, x0:x1]
