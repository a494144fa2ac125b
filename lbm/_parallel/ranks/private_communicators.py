"""Private copies of a user's communicator, one for each simulation, and their release.

An MPI has room for a few thousand communicators. Freeing one is a matter of all its ranks, and
Python does not end objects at the same moment on all of them. Copies whose simulations have ended
on all ranks are therefore freed when further simulations are created.
"""

from __future__ import annotations

import functools
import gc
import weakref
from typing import Any

MOST_COPIES = 64
"""Number of copies of a communicator from which on those without a simulation are freed."""


def copy_communicator(comm: Any, owner: object) -> Any:
    """Return a copy of a communicator, so that no other messages interfere with those of `owner`.

    All ranks of `comm` must call this together. The copy may be freed after the end of `owner`.
    """
    from mpi4py import MPI

    if not isinstance(comm, MPI.Comm):  # a stand-in for one
        return comm.Dup()
    copies: Any = comm.Get_attr(_key())  # pairs of a copy and a reference to its owner
    if copies is None:
        comm.Set_attr(_key(), copies := [])
    copy = comm.Dup()
    if len(copies) >= MOST_COPIES:
        gc.collect()  # simulations whose objects refer to each other
        alive = copy.allgather([reference() is not None for _, reference in copies])
        used = [any(flags) for flags in zip(*alive, strict=True)]
        for (other, _), is_used in zip(copies, used, strict=True):
            if not is_used:
                other.Free()
        copies[:] = [entry for entry, is_used in zip(copies, used, strict=True) if is_used]
    copies.append((copy, weakref.ref(owner)))
    return copy


@functools.cache
def _key() -> int:
    """Return the key under which a communicator holds its copies."""
    from mpi4py import MPI

    return MPI.Comm.Create_keyval()
