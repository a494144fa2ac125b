"""Numba's compiler and threading layers, made safe for forks and for Python threads.

Numba runs parallel loops on one of three layers, in this order of preference: TBB, OpenMP and its
own "workqueue". Two of them end the process where they are misused:

- GNU OpenMP kills a child that was forked after the first parallel loop. `multiprocessing.Pool`
  then starts another child for ever, so its user sees a program that hangs.
- workqueue aborts the process if two Python threads run parallel loops at the same time.

Every parallel loop of these packages passes through `protect_loop`, which turns the first case into
a `ForkedProcessError` in the child and lets the loops of the second case wait for one another.
"""

from __future__ import annotations

import ctypes
import functools
import os
import site
import sys
import threading
import weakref
from pathlib import Path
from typing import Any

from numba import config

from hetero.errors import CompilerDisabledError, ForkedProcessError
from hetero.numba_internals import compiler_lock
from hetero.numba_internals.dispatchers import refuse_calls
from hetero.numba_internals.parallel_layers import can_load, chosen_layer

_loops: weakref.WeakSet = weakref.WeakSet()
_workqueue_lock = threading.RLock()
_cannot_run_loops = False


def require_compiler() -> None:
    """Raise CompilerDisabledError if the environment has switched Numba's compiler off."""
    if config.DISABLE_JIT:
        raise CompilerDisabledError


def protect_loop(dispatcher: Any) -> Any:
    """Return a parallel loop that raises a clear error, or waits, where Numba would abort.

    It costs nothing per call, except under the workqueue layer, where it takes a lock.
    """
    if _cannot_run_loops:
        refuse_calls(dispatcher, ForkedProcessError)
    _loops.add(dispatcher)
    return _SerializedLoop(dispatcher) if _uses_workqueue() else dispatcher


def load_tbb() -> None:
    """Load the TBB library that `pip install tbb` brings, so that Numba finds it.

    pip puts it into the environment's own lib folder, where the dynamic loader does not look.
    Does nothing where there is none, on other systems than Linux, and after Numba has made its
    choice.
    """
    if sys.platform != "linux" or chosen_layer() is not None:
        return
    for prefix in (sys.prefix, site.getuserbase()):
        library = Path(prefix, "lib", "libtbb.so.12")
        if library.exists():
            ctypes.CDLL(str(library), ctypes.RTLD_GLOBAL)
            return


@functools.cache
def _uses_workqueue() -> bool:
    """Return whether Numba will choose the workqueue layer, or has done so."""
    if chosen_layer() is not None:
        return chosen_layer() == "workqueue"
    chosen = str(config.THREADING_LAYER).lower()
    if chosen in ("tbb", "omp", "safe", "threadsafe"):
        return False
    layers = {"workqueue": ["workqueue"], "forksafe": ["tbb", "workqueue"]}.get(
        chosen, config.THREADING_LAYER_PRIORITY
    )
    return next(filter(can_load, layers), "workqueue") == "workqueue"


class _SerializedLoop:
    """A parallel loop that one Python thread runs at a time, for the workqueue layer."""

    def __init__(self, dispatcher: Any) -> None:
        self._dispatcher = dispatcher
        functools.update_wrapper(self, dispatcher)

    def __call__(self, *arguments: Any) -> Any:
        with _workqueue_lock:
            return self._dispatcher(*arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._dispatcher, name)


def _after_fork_in_child() -> None:
    """Disable the parallel loops if the parent had started GNU OpenMP, and renew the lock."""
    global _cannot_run_loops, _workqueue_lock
    _workqueue_lock = threading.RLock()  # another thread of the parent may have held it
    if chosen_layer() == "omp" and sys.platform == "linux":
        _cannot_run_loops = True
        for dispatcher in list(_loops):
            refuse_calls(dispatcher, ForkedProcessError)


if hasattr(os, "register_at_fork"):
    # A thread that compiles would leave its lock locked in the child for ever: the fork waits.
    os.register_at_fork(
        before=compiler_lock.acquire,
        after_in_parent=compiler_lock.release,
        after_in_child=compiler_lock.release,
    )
    os.register_at_fork(after_in_child=_after_fork_in_child)
