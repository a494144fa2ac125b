"""`sbth eigh`: eigenvalues and eigenvectors of a symmetric matrix in a file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from hetero.command_line import (
    add_common_options,
    add_out_option,
    check_device,
    check_outputs,
    print_json,
    save_output,
)
from hetero.data_files import write_columns
from hetero.version import VERSION
from sbth._commands.eigenvalues import add_matrix_and_selection, read_selection
from sbth._commands.matrix_files import read_matrix
from sbth._problem.arrays import is_sparse
from sbth._problem.sparse_matrices import bandwidth_of, check_symmetric, is_wide
from sbth.band_storage import band_from_dense, band_from_sparse
from sbth.dense import eigh
from sbth.eigenvectors import eig_banded

_EXAMPLES = (
    ("matrix.mtx --vectors vectors.npy", "all eigenvectors to a file, eigenvalues one a line"),
    ("matrix.mtx --index 0 9 --vectors vectors.npy --out values.csv", "the ten lowest"),
)


def add_eigenvectors(subcommands: Any) -> None:
    """Add the command."""
    text = "compute eigenvalues and eigenvectors of a symmetric matrix: Matrix Market, NPY or NPZ"
    parser = subcommands.add_parser("eigh", help=text, description=text, examples=_EXAMPLES)
    add_matrix_and_selection(parser)
    add_output_options(parser, has_vectors=True)
    parser.set_defaults(run=_run)


def add_output_options(parser: argparse.ArgumentParser, *, has_vectors: bool) -> None:
    """Add the files of eigenvectors, which may be left out unless `has_vectors`, and of values."""
    text = "write the eigenvectors, the columns of an array, to a .npy file"
    parser.add_argument("--vectors", type=Path, required=has_vectors, metavar="FILE", help=text)
    add_out_option(parser, "the eigenvalues")
    add_common_options(parser)


def _run(options: argparse.Namespace) -> int:
    """Compute eigenvalues and eigenvectors; write and print them."""
    check_device(options.device)
    check_vectors_name(options.vectors)
    check_outputs(out=options.out, others=(options.vectors,))
    select, select_range = read_selection(options)
    try:
        values, vectors, bandwidth = _solve(
            read_matrix(options.file),
            select,
            select_range,
            {"method": options.method, "device": options.device, "progress": not options.quiet},
        )
    except (TypeError, ValueError) as error:
        raise ValueError(f"{options.file}: {error}") from None
    text = f"{len(values)} eigenvectors of length {len(vectors)} in {options.vectors}"
    return write_pairs(options, values, vectors, {"bandwidth": bandwidth}, text)


def write_pairs(
    options: argparse.Namespace,
    values: np.ndarray,
    vectors: np.ndarray,
    facts: dict[str, Any],
    text: str,
) -> int:
    """Write the files that the options name, and print; return the exit code.

    `facts` are further keys of the JSON; `text` is printed if the eigenvalues are in a file.
    """
    if options.vectors is not None:
        save_output(options.vectors, lambda path: _write_vectors(path, vectors))
    columns = {"eigenvalue": values}
    if options.out is not None:
        save_output(options.out, lambda path: write_columns(path, columns))
    if options.json:
        facts = {"version": VERSION, "file": options.file, "order": len(vectors)} | facts
        print_json(facts | {"vectors": options.vectors, "eigenvalues": values})
    elif options.out is None:
        write_columns(None, columns)
    else:
        print(text)
    return 0


def _solve(
    a: Any, select: str, select_range: tuple | None, options: dict[str, Any]
) -> tuple[np.ndarray, np.ndarray, int]:
    """Return eigenvalues, eigenvectors and the number of subdiagonals of a matrix."""
    matrix: Any = check_symmetric(a)
    bandwidth, sparse = bandwidth_of(matrix), is_sparse(matrix)
    if is_wide(bandwidth, matrix.shape[0]):
        subset = {"i": "subset_by_index", "v": "subset_by_value"}
        chosen: dict[str, Any] = {subset[select]: select_range} if select in subset else {}
        dense = matrix.toarray() if sparse else matrix
        return *eigh(dense, **chosen, **options), bandwidth
    band = band_from_sparse(matrix) if sparse else band_from_dense(matrix, bandwidth)
    return (*eig_banded(band, select=select, select_range=select_range, **options), bandwidth)


def check_vectors_name(path: Path) -> None:
    """Raise ValueError if the name of the file of eigenvectors has another ending than .npy."""
    if path.suffix.lower() != ".npy":
        raise ValueError(f"--vectors: the name must end with .npy, got {path}")


def _write_vectors(path: Path, vectors: np.ndarray) -> None:
    """Write the eigenvectors; the open file keeps NumPy from changing the name."""
    with path.open("wb") as file:
        np.save(file, vectors)
