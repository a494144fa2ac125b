"""Solve random ordinary differential equations by Monte Carlo over paths."""

from __future__ import annotations

import argparse
import sys

from hetero.command_line import command_parser, run_command
from rode._commands.solutions import add_solve

_EXAMPLES = (
    ("solve model.py:problem --paths 4096 --out out.csv", "mean and quantiles over time"),
    ("solve kanai-tajimi --t-span 0 20 --plot quake.html", "an earthquake, with a picture"),
    ("study solver --quick", "rates of the solver, at tiny sizes"),
)


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    from hetero.measurement.studies import add_arguments, add_options
    from rode.study import STUDIES

    parser = command_parser("rode", __doc__ or "", _EXAMPLES)
    subcommands = parser.add_subparsers(required=True, metavar="solve|study|quality")
    add_solve(subcommands)
    text = "repeat the experiments of Riesinger (2017) on normal numbers, paths, solvers and orders"
    study = subcommands.add_parser("study", help=text, description=text)
    add_arguments(study, STUDIES)
    study.set_defaults(run=_study)
    text = "test the distribution of the normal numbers"
    quality = subcommands.add_parser("quality", help=text, description=text)
    add_options(quality)
    quality.set_defaults(run=_study, what=["quality"])
    options = parser.parse_args(argv)
    return run_command(parser.prog, lambda: options.run(options), TypeError)


def _study(options: argparse.Namespace) -> int:
    """Run the chosen studies and return the exit code."""
    from hetero.measurement.studies import run_chosen
    from rode.study import STUDIES

    # Samples are so long that the preparation of a call on a GPU is hidden behind earlier calls.
    return run_chosen(options, STUDIES, sample=2e-3 if options.quick else 2e-2)


if __name__ == "__main__":
    sys.exit(main())
