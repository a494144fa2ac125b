"""Signals that wait for the end of a step.

A step changes the populations in place. Python handles Ctrl-C as soon as compiled code returns,
which is before the step has been counted: the state would then be read as that of another step.
"""

from __future__ import annotations

import signal
import threading

_HELD = (signal.SIGINT, signal.SIGTERM)


class HeldSignals:
    """Within the block SIGINT and SIGTERM are noted; `deliver` hands them to their handlers.

    Python runs handlers in the main thread only, so elsewhere nothing is done, nor for a signal
    that ends the process without Python.
    """

    def __enter__(self) -> HeldSignals:
        self._came: list[tuple] = []
        self._handlers: dict = {}
        if threading.current_thread() is threading.main_thread():
            for number in _HELD:
                if callable(handler := signal.getsignal(number)):
                    self._handlers[number] = handler
                    signal.signal(number, lambda *arguments: self._came.append(arguments))
        return self

    def __exit__(self, *error) -> None:
        while self._handlers:
            signal.signal(*self._handlers.popitem())
        while self._came:
            number, frame = self._came.pop(0)
            if callable(handler := signal.getsignal(number)):  # those before may have changed it
                handler(number, frame)
            else:
                signal.raise_signal(number)

    def deliver(self) -> None:
        """Let the handlers of what came run now; they may raise, and set others."""
        if self._came:
            self.__exit__()
            self.__enter__()
