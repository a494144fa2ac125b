"""Whether MPI takes buffers in the memory of GPUs; one that does not crashes if it gets them."""

from __future__ import annotations

import ctypes
import os
from typing import Any

VARIABLE = "LBM_CUDA_AWARE_MPI"
"""Environment variable that says so for an MPI that cannot be asked: 1 or 0."""


def takes_device_buffers(comm: Any) -> bool:
    """Return whether the MPI of a communicator takes buffers in the memory of GPUs.

    In this order: the attribute `cuda_aware` of the communicator, the environment variable
    LBM_CUDA_AWARE_MPI, and what the library itself says (`MPIX_Query_cuda_support` of Open MPI,
    MPICH and their descendants).
    """
    if (attribute := getattr(comm, "cuda_aware", None)) is not None:
        return bool(attribute)
    if (variable := os.environ.get(VARIABLE)) is not None:
        if variable not in ("0", "1"):
            raise ValueError(f"{VARIABLE} must be 0 or 1, got {variable!r}")
        return variable == "1"
    return _ask_library()


def _ask_library() -> bool:
    from mpi4py import MPI

    for name in (MPI.__file__, None):
        try:
            query = ctypes.CDLL(name).MPIX_Query_cuda_support
        except (OSError, AttributeError, TypeError):
            continue
        query.restype = ctypes.c_int
        return bool(query())
    return False
