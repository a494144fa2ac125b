"""`sbth eigsh`: a few eigenvalues and eigenvectors of a large sparse matrix in a file."""

from __future__ import annotations

import argparse
import dataclasses
from typing import Any

from hetero.command_line import check_device, check_outputs, print_json
from hetero.version import VERSION
from sbth._commands import results
from sbth._commands.matrix_files import read_matrix
from sbth._lanczos.arguments import METHODS
from sbth._lanczos.wanted import WHICH
from sbth.results import EigshForecast
from sbth.sparse import eigsh, forecast_eigsh

_EXAMPLES = (
    ("matrix.mtx -k 10 --which SA", "the ten smallest eigenvalues, one a line"),
    ("matrix.npz -k 4 --sigma 1.5 --vectors vectors.npy", "the four nearest to 1.5, with vectors"),
    ("matrix.mtx -k 10 --forecast", "which method would be used, and why"),
)

_FILE = "a .mtx (or .mtx.gz), .npy or .npz file, real symmetric or complex Hermitian"


def add_few_eigenpairs(subcommands: Any) -> None:
    """Add the command."""
    text = "compute a few eigenvalues of a large sparse matrix: Matrix Market, NPY or NPZ"
    parser = results.add_command(subcommands, run_eigsh, text, _EXAMPLES, _FILE)
    parser.add_argument("-k", type=int, default=6, help="number of eigenvalues (default: 6)")
    text = "largest or smallest magnitude, largest or smallest, or both ends (default: LM)"
    parser.add_argument("--which", choices=WHICH, default="LM", help=text)
    text = "compute the eigenvalues nearest to SHIFT"
    parser.add_argument("--sigma", type=float, metavar="SHIFT", help=text)
    text = "residual that is good enough, relative to the eigenvalue (default: rounding)"
    parser.add_argument("--tol", type=float, default=0.0, help=text)
    text = "Lanczos, or the reduction of a band (default: the faster one by a forecast)"
    parser.add_argument("--method", choices=METHODS, default="auto", help=text)
    text = "say which method would be used, and why"
    parser.add_argument("--forecast", action="store_true", help=text)
    results.add_vectors(parser, required=False)
    results.add_outputs(parser)


def run_eigsh(options: argparse.Namespace) -> int:
    """Compute the eigenvalues; print or write them."""
    check_device(options.device)
    results.check_vectors_name(options.vectors)
    check_outputs(out=options.out, others=() if options.vectors is None else (options.vectors,))
    arguments = {"k": options.k, "which": options.which, "sigma": options.sigma}
    solver, matrix = results.read_solver(options), read_matrix(options.file)
    with results.errors_name(options.file):
        if options.forecast:
            del solver["progress"]
            return _print_forecast(forecast_eigsh(matrix, **arguments, **solver), options)
        pairs = eigsh(matrix, **arguments, **solver, tol=options.tol)
    text = f"{len(pairs[0])} eigenvalues of a matrix of order {len(pairs[1])} in {options.out}"
    return results.write_pairs(options, pairs, text)


def _print_forecast(forecast: EigshForecast, options: argparse.Namespace) -> int:
    """Print a forecast; return the exit code."""
    if options.json:
        print_json({"version": VERSION, "file": options.file} | dataclasses.asdict(forecast))
    else:
        print(f"{forecast.method}: {forecast.reason}")
    return 0
