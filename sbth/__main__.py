"""`python -m sbth study|kernel [options]`: repeat published experiments, print kernels."""

from __future__ import annotations

import argparse
import sys

from hetero.command_line import command_parser, run_command
from hetero.measurement.studies import add_arguments, run_chosen
from sbth._bulge_chasing.cuda_source import TILES, describe_kernel
from sbth.study import STUDIES


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    parser = command_parser("sbth", __doc__ or "")
    verbs = parser.add_subparsers(dest="verb", required=True)
    text = "repeat the experiments of Riesinger (2017, chapters 5 and 6) on this machine"
    add_arguments(verbs.add_parser("study", help=text, description=text), STUDIES)
    text = "print the generated source of the bulge-chasing kernels"
    kernel = verbs.add_parser("kernel", help=text, description=text)
    kernel.add_argument("--tile", type=int, default=TILES[0], choices=TILES,
                        help="rows of the blocks that a kernel works on")  # fmt: skip
    options = parser.parse_args(argv)
    return run_command(parser.prog, lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    """Run the chosen command and return the exit code."""
    if options.verb == "kernel":
        print(describe_kernel(options.tile), end="")
        return 0
    return run_chosen(options, STUDIES)


if __name__ == "__main__":
    sys.exit(main())
