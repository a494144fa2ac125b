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


_SOON = 0.005
"""Seconds after which signals are sent again: by then the import has ended, or the next one has
begun, which defers them again."""


class DeferredSignals:
    """A context in which SIGINT and SIGTERM are queued until `deliver` calls their handlers.

    Python runs handlers in the main thread only, so in other threads the context does nothing, nor
    does it inside another one. Signals without a Python handler are not deferred: they end the
    process at once.
    """

    def __init__(self, send_again: bool = False) -> None:
        """Defer signals. With `send_again` the end of the context does not call their handlers.

        The signals are sent to the process again a moment later instead: an exception at the end of
        an import would let Python forget the module, and execute it a second time.
        """
        self._send_again = send_again

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
            if self._send_again:
                timer = threading.Timer(_SOON, _send_to_main_thread, (number,))
                timer.daemon = True
                timer.start()
                continue
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


def _send_to_main_thread(number: int) -> None:
    """Send a signal to the thread that handles signals."""
    identity = threading.main_thread().ident
    if identity is not None:
        signal.pthread_kill(identity, number)


def defer_while_compiling(dispatcher: Any) -> Any:
    """Let a dispatcher of Numba finish what it compiles, or reads from disk, before Ctrl-C counts.

    It compiles for a call, or because `compile` is called. What is compiled for one call, with the
    functions inlined there, is one compilation: a routine that calls several is interrupted between
    them.
    """
    dispatcher._compile_for_args = _run_whole(dispatcher._compile_for_args)
    dispatcher.compile = _run_whole(dispatcher.compile)
    return dispatcher


def _run_whole(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that defers signals until it has returned."""

    @functools.wraps(function)
    def run(*arguments: Any, **keywords: Any) -> Any:
        with DeferredSignals():
            return function(*arguments, **keywords)

    return run
