"""`stablegpu fit`: estimate the parameters of columns of numbers."""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np

from hetero import validation
from hetero.command_line import (
    FAILED,
    add_common_options,
    add_out_option,
    add_plot_option,
    check_device,
    check_outputs,
    print_json,
    save_figure,
)
from hetero.data_files import Column, drop_missing, read_columns, write_columns
from hetero.display.notebook import html_text
from hetero.version import VERSION
from stablegpu._commands.options import add_data, add_parameterization
from stablegpu._parameters import PARAMETERS
from stablegpu.fit_results import FitResult, FitResults
from stablegpu.fitting import METHODS, fit

_EXAMPLES = (
    ("returns.csv --column 2 --plot fit.html", "fit the second column, and draw it"),
    ("prices.csv --column close --returns", "fit the logarithmic returns of prices"),
    ("returns.parquet --all-columns --out fits.csv", "all columns at once"),
    ("returns.csv --fix beta=0 --bootstrap 999 --goodness 999", "intervals and a test"),
)


def add_fit(subcommands: Any) -> None:
    """Add the command."""
    text = "estimate alpha, beta, location and scale of the numbers in a file"
    parser = subcommands.add_parser("fit", help=text, description=text, examples=_EXAMPLES)
    add_data(parser)
    parser.add_argument(
        "--returns",
        action="store_true",
        help="the column holds prices: fit log(price / price before)",
    )
    parser.add_argument(
        "--method", choices=METHODS, default="ml", help="(default: ml, maximum likelihood)"
    )
    add_parameterization(parser)
    parser.add_argument(
        "--fix",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="keep a parameter at a value; may be given several times",
    )
    parser.add_argument(
        "--confidence", type=float, default=0.95, metavar="P", help="of intervals (default: 0.95)"
    )
    parser.add_argument(
        "--bootstrap", type=int, metavar="N", help="also compute intervals from N simulated samples"
    )
    parser.add_argument(
        "--goodness", type=int, metavar="N", help="also test the fit by N simulated samples"
    )
    parser.add_argument("--seed", type=int, help="seed of the simulations")
    add_plot_option(parser, "the fit")
    add_out_option(parser, "the estimates")
    add_common_options(parser)
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    """Fit the columns, print or write the results, and return the exit code."""
    check_device(options.device)
    check_outputs(out=options.out, plot=options.plot)
    validation.check_in_range("--confidence", options.confidence, 0.0, 1.0, closed="neither")
    columns = read_columns(options.file, options.column, every=options.all_columns)
    data = [_data_of(column, options) for column in columns]
    settings: dict[str, Any] = {
        "method": options.method,
        "parameterization": options.parameterization,
        "fixed": _fixed(options.fix),
        "progress": not options.quiet,
        "device": options.device,
    }
    if len(data) == 1:
        result = fit(data[0], **settings)
        assert isinstance(result, FitResult)  # of one data set
        return _report_one(result, columns[0].name, options)
    for option in ("bootstrap", "goodness"):
        if getattr(options, option) is not None:
            raise ValueError(f"--{option} needs a single column, got {len(data)}")
    results = fit(data, **settings)
    assert isinstance(results, FitResults)  # of several data sets
    return _report_many(results, [column.name for column in columns], options)


def _data_of(column: Column, options: argparse.Namespace) -> np.ndarray:
    """Return the values to fit."""
    values = drop_missing(column, options.file, options.skip_missing)
    if not options.returns:
        return values
    if not (values > 0.0).all():
        worst = float(values[~(values > 0.0)][0])
        raise ValueError(f"--returns needs prices above 0; column {column.name!r} holds {worst:g}")
    return np.diff(np.log(values))


def _fixed(settings: list[str]) -> dict[str, float] | None:
    """Return the fixed parameters of --fix NAME=VALUE."""
    fixed = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        try:
            value = float(text) if equals else math.nan
        except ValueError:
            value = math.nan
        if name not in PARAMETERS or not math.isfinite(value):
            names = ", ".join(PARAMETERS)
            raise ValueError(
                f"--fix must be NAME=VALUE with a name of {names} and a number, got {setting!r}"
            )
        fixed[name] = value
    return fixed or None


def _report_one(result: FitResult, name: str, options: argparse.Namespace) -> int:
    """Print, write and draw one fit; return the exit code."""
    report = _as_dict(result, name, options)
    text = [result.summary(options.confidence)]
    if options.bootstrap is not None:
        from stablegpu.inference import bootstrap

        simulated = bootstrap(
            result,
            options.bootstrap,
            options.confidence,
            rng=options.seed,
            progress=not options.quiet,
        )
        report["bootstrap"] = simulated.intervals
        text += ["", f"intervals by {options.bootstrap} simulated samples"]
        text += [
            f"{key:<5}  {low:.6g} to {high:.6g}"
            for key, (low, high) in simulated.intervals.items()
            if key not in result.fixed
        ]
    if options.goodness is not None:
        from stablegpu.inference import goodness_of_fit

        test = goodness_of_fit(
            result, options.goodness, rng=options.seed, progress=not options.quiet
        )
        tests = {
            "Kolmogorov-Smirnov": test.kolmogorov_smirnov,
            "Anderson-Darling": test.anderson_darling,
        }
        report["goodness"] = {key: value._asdict() for key, value in tests.items()}
        text += ["", f"goodness of fit by {test.replicas} simulated samples"]
        text += [
            f"{key:<18}  statistic {value.statistic:.4g}, p-value {value.pvalue:.4g}"
            for key, value in tests.items()
        ]
    if options.plot is not None:
        title = f"{Path(options.file).name}, column {name}: stable distribution"
        save_figure(result.plot(), options.plot, title=title, tables=[html_text(text[0])])
    if options.out is not None:
        keys = ("size", *PARAMETERS, "loglik")
        write_columns(options.out, {key: np.array([getattr(result, key)]) for key in keys})
    if options.json:
        print_json(report)
    else:
        source = "standard input" if options.file == "-" else options.file
        print(f"{source}, column {name}\n")
        print("\n".join(text))
        if options.plot is not None:
            print(f"\nfigure: {options.plot}")
    return 0 if result.converged else FAILED


def _as_dict(result: FitResult, name: str, options: argparse.Namespace) -> dict[str, Any]:
    """Return a fit as values for JSON."""
    return {
        "version": VERSION,
        "file": options.file,
        "column": name,
        "size": result.size,
        **{key: getattr(result, key) for key in PARAMETERS},
        "parameterization": result.parameterization,
        "method": result.method,
        "fixed": result.fixed,
        "stderr": result.stderr,
        "confidence": options.confidence,
        "interval": result.interval(options.confidence),
        "loglik": result.loglik,
        "aic": result.aic,
        "ks_distance": result.ks_distance,
        "converged": result.converged,
        "status": result.status,
        "message": result.message,
    }


def _report_many(results: FitResults, names: list[str], options: argparse.Namespace) -> int:
    """Print, write and draw the fits of several columns; return the exit code."""
    columns = {name: np.asarray(getattr(results, name)) for name in (*PARAMETERS, "loglik")}
    if options.plot is not None:
        title = f"{Path(options.file).name}: stable distributions of {len(names)} columns"
        save_figure(results.plot(), options.plot, title=title, tables=[results._repr_html_()])
    if options.out is not None:
        write_columns(options.out, {"size": results.size} | columns)
    if options.json:
        fits = [
            {
                "column": name,
                **{key: getattr(one, key) for key in ("size", *PARAMETERS, "loglik")},
                "stderr": one.stderr,
                "converged": one.converged,
                "status": one.status,
                "message": one.message,
            }
            for name, one in zip(names, results, strict=True)
        ]
        print_json({"version": VERSION, "file": options.file, "method": results.method}
                   | {"parameterization": results.parameterization, "fits": fits})  # fmt: skip
    else:
        _print_table(results, names)
    for name, one in zip(names, results, strict=True):
        if not one.converged:
            print(f"column {name}: {one.status}: {one.message}", file=sys.stderr)
    return 0 if results.converged.all() else FAILED


def _print_table(results: FitResults, names: list[str]) -> None:
    """Print a row for each column."""
    width = max(6, *map(len, names))
    print("column".ljust(width), *(name.rjust(12) for name in PARAMETERS), "status", sep="  ")
    for name, one in zip(names, results, strict=True):
        cells = (f"{getattr(one, key):12.6g}" for key in PARAMETERS)
        print(name.ljust(width), *cells, one.status, sep="  ")
