"""CPU cores of the ranks of a host."""

from __future__ import annotations

import os
import socket
import warnings

import numba

import hetero
from lbm._domain.ranks import Ranks

BINDING_VARIABLE = "OMPI_COMM_WORLD_LOCAL_SIZE"
"""Environment variable of ranks that mpiexec of Open MPI has started, which may bind them."""


def share_cores(ranks: Ranks) -> None:
    """Let each rank use an even share of the cores that it may use together with others.

    Some launchers let all ranks of a host use all of its cores. Threads that were chosen by
    NUMBA_NUM_THREADS or `hetero.set_threads` stay as they are. A warning says so if Open MPI has
    bound the ranks to single cores and leaves others without work.
    """
    if ranks.size == 1:
        return
    host, cores = socket.gethostname(), _cores(0)
    everyone = ranks.gather_all((host, cores))
    neighbours = [theirs for name, theirs in everyone if name == host]
    is_chosen = hetero.threads() != numba.config.NUMBA_NUM_THREADS
    if not is_chosen and "NUMBA_NUM_THREADS" not in os.environ:
        share = len(cores) // sum(not cores.isdisjoint(theirs) for theirs in neighbours)
        hetero.set_threads(min(hetero.threads(), max(1, share)))
    is_first = ranks.rank == [name for name, _ in everyone].index(host)
    if is_first and BINDING_VARIABLE in os.environ:
        _warn_of_idle_cores(frozenset().union(*neighbours))


def _warn_of_idle_cores(used: frozenset[int]) -> None:
    """Warn if the launcher has more cores than the ranks that it has bound to some of them."""
    try:
        cores = _cores(os.getppid())
    except OSError:  # the launcher may belong to another user
        return
    if len(used) < len(cores):
        warnings.warn(
            f"Open MPI lets its ranks use {len(used)} of the {len(cores)} cores of this host: "
            "start them with mpiexec --bind-to none",
            stacklevel=5,
        )


def _cores(process: int) -> frozenset[int]:
    """Return the cores that a process may use; 0 is this one."""
    if hasattr(os, "sched_getaffinity"):
        return frozenset(os.sched_getaffinity(process))
    return frozenset(range(os.cpu_count() or 1))  # systems that do not bind processes to cores
