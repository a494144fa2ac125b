"""`python -m rode study|quality [options]`: experiments of Riesinger (2017) on this machine."""

from __future__ import annotations

import argparse
import sys

from hetero.command_line import command_parser, run_command
from hetero.measurement.studies import add_arguments, add_options, run_chosen
from rode.study import STUDIES


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    parser = command_parser("rode", __doc__ or "")
    subcommands = parser.add_subparsers(required=True, metavar="study|quality")
    text = "repeat the experiments on normal numbers, paths, solvers and orders"
    study = subcommands.add_parser("study", help=text, description=text)
    add_arguments(study, STUDIES)
    text = "test the distribution of the normal numbers"
    quality = subcommands.add_parser("quality", help=text, description=text)
    add_options(quality)
    quality.set_defaults(what=["quality"])
    options = parser.parse_args(argv)
    return run_command(parser.prog, lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    """Run the chosen studies and return the exit code."""
    # Samples are so long that the preparation of a call on a GPU is hidden behind earlier calls.
    return run_chosen(options, STUDIES, sample=2e-3 if options.quick else 2e-2)


if __name__ == "__main__":
    sys.exit(main())
