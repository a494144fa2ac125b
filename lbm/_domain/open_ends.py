"""Ends that do not reflect on the parts of a domain, and what checkpoints keep of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from lbm import _open_ends
from lbm._domain.domain import Domain
from lbm._domain.parts import Part
from lbm._model.extent import Triple
from lbm._open_ends.tables import make_table
from lbm.boundaries import FACES, Condition, OpenEnd, VelocityInlet


class End(NamedTuple):
    """The cells of a part before an end that does not reflect.

    Attributes
    ----------
    row : number of the end among those that do not reflect
    face : number of its face
    cells : int64 [cell, (x, y, z)], counted from the first cell of the rank
    store : their means and addresses on the device
    """

    row: int
    face: int
    cells: np.ndarray
    store: _open_ends.EndStore


class OpenEnds:
    """All inlets and outlets of a flow that do not reflect, in the parts of this rank.

    Parameters
    ----------
    shape : cells of the whole domain
    faces : conditions at the faces
    domain : the parts

    Attributes
    ----------
    rows : numbers of a cell that checkpoints keep: the mean of each end
    """

    def __init__(self, shape: Triple, faces: Sequence[Condition], domain: Domain):
        self._domain, self._faces = domain, faces
        numbers = [k for k, face in enumerate(faces) if isinstance(face, OpenEnd)]
        self.rows = len(numbers)
        self._ends = [
            end
            for row, face in enumerate(numbers)
            for part in domain.parts
            if (end := self._make_end(row, face, part, shape)) is not None
        ]

    def _make_end(self, row: int, face: int, part: Part, shape: Triple) -> End | None:
        """Return the cells of a part before an end, or None."""
        table = make_table(part, face, shape, self._faces)
        if table is None:
            return None
        condition = self._faces[face]
        assert isinstance(condition, OpenEnd)
        cells = table.cells[:, ::-1] - np.array(part.halo) + np.array(part.local.start)
        create = _open_ends.loops(part.engine.device).create_store
        return End(row, face, cells, create(part.engine, table, 1.0 / condition.averaging))

    def start(self, rho: np.ndarray, u: np.ndarray) -> None:
        """Set the means to those of a density and a velocity of this rank.

        rho is an array [x, y, z] or a number, u an array [c, x, y, z] or three numbers.
        """
        for end in self._ends:
            axis, at_end = divmod(end.face, 2)
            outwards = u[axis] if at_end else -u[axis]
            is_inlet = isinstance(self._faces[end.face], VelocityInlet)
            means = rho - 1.0 if is_inlet else outwards
            means = means[tuple(end.cells.T)] if means.ndim else means
            end.store.write_means(np.broadcast_to(means, len(end.cells)))

    def before_step(self, t: int) -> None:
        """Do nothing: ends act after a step."""

    def after_step(self, t: int) -> None:
        """Correct what the ends have returned in step t."""
        if not self.rows:
            return
        with self._domain.between_streams():
            for end in self._ends:
                end.store.correct(t)

    # ---- state -------------------------------------------------------------------------------

    def describe(self) -> str:
        """Return the ends and their settings, but for those that all walls have."""
        return "; ".join(
            f"{name}: {type(face).__name__}, averaging={face.averaging}"
            for name, face in zip(FACES, self._faces, strict=True)
            if isinstance(face, OpenEnd)
        )

    def _within(self, z0: int, z1: int) -> Iterator[tuple[End, np.ndarray, tuple[np.ndarray, ...]]]:
        """Yield (end, its cells between two layers, their places in rows [z, y, x])."""
        for end in self._ends:
            inside = np.flatnonzero((end.cells[:, 2] >= z0) & (end.cells[:, 2] < z1))
            if len(inside):
                x, y, z = end.cells[inside].T
                yield end, inside, (z - z0, y, x)

    def read_rows(self, t: int, z0: int, z1: int) -> np.ndarray:
        """Return the means of the layers z0 to z1 of this rank; 0 in other cells."""
        nx, ny, _ = self._domain.problem.shape
        shape = self.rows, z1 - z0, ny, nx
        out: np.ndarray = np.zeros(shape, self._domain.problem.precision.compute)
        for end, inside, places in self._within(z0, z1):
            out[end.row][places] = end.store.read_means()[inside]
        return out

    def write_rows(self, t: int, z0: int, values: np.ndarray) -> None:
        """Set the means of the layers from z0 on."""
        for end, inside, places in self._within(z0, z0 + values.shape[1]):
            means = end.store.read_means()
            means[inside] = values[end.row][places]
            end.store.write_means(means)

    def require_finite(self, t: int) -> None:
        """Do nothing: means are finite while the flow is."""

    def copy_state(self, t: int) -> list[np.ndarray]:
        """Return copies of the means, in host memory."""
        return [end.store.read_means() for end in self._ends]

    def return_to_state(self, t: int, state: list[np.ndarray]) -> None:
        """Restore copied means."""
        for end, means in zip(self._ends, state, strict=True):
            end.store.write_means(means)
