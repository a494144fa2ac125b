"""`sbth eigsh`: a few eigenvalues and eigenvectors of a large sparse matrix in a file."""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path
from typing import Any

from hetero.command_line import check_device, check_outputs, print_json
from hetero.version import VERSION
from sbth._commands.eigenvectors import add_output_options, check_vectors_name, write_pairs
from sbth._commands.matrix_files import read_matrix
from sbth._lanczos.arguments import METHODS
from sbth._lanczos.wanted import WHICH
from sbth.results import NoConvergenceError
from sbth.sparse import eigsh, forecast_eigsh

_EXAMPLES = (
    ("matrix.mtx -k 10 --which SA", "the ten smallest eigenvalues, one a line"),
    ("matrix.npz -k 4 --sigma 1.5 --vectors vectors.npy", "the four nearest to 1.5, with vectors"),
    ("matrix.mtx -k 10 --forecast", "which method would be used, and why"),
)


def add_few_eigenpairs(subcommands: Any) -> None:
    """Add the command."""
    text = "compute a few eigenvalues of a large sparse matrix: Matrix Market, NPY or NPZ"
    parser = subcommands.add_parser("eigsh", help=text, description=text, examples=_EXAMPLES)
    parser.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help="a .mtx (or .mtx.gz), .npy or .npz file, real symmetric or complex Hermitian",
    )
    parser.add_argument("-k", type=int, default=6, help="number of eigenvalues (default: 6)")
    parser.add_argument(
        "--which",
        choices=WHICH,
        default="LM",
        help="largest or smallest magnitude, largest or smallest, or both ends (default: LM)",
    )
    parser.add_argument(
        "--sigma", type=float, metavar="SHIFT", help="compute the eigenvalues nearest to SHIFT"
    )
    parser.add_argument(
        "--tol",
        type=float,
        default=0.0,
        help="residual that is good enough, relative to the eigenvalue (default: rounding)",
    )
    parser.add_argument(
        "--method",
        choices=METHODS,
        default="auto",
        help="Lanczos, or the reduction of a band (default: the faster one by a forecast)",
    )
    parser.add_argument(
        "--forecast", action="store_true", help="say which method would be used, and why"
    )
    add_output_options(parser, has_vectors=False)
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    """Compute the eigenvalues; print or write them."""
    check_device(options.device)
    if options.vectors is not None:
        check_vectors_name(options.vectors)
    others = () if options.vectors is None else (options.vectors,)
    check_outputs(out=options.out, others=others)
    arguments = {"k": options.k, "which": options.which, "sigma": options.sigma}
    arguments |= {"method": options.method, "device": options.device}
    matrix = read_matrix(options.file)
    try:
        if options.forecast:
            return _print_forecast(forecast_eigsh(matrix, **arguments), options)
        values, vectors = eigsh(matrix, **arguments, tol=options.tol, progress=not options.quiet)
    except (TypeError, ValueError, NoConvergenceError) as error:
        raise ValueError(f"{options.file}: {error}") from None
    text = f"{len(values)} eigenvalues of a matrix of order {len(vectors)} in {options.out}"
    return write_pairs(options, values, vectors, {}, text)


def _print_forecast(forecast: Any, options: argparse.Namespace) -> int:
    """Print a forecast; return the exit code."""
    if options.json:
        print_json({"version": VERSION, "file": options.file} | dataclasses.asdict(forecast))
    else:
        print(f"{forecast.method}: {forecast.reason}")
    return 0
