"""The state of Numba's compiler in a process: whether it is on, and its lock in forks."""

from __future__ import annotations

import os

from numba import config

from hetero.errors import CompilerDisabledError
from hetero.numba_internals import compiler_lock


def require_compiler() -> None:
    """Raise CompilerDisabledError if the environment has switched Numba's compiler off."""
    if config.DISABLE_JIT:
        raise CompilerDisabledError


if hasattr(os, "register_at_fork"):
    # A thread that compiles would leave its lock locked in the child for ever: the fork waits.
    os.register_at_fork(
        before=compiler_lock.acquire,
        after_in_parent=compiler_lock.release,
        after_in_child=compiler_lock.release,
    )
