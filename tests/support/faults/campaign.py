"""Cases by package, run one after the other in this process."""

from __future__ import annotations

import faulthandler
import importlib
import signal
import threading
from collections.abc import Iterator

from faults.judge import Call, verdict

PACKAGES = ("hetero", "stablegpu", "rode", "lbm", "sbth", "tmd")


def calls_of(package: str) -> list[Call]:
    """Return the good calls of a package."""
    return importlib.import_module(f"faults.{package}_calls").CALLS


def cases_of(package: str) -> Iterator[tuple[Call, str, str]]:
    """Yield call, argument and odd value of each case of a package."""
    for call in calls_of(package):
        for argument, odd in call.cases():
            yield call, argument, odd


class OutOfTimeError(BaseException):  # so that no `except Exception` takes it for an error
    """A call has taken longer than its limit."""


def timed_verdict(call: Call, argument: str, odd: str, seconds: float) -> str | None:
    """Return the verdict on a case that may take so many seconds.

    A call in compiled code cannot be interrupted: the process ends after five times the limit.
    """
    if threading.current_thread() is not threading.main_thread():
        return verdict(call, argument, odd)
    faulthandler.dump_traceback_later(5.0 * seconds + 60.0, exit=True)
    previous = signal.signal(signal.SIGALRM, _stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return verdict(call, argument, odd)
    except OutOfTimeError:
        return f"takes more than {seconds:g} s"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, previous)
        faulthandler.cancel_dump_traceback_later()


def _stop(_signal: int, _frame: object) -> None:
    raise OutOfTimeError
