"""`python -m stablegpu study [WHAT ...]`: accuracy and rates, measured on this machine."""

from __future__ import annotations

import argparse
import sys

from hetero.command_line import command_parser, run_command
from hetero.measurement.studies import add_arguments, run_chosen
from stablegpu.study import STUDIES, Study


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    parser = command_parser("stablegpu", __doc__ or "")
    subcommands = parser.add_subparsers(required=True, metavar="study")
    text = "measure accuracy and rates, as Julian-Moreno et al. (2016, 2017) did"
    study = subcommands.add_parser("study", help=text, description=text)
    add_arguments(study, STUDIES)
    help_processes = "number of processes that compute true values"
    study.add_argument("--processes", type=int, default=1, help=help_processes)
    options = parser.parse_args(argv)
    return run_command(parser.prog, lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    """Run the chosen studies and return the exit code."""
    return run_chosen(options, STUDIES, Study, processes=options.processes)


if __name__ == "__main__":
    sys.exit(main())
