"""The choice of a transport for messages between ranks."""

from __future__ import annotations

import ctypes
import os
from typing import Any

TRANSPORTS = "peer", "device", "host"
"""Transports in the order in which they are tried; `exchange.messages` describes them."""

TRANSPORT_VARIABLE = "LBM_TRANSPORT"
"""Environment variable that names the only transport to use."""

AWARE_VARIABLE = "LBM_CUDA_AWARE_MPI"
"""Environment variable that says, by 1 or 0, whether an MPI takes buffers of GPUs."""


def allowed_transports() -> tuple[str, ...]:
    """Return the transports that the user allows: all, or the one in LBM_TRANSPORT."""
    only = os.environ.get(TRANSPORT_VARIABLE)
    if only is None:
        return TRANSPORTS
    if only not in TRANSPORTS:
        raise ValueError(f"{TRANSPORT_VARIABLE} must be one of {TRANSPORTS}, got {only!r}")
    return (only,)


def takes_device_buffers(comm: Any) -> bool:
    """Return whether the MPI of a communicator takes buffers in the memory of GPUs.

    One that does not crashes if it gets them. In this order: the attribute `cuda_aware` of the
    communicator, the environment variable LBM_CUDA_AWARE_MPI, and what the library itself says
    (`MPIX_Query_cuda_support` of Open MPI, MPICH and their descendants).
    """
    if (attribute := getattr(comm, "cuda_aware", None)) is not None:
        return bool(attribute)
    if (variable := os.environ.get(AWARE_VARIABLE)) is not None:
        if variable not in ("0", "1"):
            raise ValueError(f"{AWARE_VARIABLE} must be 0 or 1, got {variable!r}")
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
