"""Faces that respond to the flow, and what checkpoints keep of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lbm._coupled.companion import Companion
from lbm._coupled.open_faces.formulas import make_correct_cell, make_correct_moments
from lbm._coupled.open_faces.tables import FaceTable, find_returned_moments, make_table
from lbm._kernels.items.store import Store
from lbm._parallel.domain.domain import Domain
from lbm._parallel.parts import Part
from lbm.boundaries import FACES, Condition, Enclosure


class RespondingFace:
    """The cells of a part before a face that responds to the flow, and their memory.

    A step leaves what the face returns by its rows; `correct` adds what the condition answers.

    Attributes
    ----------
    row : number of the face among those that respond
    face : its number
    cells : int64 [cell, (x, y, z)], counted from the first cell of the rank
    """

    def __init__(self, row: int, face: int, condition: Condition, part: Part, table: FaceTable):
        self.row, self.face, self.condition = row, face, condition
        self.cells = table.cells[:, ::-1] - np.array(part.halo) + np.array(part.local.start)
        store = self._store = Store(part.engine)
        cells = np.stack([table.share, np.zeros(len(self.cells))])
        self._cells = store.put(cells)
        problem, numbers = part.engine.problem, tuple(map(store.T, condition.response_numbers))
        if problem.precision.moments:
            correct = make_correct_moments(type(condition).respond, problem.precision.name, face)
            cell, changes = map(store.put, find_returned_moments(problem, table))
            self._correct = [
                store.prepare(
                    correct, len(self.cells), store.flat_moments(t)[1], cell, self._cells, changes,
                    numbers,
                )
                for t in (0, 1)
            ]  # fmt: skip
            return
        correct = make_correct_cell(type(condition).respond, problem.precision.name)
        links, directions = store.put(table.links), store.put(table.directions)
        opposite = store.put(np.array(problem.lattice.opposite))
        self._correct = [
            store.prepare(
                correct, len(self.cells), store.flat_target(t), store.put(table.loads[1 - t]),
                links, self._cells, directions, opposite, numbers,
            )
            for t in (0, 1)
        ]  # fmt: skip

    def correct(self, t: int) -> None:
        """Correct what the face has returned in step t."""
        self._correct[t % 2]()

    @property
    def memory(self) -> np.ndarray:
        """The memory of the condition, [cell] in host memory."""
        return self._store.get(self._cells[1])

    @memory.setter
    def memory(self, values: np.ndarray) -> None:
        self._store.set(self._cells[1], values)


class RespondingFaces(Companion):
    """All faces that respond to the flow, in the parts of this rank.

    Parameters
    ----------
    enclosure : the whole domain and its walls
    domain : the parts

    Attributes
    ----------
    rows : numbers of a cell that checkpoints keep: the memory of each face
    """

    def __init__(self, enclosure: Enclosure, domain: Domain):
        super().__init__(domain)
        faces = enclosure.faces
        self._numbers = [k for k, face in enumerate(faces) if face.responds]
        self._conditions, self.rows = faces, len(self._numbers)
        self._faces = [
            RespondingFace(row, face, faces[face], part, table)
            for row, face in enumerate(self._numbers)
            for part in domain.parts
            if (table := make_table(part, face, enclosure)) is not None
        ]

    def start(self, rho: np.ndarray, u: np.ndarray) -> None:
        """Set the memory of all cells to that of a density and a velocity of this rank."""
        for face in self._faces:
            axis, at_end = divmod(face.face, 2)
            outwards = u[axis] if at_end else -u[axis]
            values = np.asarray(face.condition.start_memory(rho - 1.0, outwards))
            face.memory = values[tuple(face.cells.T)] if values.ndim else values

    def after_step(self, t: int) -> None:
        """Correct what the faces have returned in step t."""
        with self.domain.between_streams():
            for face in self._faces:
                face.correct(t)

    # ---- state -------------------------------------------------------------------------------

    def describe(self, t: int) -> str:
        """Return the faces and their settings, but for those that all walls have."""
        return "; ".join(f"{FACES[k]}: {_describe(self._conditions[k])}" for k in self._numbers)

    def _within(
        self, z0: int, z1: int
    ) -> Iterator[tuple[RespondingFace, np.ndarray, tuple[np.ndarray, ...]]]:
        """Yield (face, its cells between two layers, their places in rows [z, y, x])."""
        for face in self._faces:
            inside = np.flatnonzero((face.cells[:, 2] >= z0) & (face.cells[:, 2] < z1))
            if len(inside):
                x, y, z = face.cells[inside].T
                yield face, inside, (z - z0, y, x)

    def read_rows(self, t: int, z0: int, z1: int) -> np.ndarray:
        """Return the memory in the layers z0 to z1 of this rank; 0 in other cells."""
        out = super().read_rows(t, z0, z1)
        for face, inside, positions in self._within(z0, z1):
            out[face.row][positions] = face.memory[inside]
        return out

    def write_rows(self, t: int, z0: int, values: np.ndarray) -> None:
        """Set the memory in the layers from z0 on."""
        for face, inside, positions in self._within(z0, z0 + values.shape[1]):
            memory = face.memory
            memory[inside] = values[face.row][positions]
            face.memory = memory

    def copy_state(self, t: int) -> list[np.ndarray]:
        """Return copies of the memory of all faces, in host memory."""
        return [face.memory for face in self._faces]

    def return_to_state(self, t: int, state: list[np.ndarray]) -> None:
        """Restore copied memory."""
        for face, memory in zip(self._faces, state, strict=True):
            face.memory = memory


def _describe(condition: Condition) -> str:
    """Return a condition with its fields but for what it prescribes, which may be a function."""
    numbers = {k: v for k, v in vars(condition).items() if k != condition.prescribes}
    return ", ".join([type(condition).__name__, *(f"{k}={v}" for k, v in numbers.items())])
