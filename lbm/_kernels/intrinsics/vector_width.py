"""Width of the vector registers of this processor, and instructions that it has for them."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import DTypeLike

from hetero.numba_internals.registries import processor

_FOR_64_BYTES = {"avx512f", "avx512vl", "avx512bw", "avx512dq"}
"""Instruction sets of every server processor with AVX-512, since 2017."""


@functools.cache
def processor_features() -> frozenset[str]:
    """Return LLVM's names of the instruction sets for which Numba compiles CPU code."""
    _, _, text = processor()
    return frozenset(name[1:] for name in text.split(",") if name.startswith("+"))


def register_bytes() -> int:
    """Return the size in bytes of the vector registers: 64, 32 or 16."""
    features = processor_features()
    if features >= _FOR_64_BYTES:
        return 64
    return 32 if "avx" in features else 16


def vector_lanes(dtype: DTypeLike) -> int:
    """Return the number of lanes of a full vector of this dtype."""
    return register_bytes() // np.dtype(dtype).itemsize


def has_masks() -> bool:
    """Return whether loads and stores of a part of a vector cost as much as those of all of it."""
    return processor_features() >= _FOR_64_BYTES
