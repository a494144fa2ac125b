"""`stablegpu rvs`: samples of a distribution."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from hetero import command_line
from hetero.data_files import write_columns
from hetero.display.progress_bar import loop_progress
from hetero.validation import check_integer
from hetero.version import VERSION
from stablegpu._commands.options import add_distribution, distribution_of

_EXAMPLES = (
    ("1.5 0.5 --size 1000 --seed 1", "1000 numbers, one a line"),
    ("1.7 0 --scale 0.01 --size 10000000 --out x.npy", "ten million numbers to a file"),
)


def add_samples(subcommands: Any) -> None:
    """Add the command."""
    text = "draw samples; a seed gives the same numbers on every device"
    parser = subcommands.add_parser("rvs", help=text, description=text, examples=_EXAMPLES)
    add_distribution(parser)
    parser.add_argument(
        "--size",
        type=command_line.whole_number,
        default=1,
        metavar="N",
        help="how many (default: 1)",
    )
    parser.add_argument(
        "--seed", type=command_line.whole_number, help="an integer >= 0 (default: one at random)"
    )
    parser.add_argument(
        "--dtype",
        choices=("float64", "float32"),
        default="float64",
        help="type of the numbers (default: float64)",
    )
    command_line.add_out_option(parser, "the samples")
    command_line.add_common_options(parser)
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    """Draw the samples, and print them or write them to a file."""
    command_line.check_device(options.device)
    command_line.check_outputs(out=options.out)
    size = check_integer("--size", options.size, 1)
    if options.seed is not None:
        check_integer("--seed", options.seed)
    with loop_progress("samples", enabled=not options.quiet):
        x = np.asarray(distribution_of(options).rvs(size, rng=options.seed, dtype=options.dtype))
    if options.out is not None:
        command_line.save_output(options.out, lambda path: write_columns(path, {"x": x}))
    if options.json:
        command_line.print_json({"version": VERSION, "size": size, "seed": options.seed, "x": x})
    elif options.out is None:
        write_columns(None, {"x": x})
    return 0
