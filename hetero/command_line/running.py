"""The run of a command: its exit code, and one line on standard error for a mistake."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Callable, Iterator

from hetero.errors import DeviceUnavailableError

FAILED, MISTAKEN, INTERRUPTED, READER_GONE = 1, 2, 130, 141


class ComputationFailedError(RuntimeError):
    """A computation ended without a result that can be used; its command ends with exit code 1."""


def run_command(program: str, command: Callable[[], int], *also: type[Exception]) -> int:
    """Return the exit code of `command`; print one line, not a traceback, if it fails.

    A user's mistakes are bad values, files, devices, missing packages, and exceptions of types
    `also`. Exhausted memory and `ComputationFailedError` are failures of the computation.
    """
    mistakes: tuple[type[Exception], ...] = (
        ValueError,
        OSError,
        ImportError,
        DeviceUnavailableError,
        *also,
    )
    try:
        with _short_warnings(program):
            code = command()
            sys.stdout.flush()
            return code
    except BrokenPipeError:
        # Python flushes the standard output again at its end, which must not fail once more.
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return READER_GONE
    except mistakes as error:
        print(f"{program}: {_describe(error)}", file=sys.stderr)
        return MISTAKEN
    except (ComputationFailedError, MemoryError) as error:
        print(f"{program}: {_describe(error) or 'out of memory'}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print(f"{program}: interrupted", file=sys.stderr)
        return INTERRUPTED


def _describe(error: BaseException) -> str:
    """Return the message of an exception; that of a missing file names the file first."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error)


@contextlib.contextmanager
def _short_warnings(program: str) -> Iterator[None]:
    """Let warnings in the block be printed without the line of code that they come from."""
    original = warnings.formatwarning
    warnings.formatwarning = lambda message, *_, **__: f"{program}: warning: {message}\n"
    try:
        yield
    finally:
        warnings.formatwarning = original
