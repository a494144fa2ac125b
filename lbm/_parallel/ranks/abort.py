"""The end of all ranks if one of them fails."""

from __future__ import annotations

import atexit
import functools
import socket
import sys
import time
import traceback
from types import TracebackType
from typing import Any, NoReturn

FORWARDING_SECONDS = 0.5
"""Time for the launcher to forward the message: it drops what has not arrived when ranks abort."""


EXIT_SECONDS = 2.0
"""Time for the other ranks to call sys.exit, too, as after a mistake that all of them find."""

_EXIT_TAG = 22_391
"""Tag of the messages in MPI.COMM_WORLD by which ranks tell that they exit; not special."""


@functools.cache
def abort_all_ranks_on_errors() -> None:
    """Let an exception that nobody handles end all ranks, with a message that names this one.

    So does sys.exit with a status that means an error, unless all ranks call it; `raise SystemExit`
    cannot be noticed. The others would otherwise wait forever for its messages.
    """
    from mpi4py import MPI

    _abort_on_exits()

    world, before = MPI.COMM_WORLD, sys.excepthook

    def abort(kind: type[BaseException], error: BaseException, where: TracebackType | None) -> Any:
        name = f"rank {world.rank} of {world.size} on {socket.gethostname()}"
        if issubclass(kind, KeyboardInterrupt):
            print(f"{name} was interrupted: all ranks end", file=sys.stderr)
        elif before is sys.__excepthook__:
            lines = traceback.format_exception(kind, error, where)
            print(f"{name} failed, and all ranks end:\n{''.join(lines)}", file=sys.stderr)
        else:
            print(f"{name} failed, and all ranks end:", file=sys.stderr)
            before(kind, error, where)
        sys.stderr.flush()
        time.sleep(FORWARDING_SECONDS)
        world.Abort(130 if issubclass(kind, KeyboardInterrupt) else 1)

    sys.excepthook = abort


def _abort_on_exits() -> None:
    """Let sys.exit with a status that is not 0 end all ranks when this process ends."""
    sys.exit = _exit_and_remember
    atexit.register(lambda: _end_ranks_after(_exits[-1]) if _exits else None)


_leave = sys.exit
_exits: list[SystemExit] = []


def _exit_and_remember(status: Any = None, /) -> NoReturn:
    """Exit the interpreter as sys.exit does, and remember the exception for the end."""
    try:
        _leave(status)
    except SystemExit as error:
        _exits.append(error)
        raise


def _end_ranks_after(error: SystemExit) -> None:
    """End all ranks, if sys.exit was not caught and not all of them have called it."""
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    if _is_caught(error) or error.code in (None, 0) or MPI.Is_finalized():
        return
    others = {rank for rank in range(world.size) if rank != world.rank}
    sent = [world.isend(None, rank, _EXIT_TAG) for rank in others]
    end = time.monotonic() + EXIT_SECONDS
    while others and time.monotonic() < end:
        others = {rank for rank in others if not world.iprobe(rank, _EXIT_TAG)}
        time.sleep(0.01)
    if others:
        print(
            f"rank {world.rank} of {world.size} on {socket.gethostname()} has called "
            f"sys.exit({error.code!r}), and all ranks end",
            file=sys.stderr,
            flush=True,
        )
        time.sleep(FORWARDING_SECONDS)
        world.Abort(error.code % 256 or 1 if isinstance(error.code, int) else 1)
    for request in sent:
        request.Free()


def _is_caught(error: SystemExit) -> bool:
    """Return whether an exception that `_exit_and_remember` has raised was caught on its way up.

    A traceback begins at the frame that has caught the exception last. If nobody has, that is the
    outermost frame or, up to Python 3.11, the one that has raised it.
    """
    if error.__traceback__ is None:
        return True
    frame = error.__traceback__.tb_frame
    return frame.f_back is not None and frame.f_code is not _exit_and_remember.__code__
