"""Find hard-to-round cases of elementary functions, and check libraries on them."""

from __future__ import annotations

import sys

from hetero.command_line import command_parser, run_command
from tmd._commands.campaigning import add_campaign
from tmd._commands.checking import add_check, add_convert, add_verify
from tmd._commands.exhausting import add_exhaust
from tmd._commands.searching import add_search

_EXAMPLES = (
    ("search exp 1 1.0001 --bits 32", "all cases of exp in [1, 1.0001)"),
    ("verify exp.json", "search blocks of a certificate again"),
    ("check exp 1 1.0001 --bits 34 --library libm.so.6", "the C library on hard cases"),
    ("exhaust exp2f 1 2 --library libm.so.6", "every argument of a binade of binary32"),
)


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    parser = command_parser("tmd", __doc__ or "", _EXAMPLES)
    subcommands = parser.add_subparsers(
        required=True, metavar="search|verify|check|convert|exhaust|campaign"
    )
    add_search(subcommands)
    add_verify(subcommands)
    add_check(subcommands)
    add_convert(subcommands)
    add_exhaust(subcommands)
    add_campaign(subcommands)
    options = parser.parse_args(argv)
    return run_command(parser.prog, lambda: options.run(options), TypeError)


if __name__ == "__main__":
    sys.exit(main())
