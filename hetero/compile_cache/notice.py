"""The notice for a user who waits for the compiler."""

from __future__ import annotations

import os
import sys
import threading

from hetero.numba_internals import compiler_lock

SECONDS = 1.0
"""Time after which a user is told that something compiles."""

_noticed: set[str] = set()


def compilation_begins(module: str, after: float = SECONDS) -> None:
    """Tell the user once per package, if the compiler is still at work `after` seconds from now.

    Only in a terminal or a notebook; HETERO_NOTICE=0 silences it.
    """
    package = module.partition(".")[0]
    if package in _noticed or not _is_interactive():
        return
    _noticed.add(package)
    timer = threading.Timer(after, _tell, (package,))
    timer.daemon = True
    timer.start()


def _is_interactive() -> bool:
    if os.environ.get("HETERO_NOTICE", "1").strip() == "0":
        return False
    return _is_notebook() or (sys.stderr is not None and sys.stderr.isatty())


def _is_notebook() -> bool:
    return "ipykernel" in sys.modules


def _tell(package: str) -> None:
    """Print the line if a thread compiles now, else wait for the next compilation."""
    if not compiler_lock.is_another_thread_compiling():
        _noticed.discard(package)
        return
    # A notebook shows what comes through stderr in red, like an error.
    stream = sys.stdout if _is_notebook() else sys.stderr
    print(f"{package}: compiling (once per installation) ...", file=stream, flush=True)
