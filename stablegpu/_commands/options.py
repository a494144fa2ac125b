"""Options that several commands share."""

from __future__ import annotations

import argparse
import sys

from hetero.command_line import add_layout_options
from hetero.data_files import Table, open_table
from stablegpu.distributions.stable import Stable, stable


def add_distribution(parser: argparse.ArgumentParser) -> None:
    """Add the parameters of a distribution."""
    parser.add_argument("alpha", type=float, metavar="ALPHA", help="stability, in (0, 2]")
    parser.add_argument("beta", type=float, metavar="BETA", help="skewness, in [-1, 1]")
    parser.add_argument("--loc", type=float, default=0.0, help="location (default: 0)")
    parser.add_argument("--scale", type=float, default=1.0, help="scale (default: 1)")
    add_parameterization(parser)


def add_parameterization(parser: argparse.ArgumentParser) -> None:
    """Add --parameterization."""
    parser.add_argument(
        "--parameterization",
        choices=("S1", "S0"),
        default="S1",
        help="meaning of the location: S1 is SciPy's, S0 is continuous at alpha = 1 (default: S1)",
    )


def add_data(parser: argparse.ArgumentParser) -> None:
    """Add a file with one or more columns of numbers, and how to read it."""
    text = (
        'CSV or other text (also .gz), JSON, .xlsx, Parquet, NPY or NPZ; "-" is the standard input'
    )
    parser.add_argument("file", metavar="FILE", help=text)
    add_column(parser, several=True)


def add_column(parser: argparse.ArgumentParser, several: bool = False) -> None:
    """Add --column, --skip-missing and the layout, and --all-columns where there may be several."""
    columns = parser.add_mutually_exclusive_group()
    columns.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="COLUMN",
        help="heading or number, from 1, of a column (default: the only column of numbers)"
        + ("; may be given several times" if several else ""),
    )
    if several:
        columns.add_argument(
            "--all-columns", action="store_true", help="take every column of numbers"
        )
    parser.add_argument("--skip-missing", action="store_true", help="leave missing values out")
    add_layout_options(parser)


def open_file(options: argparse.Namespace) -> Table:
    """Open the file of the options, and say on standard error what was assumed about it."""
    table = open_table(
        options.file, delimiter=options.delimiter, decimal=options.decimal, missing=options.missing
    )
    if table.assumptions:
        print(f"{options.file}: read with {table.assumptions}", file=sys.stderr)
    return table


def distribution_of(options: argparse.Namespace) -> Stable:
    """Return the distribution that the options describe."""
    return stable(
        options.alpha,
        options.beta,
        loc=options.loc,
        scale=options.scale,
        parameterization=options.parameterization,
        device=options.device,
    )
