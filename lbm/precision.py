"""Precisions: what kernels compute with and what they keep in memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Precision:
    """How populations are computed and kept.

    Attributes
    ----------
    compute : dtype of the arithmetic
    storage : dtype of a population in memory
    lanes : cells that share a word of the row. With two, the word at p holds the cells p and
        p + nx/2: neighbours in x are whole words again, so that two cells move with one access.
    """

    name: str
    compute: type
    storage: type
    lanes: int = 1

    @property
    def itemsize(self) -> int:
        """Bytes of a stored population."""
        return np.dtype(self.storage).itemsize

    @property
    def word(self) -> type:
        """dtype of a word: of `lanes` populations."""
        return {1: self.storage, 2: {2: np.uint32, 4: np.uint64}.get(self.itemsize)}[self.lanes]

    def decoded(self, stored: np.ndarray) -> np.ndarray:
        """Stored populations in host memory, as float64."""
        if self.storage is np.uint16:
            return stored.view(np.float16).astype(np.float64) * 2.0**-15
        return stored.astype(np.float64)


PRECISIONS = {
    "float64": Precision("float64", np.float64, np.float64),
    "float32": Precision("float32", np.float32, np.float32),
    "float16": Precision("float16", np.float32, np.uint16, lanes=2),
}
"""float16: float32 arithmetic on IEEE half-precision numbers in memory, scaled by 2^15."""
