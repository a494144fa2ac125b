"""The lock that a thread holds while it compiles."""

from __future__ import annotations

from numba.core.compiler_lock import global_compiler_lock


def acquire() -> None:
    """Wait until no other thread compiles, and keep others from it."""
    global_compiler_lock.acquire()


def release() -> None:
    """Let other threads compile."""
    global_compiler_lock.release()


def is_another_thread_compiling() -> bool:
    """Return whether another thread compiles now."""
    lock = global_compiler_lock._lock
    if lock.acquire(blocking=False):
        lock.release()
        return False
    return True


def is_held_here() -> bool:
    """Return whether this thread compiles now."""
    return bool(global_compiler_lock.is_locked())
