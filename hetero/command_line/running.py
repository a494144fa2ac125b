"""The run of a command: its exit code, and one line on standard error for a mistake."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import warnings
from collections.abc import Callable, Iterator

from hetero.command_line.output_files import collected_failures
from hetero.errors import DeviceUnavailableError

FAILED, MISTAKEN, INTERRUPTED, READER_GONE = 1, 2, 130, 141

_OUTPUT_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


class ComputationFailedError(RuntimeError):
    """A computation ended without a result that can be used; its command ends with exit code 1."""


def run_command(program: str, command: Callable[[], int], *also: type[Exception]) -> int:
    """Return the exit code of `command`; print one line, not a traceback, if it fails.

    A user's mistakes are bad values, files, devices, missing packages, exceptions of types `also`,
    and modules that call sys.exit when they are loaded. Exhausted memory and
    `ComputationFailedError` are failures of the computation. Files that `save_output` could not
    write are named at the end.
    """
    with collected_failures() as failures:
        try:
            code = _exit_code(program, command, *also)
        finally:
            for failure in failures:
                print(f"{program}: {failure}", file=sys.stderr)
    return MISTAKEN if failures and code in (0, FAILED) else code


def _exit_code(program: str, command: Callable[[], int], *also: type[Exception]) -> int:
    """Return the exit code of `command`; print its exception."""
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
        _discard_output()
        return READER_GONE
    except mistakes as error:
        print(f"{program}: {_describe(error)}", file=sys.stderr)
        _flush_or_discard_output()
        return MISTAKEN
    except SystemExit as error:  # no command ends so: its status would pass for the command's
        print(f"{program}: code that it has loaded called sys.exit({error.code})", file=sys.stderr)
        return MISTAKEN
    except (ComputationFailedError, MemoryError) as error:
        print(f"{program}: {_describe(error) or 'out of memory'}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print(f"{program}: interrupted", file=sys.stderr)
        return INTERRUPTED


def _describe(error: BaseException) -> str:
    """Return the message of an exception; that of the system names the file first.

    Errors of files that packages write have their names, so one without is the standard output's.
    """
    if not isinstance(error, OSError) or not error.strerror:
        return str(error)
    is_output = error.filename is None and error.errno in _OUTPUT_ERRORS
    where = "standard output" if is_output else error.filename
    return error.strerror if where is None else f"{where}: {error.strerror}"


def _flush_or_discard_output() -> None:
    """Write what is left of the standard output, or give it up if it cannot be written."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        _discard_output()


def _discard_output() -> None:
    """Let Python's own flush of the standard output at the end succeed."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextlib.contextmanager
def _short_warnings(program: str) -> Iterator[None]:
    """Let warnings in the block be printed without the line of code that they come from."""
    original = warnings.formatwarning
    warnings.formatwarning = lambda message, *_, **__: f"{program}: warning: {message}\n"
    try:
        yield
    finally:
        warnings.formatwarning = original
