"""The end of all ranks if one of them fails."""

from __future__ import annotations

import functools
import socket
import sys
import time
import traceback
from types import TracebackType
from typing import Any

FORWARDING_SECONDS = 0.5
"""Time for the launcher to forward the message: it drops what has not arrived when ranks abort."""


@functools.cache
def abort_all_ranks_on_errors() -> None:
    """Let an exception that nobody handles end all ranks, with a message that names this one.

    The others would otherwise wait forever for its messages.
    """
    from mpi4py import MPI

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
