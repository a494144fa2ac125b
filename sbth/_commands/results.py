"""The matrix of a command, the eigenvalues that it computes, and how results are written."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hetero.command_line import add_common_options, add_out_option, print_json, save_output
from hetero.data_files import write_columns
from hetero.version import VERSION
from sbth._problem.limits import METHOD_NAMES
from sbth.results import NoConvergenceError

MATRIX = (
    "a .mtx (or .mtx.gz), .npy or .npz file; .npz as scipy.sparse.save_npz writes it, or with one "
    "array"
)


def add_command(
    subcommands: Any, run: Callable[[Any], int], text: str, examples: Sequence, file: str = MATRIX
) -> argparse.ArgumentParser:
    """Add the command that `run` is named after, which takes a matrix in a file."""
    name = run.__name__.removeprefix("run_")
    parser: argparse.ArgumentParser = subcommands.add_parser(
        name, help=text, description=text, examples=examples
    )
    parser.add_argument("file", type=Path, metavar="FILE", help=file)
    parser.set_defaults(run=run)
    return parser


def add_selection(parser: argparse.ArgumentParser) -> None:
    """Add the method, and the options that choose eigenvalues."""
    method = "solver: this package's, LAPACK on a CPU, cuSOLVER on a GPU (default: the faster one)"
    parser.add_argument("--method", choices=METHOD_NAMES, default="auto", help=method)
    parts = parser.add_mutually_exclusive_group()
    index = "compute the eigenvalues with these indices only, from 0, both ends included"
    parts.add_argument("--index", nargs=2, type=int, metavar=("FIRST", "LAST"), help=index)
    interval = "compute the eigenvalues above LOW, up to HIGH, only"
    parts.add_argument("--interval", nargs=2, type=float, metavar=("LOW", "HIGH"), help=interval)


def read_selection(options: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of solvers that the options which choose eigenvalues mean."""
    if options.index is not None:
        return {"select": "i", "select_range": tuple(options.index)}
    if options.interval is not None:
        return {"select": "v", "select_range": tuple(options.interval)}
    return {}


def read_solver(options: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of solvers that all commands have as options."""
    names = {"method": options.method, "device": options.device}
    return names | {"progress": not options.quiet}


def add_outputs(parser: argparse.ArgumentParser) -> None:
    """Add the file of eigenvalues, and what all commands of the project take."""
    add_out_option(parser, "the eigenvalues")
    add_common_options(parser)


def add_vectors(parser: argparse.ArgumentParser, *, required: bool) -> None:
    """Add the file of eigenvectors."""
    text = "write the eigenvectors, the columns of an array, to a .npy file"
    parser.add_argument("--vectors", type=Path, required=required, metavar="FILE", help=text)


def check_vectors_name(path: Path | None) -> None:
    """Raise ValueError if the name of the file of eigenvectors has another ending than .npy."""
    if path is not None and path.suffix.lower() != ".npy":
        raise ValueError(f"--vectors: the name must end with .npy, got {path}")


@contextlib.contextmanager
def errors_name(path: Path) -> Iterator[None]:
    """Let errors of a solver name the file of the matrix."""
    try:
        yield
    except (TypeError, ValueError, NoConvergenceError) as error:
        raise ValueError(f"{path}: {error}") from None


def write_values(
    options: argparse.Namespace, values: np.ndarray, facts: dict[str, Any], text: str
) -> int:
    """Write or print eigenvalues as the options say; return the exit code.

    `facts` are further keys of the JSON; `text` is printed if the results are in files.
    """
    columns = {"eigenvalue": values}
    if options.out is not None:
        save_output(options.out, lambda path: write_columns(path, columns))
    if options.json:
        facts = {"version": VERSION, "file": options.file} | facts
        print_json(facts | {"eigenvalues": values})
    elif options.out is None and getattr(options, "plot", None) is None:
        write_columns(None, columns)
    else:
        print(text)
    return 0


def write_pairs(
    options: argparse.Namespace, pairs: tuple[np.ndarray, np.ndarray], text: str, **facts: Any
) -> int:
    """Write the eigenvectors to their file, if there is one, and what `write_values` does."""
    values, vectors = pairs
    if options.vectors is not None:
        save_output(options.vectors, lambda path: _write_vectors(path, vectors))
    facts = {"order": len(vectors)} | facts | {"vectors": options.vectors}
    return write_values(options, values, facts, text)


def _write_vectors(path: Path, vectors: np.ndarray) -> None:
    """Write the eigenvectors; the open file keeps NumPy from changing the name."""
    with path.open("wb") as file:
        np.save(file, vectors)
