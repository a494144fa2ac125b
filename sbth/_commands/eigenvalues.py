"""`sbth eigvals`: eigenvalues of a symmetric matrix in a file."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

from hetero.command_line import (
    add_common_options,
    add_out_option,
    add_plot_option,
    check_device,
    check_outputs,
    print_json,
    save_figure,
    save_output,
)
from hetero.data_files import write_columns
from hetero.display.notebook import html_text
from hetero.validation import check_in_range
from hetero.version import VERSION
from sbth._commands.matrix_files import read_matrix
from sbth.eigenvalues import spectrum
from sbth.results import Spectrum

METHODS = ("auto", "sbth", "lapack", "cusolver")

_EXAMPLES = (
    ("matrix.mtx", "all eigenvalues, one a line"),
    ("matrix.mtx --index 0 9 --plot spectrum.html", "the ten smallest, with a picture"),
    ("matrix.npz --interval -1 1 --out eigenvalues.npy", "those in (-1, 1], to a file"),
)


def add_eigenvalues(subcommands: Any) -> None:
    """Add the command."""
    text = "compute eigenvalues of a symmetric matrix: Matrix Market, NPY or NPZ"
    parser = subcommands.add_parser("eigvals", help=text, description=text, examples=_EXAMPLES)
    add_matrix_and_selection(parser)
    parser.add_argument(
        "--tol", type=float, metavar="LENGTH", help="error that is good enough (default: rounding)"
    )
    add_plot_option(parser, "the spectrum")
    add_out_option(parser, "the eigenvalues")
    add_common_options(parser)
    parser.set_defaults(run=_run)


def add_matrix_and_selection(parser: argparse.ArgumentParser) -> None:
    """Add the file of the matrix, and the options that choose eigenvalues."""
    parser.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help="a .mtx (or .mtx.gz), .npy or .npz file; .npz as scipy.sparse.save_npz writes it, or "
        "with one array",
    )
    parser.add_argument(
        "--method",
        choices=METHODS,
        default="auto",
        help="solver: this package's, LAPACK on a CPU, cuSOLVER on a GPU (default: the faster one)",
    )
    parts = parser.add_mutually_exclusive_group()
    parts.add_argument(
        "--index",
        nargs=2,
        type=int,
        metavar=("FIRST", "LAST"),
        help="compute the eigenvalues with these indices only, from 0, both ends included",
    )
    parts.add_argument(
        "--interval",
        nargs=2,
        type=float,
        metavar=("LOW", "HIGH"),
        help="compute the eigenvalues above LOW, up to HIGH, only",
    )


def read_selection(options: argparse.Namespace) -> tuple[str, tuple | None]:
    """Return `select` and `select_range` of the options that choose eigenvalues."""
    if options.index is not None:
        return "i", tuple(options.index)
    if options.interval is not None:
        return "v", tuple(options.interval)
    return "a", None


def _run(options: argparse.Namespace) -> int:
    """Compute the eigenvalues; print them, or write and draw them."""
    check_device(options.device)
    check_outputs(out=options.out, plot=options.plot)
    if options.tol is not None:
        check_in_range("--tol", options.tol, 0.0, math.inf, closed="left")
    select, select_range = read_selection(options)
    matrix = read_matrix(options.file)
    try:
        result = spectrum(
            matrix,
            select=select,
            select_range=select_range,
            tol=options.tol,
            method=options.method,
            progress=not options.quiet,
            device=options.device,
        )
    except (TypeError, ValueError) as error:
        raise ValueError(f"{options.file}: {error}") from None
    if options.plot is not None:
        save_output(options.plot, lambda path: _draw(result, options.file, path))
    if options.out is not None:
        columns = {"eigenvalue": result.values}
        save_output(options.out, lambda path: write_columns(path, columns))
    if options.json:
        print_json(
            {
                "version": VERSION,
                "file": options.file,
                "order": result.order,
                "bandwidth": result.bandwidth,
                "permuted": result.permuted,
                "method": result.method,
                "eigenvalues": result.values,
            }
        )
    elif options.out is None and options.plot is None:
        write_columns(None, {"eigenvalue": result.values})
    else:
        print(result.summary())
    return 0


def _draw(result: Spectrum, source: Path, path: Path) -> None:
    """Write the figure of the spectrum of the matrix in the file `source`."""
    if not result.values.size:
        raise ValueError("--plot: there is no eigenvalue to draw")
    title = f"Spectrum of {source.name}"
    save_figure(result.plot, path, title=title, tables=[html_text(result.summary())])
