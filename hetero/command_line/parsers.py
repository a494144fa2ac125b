"""Parsers of commands: their help is coloured, and ends with examples and exit codes."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hetero.version import VERSION

_EXIT_CODES = """\
exit codes:
  0  success
  1  the computation failed, for instance did not converge, or a tested library is wrong
  2  wrong usage or input, or a file that cannot be read or written"""

_NEGATIVE_NUMBER = re.compile(r"^-((\d+\.?\d*|\.\d+)(e[-+]?\d+)?|inf(inity)?)$", re.IGNORECASE)


class CommandParser(argparse.ArgumentParser):
    """An argument parser whose help is coloured and ends with examples.

    Parameters
    ----------
    examples : sequence of (arguments, explanation)
        The arguments follow the name of the command.
    intermixed : bool
        Let optional positional arguments follow options, as in "FUNCTION --bits 34 LO HI". By
        default argparse takes those to be missing that do not follow the first ones at once.
    **settings
        Arguments of `argparse.ArgumentParser`.
    """

    def __init__(
        self, *, examples: Sequence[tuple[str, str]] = (), intermixed: bool = False, **settings: Any
    ) -> None:
        from rich_argparse import RawDescriptionRichHelpFormatter

        class Formatter(RawDescriptionRichHelpFormatter):
            text_markup = help_markup = False

        settings.setdefault("formatter_class", Formatter)
        super().__init__(**settings)
        # That of argparse knows neither exponents nor infinity.
        self._negative_number_matcher = _NEGATIVE_NUMBER
        self._is_intermixed = intermixed
        if examples:
            lines = [f"  {self.prog} {command}\n      {text}" for command, text in examples]
            self.epilog = "\n".join(["examples:", *lines]).replace("%", "%%")

    def parse_known_args(self, *arguments: Any, **options: Any) -> Any:
        """Parse arguments; see `argparse.ArgumentParser.parse_known_args`."""
        if not self._is_intermixed:
            return super().parse_known_args(*arguments, **options)
        self._is_intermixed = False  # argparse calls this method for each of two passes
        try:
            return self.parse_known_intermixed_args(*arguments, **options)
        finally:
            self._is_intermixed = True


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


def whole_number(text: str) -> int:
    """Return the integer in a text such as 1000, 1e6 or 2.5e3; the `type` of an option.

    Raises
    ------
    ValueError : the text is no number, or no whole one
    """
    try:
        return int(text)
    except ValueError:
        number = float(text)
    if not number.is_integer():  # nor is infinity
        raise ValueError(f"{text} is not a whole number")
    return int(number)


whole_number.__name__ = "whole number"  # argparse says "invalid whole number value"


def add_version(parser: argparse.ArgumentParser, package: str) -> None:
    """Add --version."""
    parser.add_argument(
        "--version",
        action="version",
        version=f"{package} {VERSION}",
        help="print the version and exit",
    )
