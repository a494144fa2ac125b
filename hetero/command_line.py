"""What the commands of all packages do with errors."""

from __future__ import annotations

import sys
from collections.abc import Callable

from hetero.errors import DeviceUnavailableError

_FAILED, _INTERRUPTED = 2, 130


def guarded(program: str, command: Callable[[], int], *also: type[Exception]) -> int:
    """The exit code of `command`; one line, no traceback, for errors in what the user asks.

    Those are bad values, files, devices, missing packages, and exceptions of types `also`.
    """
    try:
        return command()
    except (ValueError, OSError, ImportError, DeviceUnavailableError, *also) as error:
        print(f"{program}: {error}", file=sys.stderr)
        return _FAILED
    except KeyboardInterrupt:
        print(f"{program}: interrupted", file=sys.stderr)
        return _INTERRUPTED
