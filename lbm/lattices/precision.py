"""Precisions: the dtypes in which kernels compute and in which they store populations."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from hetero.validation import check_choice


@dataclass(frozen=True)
class Precision:
    """The dtypes of the arithmetic and of the populations in memory.

    Attributes
    ----------
    name : that of the dtype in memory, which decides the other
    compute : dtype of the arithmetic
    storage : dtype of a population in memory; half-precision numbers are held as their bits
    lanes : number of cells that share a word. With two, word p of a row holds the cells p and
        p + nx/2: their neighbours in x share words again, so that one access moves two cells.
    moments : stored words of a cell whose state is ten moments; 0 where it is its populations
    """

    name: str
    compute: type
    storage: type
    lanes: int = 1
    moments: int = 0

    @property
    def dtype_name(self) -> str:
        """Name of the dtype of the arithmetic: the argument `dtype` of a simulation."""
        return np.dtype(self.compute).name

    @property
    def storage_name(self) -> str:
        """Name of the dtype of the memory: the argument `storage` of a simulation."""
        return self.name.partition(" ")[0]

    @property
    def arguments(self) -> dict[str, Any]:
        """Arguments of a simulation that choose this precision."""
        if self.dtype_name == self.storage_name:
            return {"dtype": self.dtype_name}
        return {"dtype": self.dtype_name, "storage": self.storage_name}

    def __str__(self) -> str:
        """Return the arguments as they are written in a call."""
        return ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())

    @functools.cached_property
    def itemsize(self) -> int:
        """Size of a stored population in bytes."""
        return np.dtype(self.storage).itemsize

    @property
    def word(self) -> type:
        """dtype of a word, which holds `lanes` populations."""
        if self.lanes == 1:
            return self.storage
        return {2: np.uint32, 4: np.uint64}[self.itemsize]

    @property
    def number(self) -> type:
        """dtype of a number that is stored for each cell beside its state, such as an eddy
        viscosity: that of a population, or of the arithmetic where words hold moments."""
        return self.compute if self.moments else self.storage

    def require_width(self, nx: int) -> None:
        """Raise ValueError if rows of nx cells do not fill whole words."""
        if nx % self.lanes:
            raise ValueError(f"storage={self.storage_name!r} needs an even nx, got {nx}")

    def decode(self, stored: np.ndarray) -> np.ndarray:
        """Return stored populations in host memory as float64."""
        if self.storage is np.uint16:
            return stored.view(np.float16).astype(np.float64) * 2.0**-15
        return stored.astype(np.float64)


PRECISIONS = {
    "float64": Precision("float64", np.float64, np.float64),
    "float32": Precision("float32", np.float32, np.float32),
    "float16": Precision("float16", np.float32, np.uint16, lanes=2),
    "float64 moments": Precision("float64 moments", np.float64, np.float64, moments=10),
    "float32 moments": Precision("float32 moments", np.float32, np.float32, moments=10),
    "float16 moments": Precision("float16 moments", np.float32, np.uint32, moments=5),
}
"""Precisions by name; float16 computes in float32 and stores IEEE half-precision times 2^15."""

DTYPES = "float64", "float32", "float16"
"""Names of the dtypes of arithmetic and memory."""

STATES = "populations", "moments"
"""What is stored of a cell."""

AUTO_STATE = "auto"
"""The state that asks for moments where they are faster."""


def choose_precision(
    dtype: DTypeLike = "float32", storage: DTypeLike | None = None, state: str = "populations"
) -> Precision:
    """Return the precision with these dtypes of the arithmetic and of the memory, and this state.

    `storage` is the same as `dtype` by default; "float16" goes with the arithmetic in float32.
    "auto" is no state yet, and gives that of populations.
    """
    compute = _dtype_name("dtype", dtype)
    if compute == "float16":
        raise ValueError(
            "dtype must be 'float32' or 'float64', got 'float16': to store populations in 16 bits, "
            "use dtype='float32', storage='float16'"
        )
    memory = compute if storage is None else _dtype_name("storage", storage)
    precision = PRECISIONS[memory]
    if precision.dtype_name != compute:
        raise ValueError(
            f"storage={memory!r} goes with dtype={precision.dtype_name!r}, got dtype={compute!r}"
        )
    return PRECISIONS[f"{memory} moments"] if state == "moments" else precision


def _dtype_name(argument: str, dtype: DTypeLike) -> str:
    try:
        name = np.dtype(dtype).name
    except TypeError:
        name = str(dtype)
    return check_choice(argument, name, DTYPES)
