"""The sums of all that moving bodies take from the fluid, over cells, blocks, ranks and steps."""

from __future__ import annotations

import numpy as np

from lbm._coupled.moving_bodies.formulas import LOW_BITS, UNIT, advance_sums
from lbm._kernels.items.store import Store
from lbm._parallel.ranks.communication import Ranks


class BlockSums:
    """Sums over what belongs to a body in a block, on its device.

    Parameters
    ----------
    store : the block
    rows : number of sums
    clock : int64 [1], the row of the poses, which goes on by one with each step

    Attributes
    ----------
    partial : int64 [rows, lane], what items add to in a step
    add_step : adds these to those of all steps
    """

    def __init__(self, store: Store, rows: int, clock: object):
        self.store = store
        self.partial = store.zeros(rows, store.lanes, dtype=np.int64)
        self._totals = store.zeros(3, rows, store.lanes, dtype=np.int64)
        self.add_step = store.prepare(
            advance_sums, rows * store.lanes, self.partial, self._totals, clock
        )

    def read(self) -> np.ndarray:
        """Return the sums of the last step, and of all steps, integers [2, rows] of any size."""
        last, low, high = self.store.get(self._totals).sum(axis=2).astype(object)
        return np.array([last, low + high * (1 << LOW_BITS)], object)

    def set(self, sums: np.ndarray) -> None:
        """Set the sums to what `read` has returned."""
        totals: np.ndarray = np.zeros(self._totals.shape, np.int64)
        totals[0, :, 0], totals[2, :, 0] = sums[0], sums[1] >> LOW_BITS
        totals[1, :, 0] = sums[1] & ((1 << LOW_BITS) - 1)
        self.store.set(self._totals, totals)


class Account:
    """The sums of a body over all blocks and ranks, in units of UNIT.

    Attributes
    ----------
    blocks : the sums in the blocks of this rank
    """

    def __init__(self, ranks: Ranks, rows: int):
        self._ranks, self._rows, self.blocks = ranks, rows, list[BlockSums]()

    def integers(self, row: int) -> list[int]:
        """Return the sums of the last step (row 0), or of all of them (row 1), of all ranks."""
        return self._ranks.sum(self.copy()[row]).tolist()

    def read(self, row: int, first: int, count: int = 3) -> np.ndarray:
        """Return some of these sums as numbers."""
        return np.array(self.integers(row)[first : first + count], float) * UNIT

    def clear(self) -> None:
        """Forget all sums."""
        self.set(np.zeros((2, self._rows), object))

    def copy(self) -> np.ndarray:
        """Return the sums of this rank, integers [2, rows]."""
        zero = np.zeros((2, self._rows), object)
        return sum((block.read() for block in self.blocks), zero)

    def set(self, sums: np.ndarray) -> None:
        """Set the sums to what `copy` has returned."""
        for k, block in enumerate(self.blocks):
            block.set(sums * (k == 0))
