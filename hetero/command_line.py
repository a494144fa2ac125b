"""The argument parser and the error reports that the commands of all packages share."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from hetero.errors import DeviceUnavailableError
from hetero.version import VERSION

_FAILED, _INTERRUPTED = 2, 130


def command_parser(package: str, description: str) -> argparse.ArgumentParser:
    """Return the parser of `python -m <package>`, which knows --version."""
    parser = argparse.ArgumentParser(prog=f"python -m {package}", description=description)
    parser.add_argument("--version", action="version", version=f"{package} {VERSION}")
    return parser


def run_command(program: str, command: Callable[[], int], *also: type[Exception]) -> int:
    """Return the exit code of `command`; print one line, not a traceback, for a user's mistake.

    Mistakes are bad values, files, devices, missing packages, and exceptions of types `also`.
    """
    mistakes: tuple[type[Exception], ...] = (
        ValueError,
        OSError,
        ImportError,
        DeviceUnavailableError,
        *also,
    )
    try:
        return command()
    except mistakes as error:
        print(f"{program}: {error}", file=sys.stderr)
        return _FAILED
    except KeyboardInterrupt:
        print(f"{program}: interrupted", file=sys.stderr)
        return _INTERRUPTED
