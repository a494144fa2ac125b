"""The ranks that share a simulation: what they tell each other, and their shares of the cores."""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import socket
import warnings
import weakref
from collections.abc import Iterator, Mapping
from typing import Any

import numba
import numpy as np

import hetero

COUNT_VARIABLE = "OMPI_COMM_WORLD_LOCAL_SIZE"
"""Environment variable with the number of ranks that Open MPI started on a host, and may bind."""

_shares: set[int] = set()
"""Numbers of threads that `share_cores` has set: they were not chosen by the user."""


class Ranks:
    """A communicator of mpi4py, or a process alone.

    Parameters
    ----------
    comm : communicator, optional
        A private copy of it is used, so that no other messages interfere. None: no MPI at all.
    """

    def __init__(self, comm: Any = None):
        if not (comm is None or hasattr(comm, "Dup")):
            raise TypeError(
                "comm must be a communicator of mpi4py, such as MPI.COMM_WORLD, or None, "
                f"got {comm!r}"
            )
        if comm is not None and not comm:
            raise ValueError("comm is MPI.COMM_NULL: this rank is in none of the groups")
        shares = comm is not None and comm.size > 1
        self.comm = copy_communicator(comm, self) if shares else None
        self.rank = self.comm.rank if self.comm else 0
        self.size = self.comm.size if self.comm else 1

    @property
    def communicator(self) -> Any:
        """The private communicator of several ranks."""
        if self.comm is None:
            raise RuntimeError("a process alone has no communicator")
        return self.comm

    def gather_all(self, value: Any) -> list[Any]:
        """Return the values of all ranks."""
        return self.comm.allgather(value) if self.comm else [value]

    def gather(self, value: Any) -> list[Any] | None:
        """Return the values of all ranks on rank 0, and None on the others."""
        return self.comm.gather(value) if self.comm else [value]

    def broadcast(self, value: Any) -> Any:
        """Return the value of one rank."""
        return self.comm.bcast(value) if self.comm else value

    def exchange(self, values: list[Any]) -> list[Any]:
        """Send value number k to rank k; return the values that the ranks send to this one."""
        return self.comm.alltoall(values) if self.comm else values

    def sum(self, value: Any) -> Any:
        """Return the sum over the ranks of integers, or of an array of integers.

        Sums of floating-point numbers would depend on the number of ranks.
        """
        values = self.gather_all(value)
        total = values[0]
        for other in values[1:]:
            total = total + other
        return total

    def any(self, value: object) -> bool:
        """Return whether the value of any rank is true."""
        return any(self.gather_all(bool(value)))

    def all(self, value: object) -> bool:
        """Return whether the values of all ranks are true."""
        return all(self.gather_all(bool(value)))

    def max(self, value: float) -> float:
        """Return the largest value; NaN if there is one."""
        return float(np.max(self.gather_all(value)))

    def require_same_call(self, method: str, settings: Mapping[str, object] | None = None) -> None:
        """Raise ValueError on all ranks unless all call the same method with the same settings.

        They would otherwise wait for each other forever, or mix their values.
        """
        if self.comm:
            self.require_same({"method": method, **(settings or {})})

    @contextlib.contextmanager
    def agreeing(self) -> Iterator[None]:
        """Raise the error of any rank on all of them, after a block that all have run."""
        error: Exception | None = None
        try:
            yield
        except Exception as raised:
            error = raised
        failed = [e for e in self.gather_all(error) if e is not None]
        if failed:
            raise error or failed[0]

    def require_same(self, settings: Mapping[str, object]) -> None:
        """Raise ValueError on all ranks if a setting differs between two of them."""
        described = {name: str(value) for name, value in settings.items()}
        everyone = self.gather_all(described)
        # Ranks in different methods have different settings, but each knows its method.
        keys = {"method"} if "method" in described else described.keys()
        if not all(isinstance(theirs, dict) and keys <= theirs.keys() for theirs in everyone):
            raise ValueError(
                "the ranks call different methods of a simulation: all of them must call the same "
                "methods in the same order (`if s.rank == 0` is for what a rank does alone, such "
                "as printing what a method returned on all ranks)"
            )
        first = everyone[0]
        for rank, theirs in enumerate(everyone):
            for name, value in theirs.items():
                if value != first.get(name):
                    raise ValueError(
                        f"rank {rank} has {name}={value}, but rank 0 has {first[name]}: all ranks "
                        "must run the same program with the same arguments"
                    )


def usable_cores(process: int = 0) -> frozenset[int]:
    """Return the numbers of the cores that a process may use; 0 is this process.

    Raises OSError if there is no such process.
    """
    if hasattr(os, "sched_getaffinity"):
        return frozenset(os.sched_getaffinity(process))
    return frozenset(range(os.cpu_count() or 1))  # systems that do not bind processes to cores


def share_cores(ranks: Ranks) -> None:
    """Let each rank use an even share of the cores that it may use together with others.

    Some launchers let all ranks of a host use all of its cores. The share stays after a simulation,
    because the other ranks stay, too. Threads that were chosen stay as they are: by
    NUMBA_NUM_THREADS, or by `hetero.set_threads` with fewer than all. A warning says so if Open MPI
    has bound all ranks of a host to some of its cores, so that others have no work.
    """
    if ranks.size == 1 and COUNT_VARIABLE not in os.environ:
        return
    host, cores = socket.gethostname(), usable_cores()
    everyone = ranks.gather_all((host, cores))
    on_this_host = [theirs for name, theirs in everyone if name == host]
    is_chosen = _has_chosen_threads()
    if ranks.size > 1 and not is_chosen:
        users = sum(not cores.isdisjoint(theirs) for theirs in on_this_host)
        threads = min(hetero.threads(), max(1, len(cores) // users))
        hetero.set_threads(threads)
        _shares.add(threads)
    is_first = ranks.rank == [name for name, _ in everyone].index(host)
    are_all = os.environ.get(COUNT_VARIABLE) == str(len(on_this_host))
    needs_more = not is_chosen or hetero.threads() > len(cores)
    if is_first and are_all and needs_more:
        _warn_of_idle_cores(frozenset().union(*on_this_host))


def _has_chosen_threads() -> bool:
    """Return whether the user has chosen the number of threads of this process."""
    unchosen = {numba.config.NUMBA_NUM_THREADS, *_shares}
    return "NUMBA_NUM_THREADS" in os.environ or hetero.threads() not in unchosen


def _warn_of_idle_cores(used: frozenset[int]) -> None:
    """Warn if the launcher has more cores than the ranks that it has bound to some of them."""
    try:
        cores = usable_cores(os.getppid())
    except OSError:  # the launcher may belong to another user
        return
    if len(used) < len(cores):
        warnings.warn(
            f"Open MPI lets its ranks use {len(used)} of the {len(cores)} cores of this host: "
            "start them with mpiexec --bind-to none",
            stacklevel=4,
        )


MOST_COPIES = 64
"""Number of copies of a communicator from which on those without a simulation are freed."""


def copy_communicator(comm: Any, owner: object) -> Any:
    """Return a copy of a communicator, so that no other messages interfere with those of `owner`.

    All ranks of `comm` must call this together. An MPI has room for a few thousand communicators.
    Freeing one is a matter of all its ranks, and Python does not end objects at the same moment on
    all of them: copies whose owners have ended on all ranks are freed when further ones are made.
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
