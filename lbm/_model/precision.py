"""Precisions: the dtypes in which kernels compute and in which they store populations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Precision:
    """The dtypes of the arithmetic and of the populations in memory.

    Attributes
    ----------
    compute : dtype of the arithmetic
    storage : dtype of a population in memory
    lanes : number of cells that share a word. With two, word p of a row holds the cells p and
        p + nx/2: their neighbours in x share words again, so that one access moves two cells.
    """

    name: str
    compute: type
    storage: type
    lanes: int = 1

    @property
    def itemsize(self) -> int:
        """Size of a stored population in bytes."""
        return np.dtype(self.storage).itemsize

    @property
    def word(self) -> type:
        """dtype of a word, which holds `lanes` populations."""
        return {1: self.storage, 2: {2: np.uint32, 4: np.uint64}.get(self.itemsize)}[self.lanes]

    def decode(self, stored: np.ndarray) -> np.ndarray:
        """Return stored populations in host memory as float64."""
        if self.storage is np.uint16:
            return stored.view(np.float16).astype(np.float64) * 2.0**-15
        return stored.astype(np.float64)


PRECISIONS = {
    "float64": Precision("float64", np.float64, np.float64),
    "float32": Precision("float32", np.float32, np.float32),
    "float16": Precision("float16", np.float32, np.uint16, lanes=2),
}
"""Precisions by name; float16 computes in float32 and stores IEEE half-precision times 2^15."""
