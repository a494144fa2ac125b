"""Faces that return the equilibrium of a stream, on the parts of a domain."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lbm._coupled.companion import Companion
from lbm._coupled.open_faces.formulas import make_fill
from lbm._kernels.items.store import Store
from lbm._kernels.problem import wall_return_indices
from lbm._parallel.domain.domain import Domain
from lbm._parallel.parts import Part


class _PartLinks:
    """The links of a part into free streams, on its device.

    The step has returned what an outlet would; `fill` replaces it.
    """

    def __init__(self, part: Part):
        problem = part.engine.problem
        links = self._links = problem.links
        interior = tuple(
            slice(h, h + n) for h, n in zip(part.halo[::-1], part.extent.shape[::-1], strict=True)
        )
        is_stream = links.into_streams()
        cells = np.argwhere(np.asarray(is_stream.any(axis=1))[links.classes[interior]]) + [
            s.start for s in interior
        ]
        classes = links.classes[tuple(cells.T)]
        cell, self._q = np.nonzero(is_stream[classes])
        self._classes = classes[cell]
        rows = links.wall_rows[self._classes, self._q, 0]
        self.is_varying = bool(links.is_varying[rows].any())
        store = self._store = Store(part.engine)
        wall = store.put(wall_return_indices(problem, cells[cell], self._q))
        self._values = store.put(self._values_in(0))
        fill = make_fill(problem.precision.name)
        self.fill = [
            store.prepare(fill, len(self._q), store.flat_target(t), wall, self._values)
            for t in (0, 1)
        ]

    def __len__(self) -> int:
        return len(self._q)

    def _values_in(self, step: int) -> np.ndarray:
        """Return the equilibria of the streams, less the weights, in a step [link]."""
        links = replace(self._links, wall_types=self._links.wall_types_in(step))
        return links.returned_by_streams()[self._classes, self._q]

    def prescribe(self, t: int) -> None:
        """Set the streams to those of step t."""
        if self.is_varying:
            self._store.set(self._values, self._values_in(t))


class FreeStreams(Companion):
    """All links into free streams, in the parts of this rank."""

    def __init__(self, domain: Domain):
        super().__init__(domain)
        parts = [_PartLinks(part) for part in domain.parts]
        self._parts = [part for part in parts if len(part)]

    def after_step(self, t: int) -> None:
        """Return the equilibria of the streams after step t."""
        with self.domain.between_streams():
            for part in self._parts:
                part.prescribe(t)
                part.fill[t % 2]()
