"""Claims by which processes take turns: one compiles a function, the others wait and load its code.

A claim is a lock on one byte of a file in the folder of compiled code; the byte stands for the name
of the code. The system releases the locks of a process that ends, and Numba's compiler lock ends
all of them, so that a compilation that fails leaves none. Where the system has no such locks, or
the file cannot be opened, nothing is claimed, and several processes may compile the same function.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import time

from numba.core import event as numba_events

from hetero.compile_cache import store
from hetero.numba_internals import compiler_lock

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LONGEST_WAIT = 300.0
"""Seconds after which a function is compiled here, too: the other process may have been stopped."""

_LONGEST_PAUSE = 0.05
"""Seconds between two looks at a claim of another process."""

_claims: set[tuple[int, int]] = set()
"""Descriptor of the file and byte of each claim of this process."""


def claim(folder: str, name: str) -> bool:
    """Claim a name in a folder for this process; return whether another one had claimed it.

    Waits until that one has released it, and at most for `LONGEST_WAIT`.
    """
    claimed = _locate_byte(folder, name)
    if claimed is None or claimed in _claims:
        return False
    _watch_compiler_lock()
    begin, pause, has_waited = time.monotonic(), 0.001, False
    while not _lock(*claimed):
        if time.monotonic() - begin > LONGEST_WAIT:
            return has_waited
        has_waited = True
        time.sleep(pause)
        pause = min(2.0 * pause, _LONGEST_PAUSE)
    _claims.add(claimed)
    return has_waited


def release(folder: str, name: str) -> None:
    """Release a claim, if this process has it."""
    claimed = _locate_byte(folder, name)
    if claimed in _claims:
        _unlock(claimed)


def _locate_byte(folder: str, name: str) -> tuple[int, int] | None:
    """Return the file and the byte in it that stand for a name, or None without locks."""
    if fcntl is None:
        return None
    try:
        descriptor = store.open_claims()
    except OSError:
        return None
    digest = hashlib.sha256(f"{folder}/{name}".encode()).digest()
    return descriptor, int.from_bytes(digest[:7], "big")


def _lock(descriptor: int, byte: int) -> bool:
    """Lock a byte unless another process has locked it; where that is impossible, say yes."""
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:  # this file system has no locks
        return True
    return True


def _unlock(claimed: tuple[int, int]) -> None:
    _claims.discard(claimed)
    with contextlib.suppress(OSError):
        fcntl.lockf(claimed[0], fcntl.LOCK_UN, 1, claimed[1])


class _EndOfCompilation(numba_events.Listener):  # type: ignore[misc]  # Numba has no types
    """Release all claims when this thread leaves the compiler, by whatever way."""

    def on_start(self, event: numba_events.Event) -> None:
        """Do nothing where a thread enters the compiler."""

    def on_end(self, event: numba_events.Event) -> None:
        """Release what is still claimed, unless this was a compilation within another."""
        if _claims and not compiler_lock.is_held_here():
            for claimed in tuple(_claims):
                _unlock(claimed)


@functools.cache
def _watch_compiler_lock() -> None:
    numba_events.register("numba:compiler_lock", _EndOfCompilation())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_claims.clear)  # a child has no locks of its parent
