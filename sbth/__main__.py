"""`python -m sbth study [WHAT ...]`: the experiments of Riesinger (2017) on this machine."""

from __future__ import annotations

import sys

from hetero.command_line import command_parser, run_command
from hetero.measurement.studies import add_arguments, run_chosen
from sbth.study import STUDIES


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    parser = command_parser("sbth", __doc__)
    parser.add_argument("verb", choices=["study"])
    add_arguments(parser, STUDIES)
    options = parser.parse_args(argv)
    return run_command(parser.prog, lambda: run_chosen(options, STUDIES))


if __name__ == "__main__":
    sys.exit(main())
