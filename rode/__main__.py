"""Solve random ordinary differential equations by Monte Carlo over paths."""

from __future__ import annotations

import sys

from hetero.command_line import command_parser, run_command
from rode._commands.solutions import add_solve

_EXAMPLES = (
    ("solve model.py:problem --paths 4096 --out out.csv", "mean and quantiles over time"),
    ("solve kanai-tajimi --t-span 0 20 --plot quake.html", "an earthquake, with a picture"),
)


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    parser = command_parser("rode", __doc__ or "", _EXAMPLES)
    subcommands = parser.add_subparsers(required=True, metavar="solve")
    add_solve(subcommands)
    options = parser.parse_args(argv)
    return run_command(parser.prog, lambda: options.run(options), TypeError)


if __name__ == "__main__":
    sys.exit(main())
