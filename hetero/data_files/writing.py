"""Columns of numbers to CSV, Parquet and NPY files, or to the standard output."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

import numpy as np

from hetero.atomic_files import replace_atomically
from hetero.data_files.parquet import import_pyarrow
from hetero.validation import check_output_path

SUFFIXES = (".csv", ".parquet", ".npy")

_ROWS_AT_ONCE = 1 << 16


def check_output(option: str, path: Path | None) -> None:
    """Raise an error, before a long computation, if results could not be written to `path`.

    Raises
    ------
    ValueError : the suffix is none of `SUFFIXES`, or the folder does not exist
    ImportError : the suffix is .parquet, and pyarrow is not installed
    """
    check_output_path(option, path, SUFFIXES)
    if path is not None and path.suffix.lower() == ".parquet":
        import_pyarrow(path)


def write_columns(path: Path | None, columns: Mapping[str, np.ndarray]) -> None:
    """Write columns of equal lengths to a file, or as CSV to the standard output.

    Parameters
    ----------
    path : Path or None
        Its suffix chooses the format. An NPY file has one array: of one dimension for one column,
        else structured, with a field for each column. None is the standard output.
    columns : mapping of names to arrays of one dimension
    """
    if path is None:
        _write_csv(sys.stdout, columns)
        return
    check_output("path", path)
    with replace_atomically(path) as part:
        if path.suffix.lower() == ".csv":
            with part.open("w", encoding="utf-8", newline="\n") as file:
                _write_csv(file, columns)
        elif path.suffix.lower() == ".npy":
            with part.open("wb") as file:
                np.save(file, _as_array(columns), allow_pickle=False)
        else:
            pyarrow, parquet = import_pyarrow(path)
            parquet.write_table(pyarrow.table(dict(columns)), part)


def _as_array(columns: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return a single column as it is, and several as a structured array."""
    arrays = list(columns.values())
    if len(arrays) == 1:
        return np.ascontiguousarray(arrays[0])
    table = np.empty(len(arrays[0]), [(name, array.dtype) for name, array in columns.items()])
    for name, array in columns.items():
        table[name] = array
    return table


def _write_csv(file: TextIO, columns: Mapping[str, np.ndarray]) -> None:
    """Write a line of names and a line for each row, with the digits that identify each number."""
    names = (f'"{name}"' if set(name) & set(',"\n') else name for name in columns)
    write = file.write
    write(",".join(names) + "\n")
    rows = len(next(iter(columns.values())))
    for begin in range(0, rows, _ROWS_AT_ONCE):
        parts = [_as_texts(array[begin : begin + _ROWS_AT_ONCE]) for array in columns.values()]
        write("\n".join(map(",".join, zip(*parts, strict=True))) + "\n")


def _as_texts(values: np.ndarray) -> list[str]:
    """Return the shortest texts that are read as the same numbers; NaN is empty."""
    texts = values.astype(str) if values.dtype == np.float32 else values.tolist()
    return ["" if text in ("nan", "NaN") else text for text in map(str, texts)]
