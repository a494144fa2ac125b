"""Parts in the workers of a pool of processes end when their caller is interrupted or dies.

A terminal sends Ctrl-C to all processes of a program, a notebook or `kill` to the caller alone. So
the caller keeps a file as long as it waits for the parts, and a worker that computes one looks
whether it is still there. A caller that was killed leaves its file: then the worker, which nobody
waits for, ends.
"""

from __future__ import annotations

import _thread
import contextlib
import multiprocessing
import os
import signal
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError, Executor, ProcessPoolExecutor
from pathlib import Path

from hetero.distributed.cancellation import POLL_SECONDS


@contextlib.contextmanager
def waiting_file(executor: Executor) -> Iterator[Path | None]:
    """Keep a file while the block runs, for the workers of a pool of processes of this machine.

    For other executors there is none: their workers may run elsewhere.
    """
    if not isinstance(executor, ProcessPoolExecutor):
        yield None
        return
    descriptor, name = tempfile.mkstemp(prefix="heterokit-", suffix=".run")
    os.close(descriptor)
    path = Path(name)
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def interrupted_without(path: Path | None) -> Iterator[None]:
    """Interrupt the block, in the main thread of a worker, as Ctrl-C does when `path` is removed.

    If its caller dies, the process ends. Raises CancelledError if the file is missing from the
    start.
    """
    if path is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    if not path.exists():
        raise CancelledError("the caller was interrupted")
    ended, lock = threading.Event(), threading.Lock()
    caller = multiprocessing.parent_process()

    def watch() -> None:
        while not ended.wait(POLL_SECONDS):
            if caller is not None and not caller.is_alive():
                path.unlink(missing_ok=True)
                os._exit(1)
            if not path.exists():
                with lock:
                    if not ended.is_set():
                        _interrupt_main_thread()
                return

    previous = signal.getsignal(signal.SIGINT)
    if previous is signal.SIG_IGN:  # as of programs that a shell has started with `&`
        signal.signal(signal.SIGINT, signal.default_int_handler)
    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        with lock:
            ended.set()
        if previous is signal.SIG_IGN:
            signal.signal(signal.SIGINT, previous)


def _interrupt_main_thread() -> None:
    """Raise KeyboardInterrupt in the main thread, also while it waits in a call of the system."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        _thread.interrupt_main()
