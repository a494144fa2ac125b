"""CPU cores of the ranks of a host."""

from __future__ import annotations

import os
import socket
import warnings

import numba

import hetero
from lbm._parallel.ranks.communication import Ranks

COUNT_VARIABLE = "OMPI_COMM_WORLD_LOCAL_SIZE"
"""Environment variable with the number of ranks that Open MPI started on a host, and may bind."""

_shares: set[int] = set()
"""Numbers of threads that `share_cores` has set: they were not chosen by the user."""


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
