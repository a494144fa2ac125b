"""The conventions that the commands of all packages share.

A command prints its result on standard output, and everything else on standard error. It ends with
the exit code 0 if it succeeded, 1 if the computation failed, 2 for wrong usage or input, 130 after
Ctrl-C, and 141 if the reader of its output has gone.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hetero.errors import DeviceUnavailableError
from hetero.version import VERSION

FAILED, MISTAKEN, INTERRUPTED, READER_GONE = 1, 2, 130, 141

_EXIT_CODES = """\
exit codes:
  0  success
  1  the computation failed, for instance did not converge
  2  wrong usage or input"""


class ComputationFailedError(RuntimeError):
    """A computation ended without a result that can be used; its command ends with exit code 1."""


_NEGATIVE_NUMBER = re.compile(r"^-(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$", re.IGNORECASE)


class CommandParser(argparse.ArgumentParser):
    """An argument parser whose help is coloured and ends with examples.

    Parameters
    ----------
    examples : sequence of (arguments, explanation)
        The arguments follow the name of the command.
    **settings
        Arguments of `argparse.ArgumentParser`.
    """

    def __init__(self, *, examples: Sequence[tuple[str, str]] = (), **settings: Any) -> None:
        from rich_argparse import RawDescriptionRichHelpFormatter

        class Formatter(RawDescriptionRichHelpFormatter):
            text_markup = help_markup = False

        settings.setdefault("formatter_class", Formatter)
        super().__init__(**settings)
        self._negative_number_matcher = _NEGATIVE_NUMBER  # argparse's own knows no exponents
        if examples:
            lines = [f"  {self.prog} {command}\n      {text}" for command, text in examples]
            self.epilog = "\n".join(["examples:", *lines]).replace("%", "%%")


def command_parser(
    package: str, description: str, examples: Sequence[tuple[str, str]] = ()
) -> CommandParser:
    """Return the parser of a package's command, which knows --version."""
    is_module = Path(sys.argv[0]).parts[-2:] == (package, "__main__.py")
    program = f"python -m {package}" if is_module else package
    parser = CommandParser(prog=program, description=description, examples=examples)
    parser.epilog = f"{parser.epilog}\n\n{_EXIT_CODES}" if parser.epilog else _EXIT_CODES
    add_version(parser, package)
    return parser


def add_version(parser: argparse.ArgumentParser, package: str) -> None:
    """Add --version."""
    parser.add_argument(
        "--version",
        action="version",
        version=f"{package} {VERSION}",
        help="print the version and exit",
    )


def add_common_options(parser: argparse.ArgumentParser) -> None:
    """Add --device, --json, --quiet and --version to a command."""
    parser.add_argument(
        "--device",
        metavar="DEVICE",
        help="auto, cpu, cuda or cuda:1 (default: HETERO_DEVICE, or a GPU where it is faster)",
    )
    parser.add_argument(
        "--json", action="store_true", help="print the result as one JSON object, and nothing else"
    )
    parser.add_argument("--quiet", action="store_true", help="do not show progress")
    add_version(parser, parser.prog.split()[-2])


def check_device(device: str | None) -> None:
    """Raise ValueError or DeviceUnavailableError if a device cannot be used."""
    from hetero.devices import parse

    if (parsed := parse(device)) is not None:
        parsed.require()


def print_json(result: Mapping[str, Any]) -> None:
    """Print a result as JSON; NaN is null, and infinity the text "Infinity"."""
    print(json.dumps(as_plain(result), indent=1, allow_nan=False))


def as_plain(value: Any) -> Any:
    """Return a value made of what JSON knows; arrays become lists, unknown objects texts."""
    if isinstance(value, Mapping):
        return {str(key): as_plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [as_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("Infinity" if value > 0.0 else "-Infinity")
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


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
