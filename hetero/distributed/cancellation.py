"""Flags that ask long runs to stop.

Python answers Ctrl-C in its main thread, while compiled loops run in others. The main thread waits
for them with `results_of`; if it is interrupted, it sets a flag at which the loops look often.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextvars import ContextVar
from typing import TypeVar

import numpy as np

T = TypeVar("T")

POLL_SECONDS = 0.2
"""Longest wait without a look at signals: some systems deliver none to a thread that waits."""

flag_of_caller: ContextVar[np.ndarray | None] = ContextVar("flag", default=None)
"""Flag of the `use_flag` block around the call."""


class StoppedError(RuntimeError):
    """A run has stopped, because another part of the same work failed or was interrupted."""


def new_flag() -> np.ndarray:
    """Return a flag that is not set; `flag[0] = 1` sets it."""
    return np.zeros(1, np.uint8)


def current_flag() -> np.ndarray:
    """Return the flag of the `use_flag` block around the call, or a new one."""
    flag = flag_of_caller.get()
    return new_flag() if flag is None else flag


def raise_if_stopped() -> None:
    """Raise StoppedError if the flag of the `use_flag` block around the call is set."""
    flag = flag_of_caller.get()
    if flag is not None and flag[0]:
        raise StoppedError("another part of the same work failed or was interrupted")


@contextlib.contextmanager
def use_flag(flag: np.ndarray) -> Iterator[None]:
    """Let the runs that this thread starts in the block look at `flag`."""
    token = flag_of_caller.set(flag)
    try:
        yield
    finally:
        flag_of_caller.reset(token)


def results_of(futures: Sequence[Future[T]], flag: np.ndarray) -> list[T]:
    """Return the results of all futures in their order.

    If one of them fails, or Ctrl-C comes, set `flag`, so that the others end soon, and raise.
    """
    try:
        for future in as_completed(futures):
            future.result()
    except BaseException:
        flag[0] = 1
        raise
    return [future.result() for future in futures]


def as_completed(futures: Iterable[Future[T]]) -> Iterator[Future[T]]:
    """Yield futures that are done, and look at signals meanwhile; cancel the others at an error."""
    pending = set(futures)
    try:
        while pending:
            done, pending = wait(pending, POLL_SECONDS, FIRST_COMPLETED)
            yield from done
    finally:
        for future in pending:
            future.cancel()
