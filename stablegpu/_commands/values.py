"""`stablegpu pdf`, `cdf` and `quantile`: values of a distribution at given points."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from hetero import command_line
from hetero.data_files import find_present, write_columns
from hetero.display.progress_bar import loop_progress
from hetero.validation import check_finite
from hetero.version import VERSION
from stablegpu._commands.options import add_column, add_distribution, distribution_of, open_file

_METHODS = {
    ("pdf", False, False): "pdf",
    ("pdf", False, True): "logpdf",
    ("cdf", False, False): "cdf",
    ("cdf", False, True): "logcdf",
    ("cdf", True, False): "sf",
    ("cdf", True, True): "logsf",
    ("quantile", False, False): "ppf",
    ("quantile", True, False): "isf",
}
"""Methods of a distribution by command, --upper and --log."""

_TEXTS = {
    "pdf": "compute the density at points",
    "cdf": "compute the distribution function at points",
    "quantile": "compute quantiles of probabilities",
}

_EXAMPLES = {
    "pdf": (
        ("1.5 0.5 --at -1 0 1", "the density at three points"),
        ("1.5 0.5 --grid -5 5 101 --out pdf.csv", "101 equidistant points to a file"),
        ("1.7 0 --scale 0.01 --file returns.csv --column 2 --log", "points from a file"),
    ),
    "cdf": (
        ("1.5 0.5 --at -1 0 1", "probabilities of at most -1, 0 and 1"),
        ("1.5 0.5 --at 1e6 --upper", "the probability of more than a million, with all digits"),
    ),
    "quantile": (
        ("1.5 0.5 --at 0.01 0.5 0.99", "three quantiles"),
        ("1.5 0.5 --at 1e-12 --upper", "the point that is exceeded once in 1e12 draws"),
    ),
}


def add_values(subcommands: Any, name: str) -> None:
    """Add one of the commands pdf, cdf and quantile."""
    parser = subcommands.add_parser(
        name, help=_TEXTS[name], description=_TEXTS[name], examples=_EXAMPLES[name]
    )
    add_distribution(parser)
    symbol = "P" if name == "quantile" else "X"
    points = parser.add_mutually_exclusive_group(required=True)
    points.add_argument("--at", type=float, nargs="+", metavar=symbol, help="the points")
    points.add_argument(
        "--grid",
        nargs=3,
        metavar=("FIRST", "LAST", "COUNT"),
        type=float,
        help="equidistant points, both ends included",
    )
    points.add_argument("--file", metavar="FILE", help="points from a CSV, Parquet or NPY file")
    add_column(parser)
    if name != "pdf":
        help_upper = "use probabilities of larger values, which keep their digits"
        parser.add_argument("--upper", action="store_true", help=help_upper)
    if name != "quantile":
        parser.add_argument("--log", action="store_true", help="print natural logarithms")
    command_line.add_out_option(parser, "the values")
    command_line.add_common_options(parser)
    parser.set_defaults(run=_run, verb=name, **({"upper": False} if name == "pdf" else {}))
    if name == "quantile":
        parser.set_defaults(log=False)


def _run(options: argparse.Namespace) -> int:
    """Compute the values, and print them or write them to a file."""
    command_line.check_device(options.device)
    command_line.check_outputs(out=options.out)
    points = _points(options)
    distribution = distribution_of(options)
    method = _METHODS[options.verb, options.upper, options.log]
    with loop_progress(options.verb, enabled=not options.quiet):
        values = np.asarray(getattr(distribution, method)(points))
    if np.isnan(values).any():
        point = float(points[np.argmax(np.isnan(values))])
        raise command_line.ComputationFailedError(f"{method} could not be computed at {point!r}")
    axis = "p" if options.verb == "quantile" else "x"
    columns = {axis: points, method: values}
    if options.out is not None:
        command_line.save_output(options.out, lambda path: write_columns(path, columns))
    if options.json:
        parameters = {name: getattr(options, name) for name in ("alpha", "beta", "loc", "scale")}
        facts = {"version": VERSION, "parameterization": options.parameterization}
        command_line.print_json(facts | parameters | columns)
    elif options.out is None:
        write_columns(None, columns)
    return 0


def _points(options: argparse.Namespace) -> np.ndarray:
    """Return the points of --at, --grid or --file, which must be numbers or probabilities."""
    points, option = _read_points(options)
    is_quantile = options.verb == "quantile"
    bad = ~((points >= 0.0) & (points <= 1.0)) if is_quantile else np.isnan(points)
    if bad.any():
        allowed = "probabilities in [0, 1]" if is_quantile else "numbers"
        raise ValueError(f"{option} must give {allowed}, got {points[np.argmax(bad)]:g}")
    return points


def _read_points(options: argparse.Namespace) -> tuple[np.ndarray, str]:
    """Return the points, and the option that gave them."""
    if options.at is not None:
        return np.array(options.at), "--at"
    if options.grid is not None:
        first, last, count = options.grid
        if not (count >= 1 and count == int(count)):
            raise ValueError(f"--grid needs a number of points, a positive integer, got {count:g}")
        for end in (first, last):
            check_finite("--grid", end)
        return np.linspace(first, last, int(count)), "--grid"
    column, *others = open_file(options).columns(options.column)
    if others:
        raise ValueError("--column may be given once here")
    present = find_present(column, options.file, options.skip_missing)
    return column.values[present], f"--file {options.file}"
