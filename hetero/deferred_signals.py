"""Signals that are deferred while something must not be left half done.

Python handles Ctrl-C between any two of its instructions. A step of a flow that is cut off there
leaves populations in place of which nobody knows the step; an import or a compilation by Numba that
is cut off can leave tables without entries, so that the function fails in every later call of the
process.
"""

from __future__ import annotations

import functools
import signal
import threading
from collections.abc import Callable
from typing import Any

_DEFERRED = (signal.SIGINT, signal.SIGTERM)

MAX_PENDING = 3
"""Number of signals of which the last one is handled at once: who presses Ctrl-C again and again
wants to leave, whatever is left half done."""


class DeferredSignals:
    """A context in which SIGINT and SIGTERM are queued until `deliver` calls their handlers.

    Python runs handlers in the main thread only, so in other threads the context does nothing, nor
    does it inside another one. Signals without a Python handler are not deferred: they end the
    process at once.
    """

    def __init__(self, deliver_later: Callable[[int], None] | None = None) -> None:
        """Defer signals. At the end their handlers are called, or `deliver_later` with each."""
        self._deliver_later = deliver_later

    def __enter__(self) -> DeferredSignals:
        self._pending: list[tuple[Any, ...]] = []
        self._handlers: dict[signal.Signals, Any] = {}
        if threading.current_thread() is threading.main_thread():
            for number in _DEFERRED:
                handler = signal.getsignal(number)
                is_deferred = isinstance(getattr(handler, "__self__", None), DeferredSignals)
                if callable(handler) and not is_deferred:
                    self._handlers[number] = handler
                    signal.signal(number, self._receive)
        return self

    def _receive(self, number: int, frame: Any) -> None:
        """Queue a signal, or call its handler if it is the last of MAX_PENDING."""
        self._pending.append((number, frame))
        if len(self._pending) >= MAX_PENDING:
            self._pending.clear()
            self._handlers[signal.Signals(number)](number, frame)

    def __exit__(self, *error: object) -> None:
        while self._handlers:
            signal.signal(*self._handlers.popitem())
        while self._pending:
            number, frame = self._pending.pop(0)
            if self._deliver_later is not None:
                self._deliver_later(number)
            # An earlier handler may have set another one.
            elif callable(handler := signal.getsignal(number)):
                handler(number, frame)
            else:
                signal.raise_signal(number)

    def deliver(self) -> None:
        """Call the handlers of all pending signals; they may raise and set other handlers."""
        if self._pending:
            self.__exit__()
            self.__enter__()


def run_whole(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that defers signals until it has returned."""

    @functools.wraps(function)
    def run(*arguments: Any, **keywords: Any) -> Any:
        with DeferredSignals():
            return function(*arguments, **keywords)

    return run
