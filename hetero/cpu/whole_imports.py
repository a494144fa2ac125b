"""Imports that Ctrl-C does not cut off in the middle.

An interrupted `import numba` is no import that can be repeated: some of its modules are loaded, and
the package that would hold them is not. The packages of this project import Numba at their first
call, so Ctrl-C in that call must wait until the import is complete. NumPy cannot be imported twice
either, so `import hetero` loads it only after it has called `import_whole`.
"""

from __future__ import annotations

import functools
import signal
import sys
import threading
import time
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import FrameType, ModuleType
from typing import Any

from hetero import deferred_signals
from hetero.deferred_signals import DeferredSignals


class _WholeImports:
    """Finder of modules of some packages; it asks the other finders, and wraps what they find."""

    def __init__(self) -> None:
        self.packages: set[str] = set()

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the specification of a module whose execution defers signals."""
        if name.partition(".")[0] not in self.packages:
            return None
        for finder in sys.meta_path[sys.meta_path.index(self) + 1 :]:
            find_spec = getattr(finder, "find_spec", None)
            spec = None if find_spec is None else find_spec(name, path, target)
            if spec is not None:
                _defer_while_executing(spec.loader)
                return spec
        return None


def _defer_while_executing(loader: Any) -> None:
    """Let the loader of one module run the module as a whole."""
    execute = getattr(loader, "exec_module", None)
    if execute is None or "exec_module" in vars(loader):
        return

    @functools.wraps(execute)
    def execute_whole(module: ModuleType) -> None:
        with DeferredSignals(_send_after_import):
            execute(module)

    loader.exec_module = execute_whole


_PAUSE = 0.002
"""Seconds between two looks whether the main thread is still importing."""


def _send_after_import(number: int) -> None:
    """Send a signal to the main thread again, as soon as the import has ended.

    An exception at the end of an import would let Python forget the module, and execute it a second
    time.
    """
    frame = sys._getframe()
    while (caller := frame.f_back) is not None and _is_importing(caller):
        frame = caller
    threading.Thread(target=_send_when_gone, args=(number, frame), daemon=True).start()


def _is_importing(frame: FrameType) -> bool:
    """Return whether a frame belongs to Python's import, or to the deferral of signals in it."""
    file = frame.f_code.co_filename
    return file.startswith("<frozen importlib") or file in (__file__, deferred_signals.__file__)


def _send_when_gone(number: int, import_frame: FrameType) -> None:
    """Send a signal to the main thread when the frame of an import is no longer on its stack."""
    main = threading.main_thread().ident
    while main is not None and _is_on_stack(import_frame, sys._current_frames().get(main)):
        time.sleep(_PAUSE)
    if main is not None:
        signal.pthread_kill(main, number)


def _is_on_stack(searched: FrameType, frame: FrameType | None) -> bool:
    """Return whether a frame is one of `frame` and its callers."""
    while frame is not None and frame is not searched:
        frame = frame.f_back
    return frame is not None


_finder = _WholeImports()


sys.meta_path.insert(0, _finder)


def import_whole(package: str) -> None:
    """Defer Ctrl-C during imports of the modules of a package, and of what these import."""
    _finder.packages.add(package)
