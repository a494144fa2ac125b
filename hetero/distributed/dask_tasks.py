"""Tasks of Dask stop soon after they have been cancelled.

Dask does not run a cancelled task, but lets one that has begun go on to its end. A caller whom
Ctrl-C interrupts cancels its tasks, and the scheduler cancels those of a caller that died. So a
worker that computes a part looks whether its task is still wanted, and sets the flag at which long
loops look (`hetero.distributed.cancellation`).
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from typing import Any

from hetero.distributed.cancellation import POLL_SECONDS, new_flag, use_flag

_WANTED = ("executing", "long-running")
"""States of a running task that has not been cancelled, in Dask's terms."""


@contextlib.contextmanager
def stopped_when_cancelled() -> Iterator[None]:
    """Stop the loops of the block when the task of Dask that runs it is cancelled.

    In other processes than workers of Dask nothing happens.
    """
    task = _current_task()
    if task is None:
        yield
        return
    worker, key = task
    ended, flag = threading.Event(), new_flag()

    def watch() -> None:
        while not ended.wait(POLL_SECONDS):
            state = worker.state.tasks.get(key)
            if state is None or state.state not in _WANTED:
                flag[0] = 1
                return

    watcher = threading.Thread(target=watch, name="heterokit-dask-task", daemon=True)
    watcher.start()
    try:
        with use_flag(flag):
            yield
    finally:
        ended.set()


def _current_task() -> tuple[Any, Any] | None:
    """Return the worker of Dask and the key of its task that this thread runs, if there is one."""
    distributed: Any = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        worker = distributed.get_worker()
        return worker, worker.get_current_task()
    except (ValueError, AttributeError, KeyError):  # this thread runs no task
        return None
