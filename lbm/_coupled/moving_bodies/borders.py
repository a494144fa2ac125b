"""The exchange of density and stress beside the borders of parts, for cells that bodies leave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lbm._coupled.moving_bodies.blocks import BodyBlock
from lbm._coupled.moving_bodies.change_formulas import make_pack
from lbm._coupled.moving_bodies.formulas import MEANS
from lbm._parallel.domain.domain import Domain
from lbm.lattices.extent import Triple


class Borders:
    """The cells of a body's box beside the borders of parts, and the exchange of their moments.

    Cells that the body leaves take the mean of their neighbours, some of which are in other parts.

    All ranks get the means of all these cells, in the order of the ranks and their parts. Where the
    box is inside of one part, nothing is sent.

    Parameters
    ----------
    domain : the domain
    blocks : its parts
    box : cells of the box along x, y and z
    """

    def __init__(self, domain: Domain, blocks: Sequence[BodyBlock], box: np.ndarray):
        self._ranks, self._shape, self._box = domain.ranks, domain.partition.shape, box
        self._blocks, partition = blocks, domain.partition
        self._first: Triple | None = None
        self._counts: dict[Triple, int] = {}
        parts = [part for rank in range(self._ranks.size) for part in partition.parts_of(rank)]
        self._order = {part: k for k, part in enumerate(parts)}
        self._part_along, self._is_border, inside = [], [], []
        for bounds, n, cells in zip(partition.bounds, self._shape, box, strict=True):
            border = np.zeros(n, bool)
            if len(bounds) > 2:
                border[[*bounds[:-1], *(np.array(bounds[1:]) - 1)]] = True
            windows = [border.take(range(k, k + cells), mode="wrap").sum() for k in range(n)]
            inside.append(max(windows))
            self._is_border.append(border)
            self._part_along.append(np.searchsorted(bounds, np.arange(n), "right") - 1)
        size = int(np.prod(box) - np.prod(box - inside))
        self._arrays: dict[Triple, tuple[Any, ...]] = {}
        self._pack: dict[Triple, Any] = {}
        for block in self._blocks:
            store, problem = block.store, block.problem
            positions = store.zeros(*box[::-1].tolist(), dtype=np.int32)
            arrived, packed = store.zeros(size, MEANS), store.zeros(size, MEANS)
            cells, numbers = store.zeros(size, dtype=np.int64), np.array(block.size, np.int64)
            self._arrays[block.part.index] = positions, arrived, packed, cells
            pack, shared = make_pack(problem.precision.name, problem.lattice), store.put(numbers)
            self._pack[block.part.index] = [
                store.prepare(pack, size, populations, cells, *rows, shared, packed)
                for populations, _, *rows in block.populations
            ]

    def arrays(self, block: BodyBlock) -> tuple[Any, ...]:
        """Return where the cells of the box are among those sent, [z, y, x], and the means."""
        return self._arrays[block.part.index][:2]

    def exchange(self, t: int, first: np.ndarray) -> None:
        """Tell all ranks the means after step t, for a box with the first cell (x, y, z)."""
        x, y, z = map(int, first)
        if (x, y, z) != self._first:
            self._find_cells((x, y, z))
        if not self._counts:
            return
        ours = []
        for block in self._blocks:
            self._pack[block.part.index][t % 2]()
            packed = self._arrays[block.part.index][2]
            ours.append(block.store.get(packed[: self._counts[block.part.index]]))
        means = np.concatenate([rows for rank in self._ranks.gather_all(ours) for rows in rank])
        for block in self._blocks:
            block.store.set(self._arrays[block.part.index][1][: len(means)], means)

    def _find_cells(self, first: Triple) -> None:
        """Number the cells of the box at this place, and find those of the blocks."""
        self._first = first
        along = [
            (start + np.arange(cells)) % n
            for start, cells, n in zip(first, self._box, self._shape, strict=True)
        ]
        is_x, is_y, is_z = (b[c] for b, c in zip(self._is_border, along, strict=True))
        in_box = np.argwhere(is_z[:, None, None] | is_y[:, None] | is_x)
        cells = np.stack([c[k] for c, k in zip(along, in_box.T[::-1], strict=True)], axis=1)
        part = np.stack([p[c] for p, c in zip(self._part_along, cells.T, strict=True)], axis=1)
        number = np.array([self._order[p] for p in map(tuple, part.tolist())], int)
        order = np.argsort(number, kind="stable")
        self._counts = {}
        if len(np.unique(number)) < 2:
            return
        in_box, cells, number = in_box[order], cells[order], number[order]
        positions = np.zeros(self._box[::-1], np.int32)
        positions[tuple(in_box.T)] = np.arange(len(in_box))
        for block in self._blocks:
            index = block.part.index
            inside = cells[number == self._order[index]] + block.shift
            nx, ny, _ = block.problem.shape
            flat = (inside[:, 2] * ny + inside[:, 1]) * nx + inside[:, 0]
            stored = self._arrays[index]
            rows = np.full(len(stored[3]), -1)
            rows[: len(flat)] = flat
            self._counts[index] = len(flat)
            block.store.set(stored[0], positions)
            block.store.set(stored[3], rows)
