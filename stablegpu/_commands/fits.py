"""`stablegpu fit`: estimate the parameters of columns of numbers."""

from __future__ import annotations

import argparse
import dataclasses
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np

from hetero import command_line, validation
from hetero.data_files import Column, find_present, sort_by_date, write_columns
from hetero.display.notebook import html_text
from hetero.version import VERSION
from stablegpu._commands.fit_risks import (
    describe_risks,
    estimate_risks,
    risk_columns,
    run_kupiec_tests,
)
from stablegpu._commands.options import add_data, add_parameterization, open_file
from stablegpu._fit.arguments import METHODS
from stablegpu._parameters import PARAMETERS
from stablegpu.fitting import fit
from stablegpu.results import FitResult, FitResults, as_columns

_EXAMPLES = (
    ("returns.csv --column 2 --plot fit.html", "fit the second column, and draw it"),
    ("prices.csv --column close --returns", "fit the logarithmic returns of prices"),
    ("returns.parquet --all-columns --out fits.csv", "all columns at once"),
    ("prices.csv --returns --var 0.99 --es 0.975", "risk, with confidence intervals"),
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
        "--rounding", type=float, metavar="STEP", help="the data were rounded to multiples of STEP"
    )
    parser.add_argument(
        "--truncation", type=float, metavar="VALUE", help="values below VALUE were never recorded"
    )
    parser.add_argument(
        "--compare",
        action="store_true",
        help="also fit normal and Student's t distributions, and say which one fits best",
    )
    parser.add_argument(
        "--confidence", type=float, default=0.95, metavar="P", help="of intervals (default: 0.95)"
    )
    parser.add_argument(
        "--bootstrap",
        type=command_line.whole_number,
        metavar="N",
        help="also compute intervals from N simulated samples",
    )
    parser.add_argument(
        "--goodness",
        type=command_line.whole_number,
        metavar="N",
        help="also test the fit by N simulated samples",
    )
    for option, noun in (("var", "value at risk"), ("es", "expected shortfall")):
        parser.add_argument(
            f"--{option}",
            type=float,
            action="append",
            default=[],
            metavar="LEVEL",
            help=f"{noun} of the data, taken as returns, with its interval; for example 0.99",
        )
    parser.add_argument(
        "--risk-interval",
        choices=("delta", "profile"),
        help="how intervals of --var and --es are computed (default: profile, if --method is ml)",
    )
    parser.add_argument("--seed", type=command_line.whole_number, help="seed of the simulations")
    command_line.add_plot_option(parser, "the fit")
    command_line.add_out_option(parser, "the estimates")
    command_line.add_common_options(parser)
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    """Fit the columns, print or write the results, and return the exit code."""
    _check(options)
    table = open_file(options)
    columns = table.columns(options.column, every=options.all_columns)
    if options.all_columns and (others := table.others()):
        names = ", ".join(map(repr, others))
        print(f"{options.file}: without numbers, so left out: {names}", file=sys.stderr)
    dates = table.dates() if options.returns else None
    if dates is not None and (dates.values[1:] < dates.values[:-1]).any():
        text = (
            f"{options.file}: the rows were sorted by {dates.name!r}, from the oldest to the newest"
        )
        print(text, file=sys.stderr)
    data = {column.name: _data_of(column, dates, options) for column in columns}
    settings: dict[str, Any] = {
        "method": options.method,
        "parameterization": options.parameterization,
        "fixed": _fixed(options.fix),
        "rounding": options.rounding,
        "truncation": options.truncation,
        "progress": not options.quiet,
        "device": options.device,
    }
    if len(data) == 1:
        ((name, values),) = data.items()
        return _report_one(fit(values, **settings), name, options)
    for option in ("bootstrap", "goodness", "compare"):
        if getattr(options, option) not in (None, False):
            raise ValueError(f"--{option} needs a single column, got {len(data)}")
    return _report_many(fit(data, **settings), options)


def _check(options: argparse.Namespace) -> None:
    """Raise an error, before the work, if an option has no meaning or a file cannot be written."""
    command_line.check_device(options.device)
    command_line.check_outputs(out=options.out, plot=options.plot)
    if options.returns and options.rounding is not None:
        raise ValueError(
            "--rounding is the step of the data to fit, and returns of rounded prices have none: "
            "leave one of --rounding and --returns out"
        )
    for option in ("confidence", "var", "es"):
        for value in np.atleast_1d(getattr(options, option)):
            validation.check_in_range(f"--{option}", value, 0.0, 1.0, closed="neither")
    for option, least in (("bootstrap", 1), ("goodness", 1), ("seed", 0)):
        if getattr(options, option) is not None:
            validation.check_integer(f"--{option}", getattr(options, option), least)


def _data_of(column: Column, dates: Column | None, options: argparse.Namespace) -> np.ndarray:
    """Return the values to fit."""
    present = find_present(column, options.file, options.skip_missing)
    values = column.values[present]
    if not options.returns:
        return values
    if not (values > 0.0).all():
        worst = float(values[~(values > 0.0)][0])
        raise ValueError(f"--returns needs prices above 0; column {column.name!r} holds {worst:g}")
    if dates is not None:
        values = values[sort_by_date(options.file, dates.values[present])]
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
        from stablegpu._inference.failures import name_failures
        from stablegpu.inference import bootstrap

        simulated = bootstrap(
            result,
            options.bootstrap,
            options.confidence,
            rng=options.seed,
            progress=not options.quiet,
        )
        report["bootstrap"] = simulated.intervals
        failures = name_failures(simulated.failed, "of them")
        report["bootstrap_failed"] = simulated.failed
        text += ["", f"intervals by {options.bootstrap} simulated samples{failures}"]
        text += [
            f"{key:<5}  {low:.6g} to {high:.6g}"
            for key, (low, high) in simulated.intervals.items()
            if key not in result.fixed
        ]
    if options.goodness is not None:
        from stablegpu._inference.failures import name_failures
        from stablegpu.inference import goodness_of_fit

        test = goodness_of_fit(
            result, options.goodness, rng=options.seed, progress=not options.quiet
        )
        tests = {
            "Kolmogorov-Smirnov": test.kolmogorov_smirnov,
            "Anderson-Darling": test.anderson_darling,
        }
        report["goodness"] = {key: value._asdict() for key, value in tests.items()}
        failures = name_failures(test.failed, "more")
        report["goodness_failed"] = test.failed
        text += ["", f"goodness of fit by {test.replicas} simulated samples{failures}"]
        text += [
            f"{key:<18}  statistic {value.statistic:.4g}, p-value {value.pvalue:.4g}"
            for key, value in tests.items()
        ]
    comparison = None
    if options.compare:
        comparison = result.compare()
        report["comparison"] = [dataclasses.asdict(model) for model in comparison.models]
        report["verdict"] = comparison.verdict
        text += ["", str(comparison)]
    estimates = estimate_risks(result, options)
    if estimates:
        report["risk"] = [dataclasses.asdict(estimate) for estimate in estimates]
        text += ["", *describe_risks(estimates)]
        kupiec = run_kupiec_tests(result, options.var)
        report["kupiec"] = {repr(level): dataclasses.asdict(t) for level, t in kupiec.items()}
        text += [
            f"losses beyond the {level:.6g} value at risk: {t.exceedances} of {t.observations}, "
            f"expected {t.expected:.4g}; Kupiec's test p-value {t.pvalue:.4g}"
            for level, t in kupiec.items()
        ]
    if options.plot is not None:
        title = f"{Path(options.file).name}, column {name}: stable distribution"
        tables = [html_text("\n".join(text))]
        command_line.save_output(
            options.plot,
            lambda path: command_line.save_figure(
                lambda: result.plot(risks=estimates, comparison=comparison),
                path,
                title=title,
                tables=tables,
            ),
        )
    if options.out is not None:
        columns = {"column": [name], **as_columns(result), **risk_columns([estimates])}
        command_line.save_output(options.out, lambda path: write_columns(path, columns))
    if options.json:
        command_line.print_json(report)
    else:
        source = "standard input" if options.file == "-" else options.file
        print(f"{source}, column {name}\n")
        print("\n".join(text))
        if options.plot is not None:
            print(f"\nfigure: {options.plot}")
    return 0 if result.converged else command_line.FAILED


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
        **{key: getattr(result, key) for key in ("loglik", "nobs", "aic", "bic", "ks_distance")},
        **{key: getattr(result, key) for key in ("converged", "status", "message")},
    }


_JSON_KEYS = ("size", *PARAMETERS, "loglik", "aic", "bic", "stderr", "converged", "status",
              "message")  # fmt: skip
"""Attributes of each of several fits in JSON."""


def _report_many(results: FitResults, options: argparse.Namespace) -> int:
    """Print, write and draw the fits of several columns; return the exit code."""
    names = [str(label) for label in results.labels or ()]
    risks = [estimate_risks(one, options) for one in results]
    columns = {"column": names, **results.as_columns(), **risk_columns(risks)}
    text = [results.summary()]
    for name, estimates in zip(names, risks, strict=True):
        if estimates:
            text += ["", f"column {name}", *describe_risks(estimates)]
    if options.plot is not None:
        title = f"{Path(options.file).name}: stable distributions of {len(names)} columns"
        tables = [html_text("\n".join(text))]
        command_line.save_output(
            options.plot,
            lambda path: command_line.save_figure(results.plot, path, title=title, tables=tables),
        )
    if options.out is not None:
        command_line.save_output(options.out, lambda path: write_columns(path, columns))
    if options.json:
        fits = [
            {
                "column": name,
                **{key: getattr(one, key) for key in _JSON_KEYS},
                "risk": [dataclasses.asdict(estimate) for estimate in estimates],
            }
            for name, one, estimates in zip(names, results, risks, strict=True)
        ]
        command_line.print_json({"version": VERSION, "file": options.file, "method": results.method}
                   | {"parameterization": results.parameterization, "fits": fits})  # fmt: skip
    else:
        print("\n".join(text))
    for name, one in zip(names, results, strict=True):
        if not one.converged:
            print(f"column {name}: {one.status}: {one.message}", file=sys.stderr)
    return 0 if results.converged.all() else command_line.FAILED
