"""`sbth eigh`: eigenvalues and eigenvectors of a symmetric matrix in a file."""

from __future__ import annotations

import argparse
from typing import Any

from hetero.command_line import check_device, check_outputs
from sbth._commands import results
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
    parser = results.add_command(subcommands, run_eigh, text, _EXAMPLES)
    results.add_selection(parser)
    results.add_vectors(parser, required=True)
    results.add_outputs(parser)


def run_eigh(options: argparse.Namespace) -> int:
    """Compute eigenvalues and eigenvectors; write and print them."""
    check_device(options.device)
    results.check_vectors_name(options.vectors)
    check_outputs(out=options.out, others=(options.vectors,))
    chosen, matrix = results.read_selection(options), read_matrix(options.file)
    with results.errors_name(options.file):
        pairs, bandwidth = _solve(matrix, chosen, results.read_solver(options))
    count, order = pairs[1].shape[::-1]
    text = f"{count} eigenvectors of length {order} in {options.vectors}"
    return results.write_pairs(options, pairs, text, bandwidth=bandwidth)


def _solve(a: Any, chosen: dict[str, Any], options: dict[str, Any]) -> tuple[Any, int]:
    """Return eigenvalues and eigenvectors, and the number of subdiagonals of a matrix."""
    matrix: Any = check_symmetric(a)
    bandwidth, sparse = bandwidth_of(matrix), is_sparse(matrix)
    if is_wide(bandwidth, matrix.shape[0]):
        if chosen:
            subset = {"i": "subset_by_index", "v": "subset_by_value"}[chosen["select"]]
            chosen = {subset: chosen["select_range"]}
        return eigh(matrix.toarray() if sparse else matrix, **chosen, **options), bandwidth
    band = band_from_sparse(matrix) if sparse else band_from_dense(matrix, bandwidth)
    return eig_banded(band, **chosen, **options), bandwidth
