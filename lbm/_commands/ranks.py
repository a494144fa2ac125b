"""Commands on several ranks: the first one prints, and the failure of any of them ends all."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from hetero.command_line import run_command
from lbm._parallel.ranks.abort import FORWARDING_SECONDS, abort_all_ranks_on_errors

_FIRST_RANK_SECONDS = 1.0
"""Time that other ranks leave the first one to report an error that all of them have."""


@contextlib.contextmanager
def silenced(streams: bool, errors: bool = False) -> Iterator[None]:
    """Discard the standard output in the block, and the standard error too if `errors`."""
    with contextlib.ExitStack() as stack:
        if streams:
            nothing = stack.enter_context(open(os.devnull, "w", encoding="utf-8"))
            stack.enter_context(contextlib.redirect_stdout(nothing))
            if errors:
                stack.enter_context(contextlib.redirect_stderr(nothing))
        yield


def run_on_ranks(
    program: str, command: Callable[[], int], comm: Any, *also: type[Exception]
) -> int:
    """Return the exit code of `command`, which all ranks of `comm` run together.

    Parameters
    ----------
    program : name for messages
    command : the command; only what rank 0 prints is shown
    comm : communicator of mpi4py, or None for a process alone
    also : exceptions that are a user's mistakes, as for `hetero.command_line.run_command`
    """
    if comm is None:
        return run_command(program, command, *also)
    abort_all_ranks_on_errors()  # of exceptions that are no user's mistakes

    def on_this_rank() -> int:
        try:
            with silenced(comm.rank > 0):
                return command()
        except Exception:
            if comm.rank:
                time.sleep(_FIRST_RANK_SECONDS)
            raise

    suffix = f" on rank {comm.rank} of {comm.size} ({socket.gethostname()})" if comm.rank else ""
    code = run_command(program + suffix, on_this_rank, *also)
    if code:
        sys.stderr.flush()
        time.sleep(FORWARDING_SECONDS)
        comm.Abort(code)
    return code
