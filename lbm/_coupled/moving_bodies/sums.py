"""The sums of all that moving bodies take from the fluid, over cells, blocks, ranks and steps."""

from __future__ import annotations

import numpy as np

from lbm._coupled.moving_bodies.formulas import UNIT, finish_step, gather_sums
from lbm._kernels.items.store import Store
from lbm._parallel.ranks.communication import Ranks

LANES = {"cpu": 16, "cuda": 1024}
"""Parts of a sum that are added up at the same time; not tuned."""


class BlockSums:
    """Sums over the items of a body in a block, on its device.

    Parameters
    ----------
    store : the block
    rows : number of sums
    count : number of items
    clock : int64 [1], the row of the poses, which goes on by one with each step

    Attributes
    ----------
    partial : int64 [rows, count], the sums of each item
    totals : int64 [2, rows], the sums of the last step, and of those since they were taken over
    """

    def __init__(self, store: Store, rows: int, count: int, clock: object):
        self.store, lanes = store, LANES[store.engine.device.kind]
        self.partial = store.zeros(rows, count, dtype=np.int64)
        self.totals = store.zeros(2, rows, dtype=np.int64)
        sums = store.zeros(rows, lanes, dtype=np.int64)
        gather = store.prepare(gather_sums, rows * lanes, self.partial, sums)
        finish = store.prepare(finish_step, rows, sums, self.totals, clock)
        self._loops = gather, finish

    def add_step(self) -> None:
        """Add up what items have summed in a step."""
        for loop in self._loops:
            loop()


class Account:
    """The sums of a body over all blocks and ranks, in units of UNIT.

    Attributes
    ----------
    blocks : the sums in the blocks of this rank
    """

    def __init__(self, ranks: Ranks, rows: int):
        self._ranks, self._rows, self.blocks = ranks, rows, list[BlockSums]()
        self._past = [0] * rows  # sums of all steps would overflow on the device in long runs

    def integers(self, row: int) -> list[int]:
        """Return the sums of the last step (row 0), or of all of them (row 1), of all ranks."""
        now, past = self.copy()
        ours = [int(n) + row * p for n, p in zip(now[row], past, strict=True)]
        total: list[int] = self._ranks.sum(np.array(ours, object)).tolist()
        return total

    def read(self, row: int, first: int, count: int = 3) -> np.ndarray:
        """Return some of these sums as numbers."""
        return np.array(self.integers(row)[first : first + count], float) * UNIT

    def carry(self) -> None:
        """Take the sums of all steps over from the devices, where they would overflow."""
        now, past = self.copy()
        total = [p + int(n) for p, n in zip(past, now[1], strict=True)]
        self.set(np.zeros((2, self._rows), np.int64), total)

    def clear(self) -> None:
        """Forget all sums."""
        self.set(np.zeros((2, self._rows), np.int64), [0] * self._rows)

    def copy(self) -> tuple[np.ndarray, list[int]]:
        """Return the sums on the devices of this rank, and those that were taken over from them."""
        now = np.zeros((2, self._rows), np.int64)
        for block in self.blocks:
            now += block.store.get(block.totals)
        return now, self._past

    def set(self, totals: np.ndarray, past: list[int]) -> None:
        """Set the sums to what `copy` has returned."""
        for k, block in enumerate(self.blocks):
            block.store.set(block.totals, totals * (k == 0))
        self._past = past
