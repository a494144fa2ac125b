"""`sbth eigvals`: eigenvalues of a symmetric matrix in a file."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

from hetero.command_line import (
    add_plot_option,
    check_device,
    check_outputs,
    save_figure,
    save_output,
)
from hetero.display.notebook import html_text
from hetero.validation import check_in_range
from sbth._commands import results
from sbth._commands.matrix_files import read_matrix
from sbth.eigenvalues import spectrum
from sbth.results import Spectrum

_EXAMPLES = (
    ("matrix.mtx", "all eigenvalues, one a line"),
    ("matrix.mtx --index 0 9 --plot spectrum.html", "the ten smallest, with a picture"),
    ("matrix.npz --interval -1 1 --out eigenvalues.npy", "those in (-1, 1], to a file"),
)


def add_eigenvalues(subcommands: Any) -> None:
    """Add the command."""
    text = "compute eigenvalues of a symmetric matrix: Matrix Market, NPY or NPZ"
    parser = results.add_command(subcommands, run_eigvals, text, _EXAMPLES)
    results.add_selection(parser)
    text = "error that is good enough (default: rounding)"
    parser.add_argument("--tol", type=float, metavar="LENGTH", help=text)
    add_plot_option(parser, "the spectrum")
    results.add_outputs(parser)


def run_eigvals(options: argparse.Namespace) -> int:
    """Compute the eigenvalues; print them, or write and draw them."""
    check_device(options.device)
    check_outputs(out=options.out, plot=options.plot)
    if options.tol is not None:
        check_in_range("--tol", options.tol, 0.0, math.inf, closed="left")
    chosen, matrix = results.read_selection(options), read_matrix(options.file)
    with results.errors_name(options.file):
        result = spectrum(matrix, **chosen, tol=options.tol, **results.read_solver(options))
    if options.plot is not None:
        save_output(options.plot, lambda path: _draw(result, options.file, path))
    names = "order", "bandwidth", "permuted", "method"
    facts = {name: getattr(result, name) for name in names}
    return results.write_values(options, result.values, facts, result.summary())


def _draw(result: Spectrum, source: Path, path: Path) -> None:
    """Write the figure of the spectrum of the matrix in the file `source`."""
    if not result.values.size:
        raise ValueError("--plot: there is no eigenvalue to draw")
    title = f"Spectrum of {source.name}"
    save_figure(result.plot, path, title=title, tables=[html_text(result.summary())])
