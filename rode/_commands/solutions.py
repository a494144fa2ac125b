"""`rode solve`: Monte Carlo over paths of a random ordinary differential equation."""

from __future__ import annotations

import argparse
import math
import sys
from typing import Any

import numpy as np

from hetero import command_line, validation
from hetero.data_files import write_columns
from hetero.display.notebook import html_table
from hetero.version import VERSION
from rode._commands.models import BUILT_IN, load_problem
from rode._commands.peaks import (
    PeakQuantiles,
    correct_peaks,
    exceedances_of,
    parse_level,
    print_exceedances,
    print_rows,
)
from rode._solver.plan import MAX_STEPS
from rode._solver.reductions import Quantiles, Reduction
from rode._solver.schemes import SCHEMES, find_scheme
from rode._solver.schemes.stability import largest_step
from rode.problems.problem import Problem
from rode.results.result import Result
from rode.solving import solve

LINEAR_METHOD, METHOD, GENERAL_METHOD = "3-rode-taylor", "averaged-heun", "heun"
"""Methods for linear problems and for others if --method is not given."""

STEPS = 1024
"""Coarse steps over the whole time if --h is not given; more if the scheme needs them."""

PEAK_STEPS = 8192
"""Coarse steps for --peaks. Corrected peaks of 20 s of Kanai-Tajimi are then within 0.2 %."""

SAVED_TIMES = 128
"""Times whose statistics are kept if --every is not given."""

_ROWS = 9  # of the table in a terminal

_EXAMPLES = (
    ("model.py:problem --paths 4096 --out out.csv", "the Problem `problem` in the file model.py"),
    ("kanai-tajimi --t-span 0 20 --paths 4096 --plot quake.html", "an earthquake, with a picture"),
    ("kanai-tajimi --t-span 0 20 --peaks --quantiles 0.5 0.99", "the largest values of paths"),
    ("kanai-tajimi --peaks --exceed acceleration=20", "the probability of a large acceleration"),
    ("growth --method averaged-heun --h 0.001 --quantiles 0.5 0.99 --json", "all as JSON"),
)


def add_solve(subcommands: Any) -> None:
    """Add the command."""
    text = "solve a problem for many paths; print the mean and quantiles of its outputs over time"
    parser = subcommands.add_parser("solve", help=text, description=text, examples=_EXAMPLES)
    parser.add_argument(
        "problem",
        metavar="PROBLEM",
        help=f"FILE.py:NAME, a rode.Problem or a function that returns one; FILE.py, if it has "
        f"one rode.Problem; or {', '.join(BUILT_IN)}",
    )
    parser.add_argument(
        "--paths", type=command_line.whole_number, default=1024, metavar="N", help="(default: 1024)"
    )
    parser.add_argument(
        "--t-span",
        type=float,
        nargs=2,
        default=(0.0, 10.0),
        metavar=("BEGIN", "END"),
        help="in s (default: 0 10)",
    )
    parser.add_argument(
        "--method",
        help=f"one of {', '.join(SCHEMES)} (default: {LINEAR_METHOD} for linear problems, "
        f"{GENERAL_METHOD} for general and {METHOD} for other ones)",
    )
    parser.add_argument(
        "--h",
        type=float,
        help="coarse step in s (default: 1024 in all, 8192 for --peaks, more if need be)",
    )
    parser.add_argument("--delta", type=float, help="fine step of the process in s")
    parser.add_argument(
        "--sampling",
        choices=("path", "exact"),
        help="fine steps, or their sums from their distribution (default: exact where it exists)",
    )
    parser.add_argument(
        "--quantiles",
        type=float,
        nargs="*",
        default=(0.05, 0.5, 0.95),
        metavar="P",
        help="probabilities (default: 0.05 0.5 0.95)",
    )
    parser.add_argument(
        "--peaks",
        action="store_true",
        help="quantiles of the largest absolute value of each path instead of statistics over "
        "time, corrected for what lies between the steps; --out has a row for each path",
    )
    parser.add_argument(
        "--exceed",
        action="append",
        default=[],
        metavar="OUTPUT=LEVEL",
        help="with --peaks, the probability that the largest |OUTPUT| exceeds LEVEL, with its "
        "95 %% interval; may be repeated",
    )
    parser.add_argument(
        "--every",
        type=command_line.whole_number,
        metavar="N",
        help="coarse steps between times (default: 128 times)",
    )
    parser.add_argument("--seed", type=int, help="an integer >= 0 (default: one at random)")
    parser.add_argument(
        "--dtype",
        choices=("float64", "float32"),
        default="float64",
        help="type of the solver (default: float64)",
    )
    command_line.add_plot_option(parser, "the outputs")
    command_line.add_out_option(parser, "times, means and quantiles, or the peaks of each path")
    command_line.add_common_options(parser)
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    """Solve the problem; print, write and draw the result; return the exit code."""
    command_line.check_device(options.device)
    command_line.check_outputs(out=options.out, plot=options.plot)
    if options.seed is not None:
        validation.check_integer("--seed", options.seed)
    problem = load_problem(options.problem)
    if options.exceed and not options.peaks:
        raise ValueError("--exceed needs --peaks, whose values it compares")
    exceed = [parse_level(text, problem.outputs) for text in options.exceed]
    begin, end = (validation.check_finite("--t-span", one) for one in options.t_span)
    if not end > begin:
        raise ValueError(f"--t-span must end after it begins, got {begin:g} {end:g}")
    other = METHOD if problem.f is None else GENERAL_METHOD
    method = options.method or (LINEAR_METHOD if problem.linear else other)
    if options.h is None:
        steps = PEAK_STEPS if options.peaks else STEPS
        h = _choose_step(problem, method, end - begin, steps)
    else:
        h = validation.check_positive("--h", options.h)
    draws_steps = problem.G is not None or options.delta is not None
    sampling = options.sampling or ("path" if draws_steps else "exact")
    every = options.every
    if every is None:
        every = max(1, round(min((end - begin) / h, MAX_STEPS) / SAVED_TIMES))
    probabilities = Quantiles(*options.quantiles) if options.quantiles else None
    reduction: list[str | Reduction] = ["peaks" if options.peaks else "moments"]
    if probabilities is not None and not options.peaks:
        reduction.append(probabilities)
    result = solve(
        problem,
        method,
        t_span=(begin, end),
        h=h,
        delta=options.delta,
        paths=options.paths,
        sampling=sampling,
        rng=options.seed,
        reduction=reduction,
        save_every=every,
        dtype=options.dtype,
        progress=not options.quiet,
        device=options.device,
    )
    settings = {"method": method, "h": h, "sampling": sampling, "t_span": [begin, end]}
    _report(result, problem, settings, options, exceed)
    return 0 if result.success else command_line.FAILED


def _choose_step(problem: Problem, method: str, length: float, steps: int) -> float:
    """Return a step that divides the time and that the scheme allows, of at least `steps`."""
    if (linear := problem if problem.linear else problem.linearization) is not None:
        largest = largest_step(linear, find_scheme(method))
        if math.isfinite(largest):
            steps = max(steps, math.ceil(2.0 * length / largest))
    return length / steps


def _report(
    result: Result,
    problem: Problem,
    settings: dict[str, Any],
    options: argparse.Namespace,
    exceed: list[tuple[str, float]],
) -> None:
    """Print the result, and write and draw it if that was asked for."""
    peaks: PeakQuantiles | None = None
    numbers: dict[str, object] = {}
    exceedances: list[dict[str, Any]] = []
    if options.peaks:
        result, correction = correct_peaks(result, problem, settings["h"])
        assert result.peaks is not None  # they are requested with --peaks
        columns = dict(zip(result.outputs, result.peaks, strict=True))
        peaks = PeakQuantiles.of(result, tuple(options.quantiles))
        numbers["peaks"] = peaks.as_dict() | {"correction": correction}
        exceedances = exceedances_of(result, exceed) if result.success else []
        if exceedances:
            numbers["exceedance"] = exceedances
    else:
        columns = result.as_columns()
        numbers["columns"] = columns
    facts = {
        "problem": problem.name,
        "paths": result.work.paths,
        **settings,
        "fine_steps": result.work.fine_steps,
        "status": result.status,
        "message": result.message,
    }
    if options.plot is not None and result.success:
        title = f"{options.problem}: {result.work.paths:,} paths"
        table = html_table("Run", facts.items())
        command_line.save_output(
            options.plot,
            lambda path: command_line.save_figure(result.plot, path, title=title, tables=[table]),
        )
    if options.out is not None:
        command_line.save_output(options.out, lambda path: write_columns(path, columns))
    if not result.success:
        print(f"{result.status}: {result.message}", file=sys.stderr)
    if options.json:
        command_line.print_json({"version": VERSION} | facts | numbers)
        return
    print(f"{problem.name}: {result.work.paths:,} paths by {settings['method']}, ", end="")
    print(f"h = {settings['h']:.6g} s, sampling {settings['sampling']}")
    if peaks is not None:
        peaks.print()
        print_exceedances(exceedances)
        return
    each = (len(columns) - 1) // len(result.outputs)  # columns of each output, after the times
    for k, output in enumerate(result.outputs):
        _print_table(columns, list(columns)[1 + k * each : 1 + (k + 1) * each], output)
    if result.t.size > _ROWS and options.out is None:
        print(f"\n{_ROWS} of {result.t.size} times; --out FILE writes all of them")


def _print_table(columns: dict[str, np.ndarray], names: list[str], output: str) -> None:
    """Print some rows of the columns with the names of one output, the last among them."""
    size = columns["t"].size
    rows = np.unique(np.linspace(0, size - 1, min(size, _ROWS)).astype(int))
    table = {"t / s": columns["t"]}
    table |= {name.removeprefix(f"{output}_"): columns[name] for name in names}
    print(f"\n{output}")
    print_rows(table, ([values[row] for values in table.values()] for row in rows))
