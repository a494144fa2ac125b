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
            found = {number: signal.getsignal(number) for number in _HELD}
            self._handlers = {number: h for number, h in found.items() if callable(h)}
            for number in self._handlers:
                signal.signal(number, lambda *arguments: self._came.append(arguments))
        return self

    def __exit__(self, *error) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self.deliver()

    def deliver(self) -> None:
        """Let the handlers of what came run now; they may raise."""
        while self._came:
            number, frame = self._came.pop(0)
            self._handlers[number](number, frame)
