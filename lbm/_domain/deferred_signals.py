"""Signals that are deferred to the end of a step.

A step changes the populations in place. Python handles Ctrl-C as soon as compiled code returns,
which is before the step has been counted: the state would then be read as that of another step.
"""

from __future__ import annotations

import signal
import threading
from typing import Any

_DEFERRED = (signal.SIGINT, signal.SIGTERM)


class DeferredSignals:
    """A context in which SIGINT and SIGTERM are queued until `deliver` calls their handlers.

    Python runs handlers in the main thread only, so in other threads the context does nothing.
    Signals without a Python handler are not deferred: they end the process at once.
    """

    def __enter__(self) -> DeferredSignals:
        self._pending: list[tuple[Any, ...]] = []
        self._handlers: dict[signal.Signals, Any] = {}
        if threading.current_thread() is threading.main_thread():
            for number in _DEFERRED:
                if callable(handler := signal.getsignal(number)):
                    self._handlers[number] = handler
                    signal.signal(number, lambda *arguments: self._pending.append(arguments))
        return self

    def __exit__(self, *error: object) -> None:
        while self._handlers:
            signal.signal(*self._handlers.popitem())
        while self._pending:
            number, frame = self._pending.pop(0)
            # An earlier handler may have set another one.
            if callable(handler := signal.getsignal(number)):
                handler(number, frame)
            else:
                signal.raise_signal(number)

    def deliver(self) -> None:
        """Call the handlers of all pending signals; they may raise and set other handlers."""
        if self._pending:
            self.__exit__()
            self.__enter__()
