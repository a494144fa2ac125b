"""Columns to CSV, Excel, HTML, LaTeX, Parquet and NPY files, or to the standard output."""

from __future__ import annotations

import csv
import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TextIO

import numpy as np

from hetero.data_files.atomic_files import replace_atomically
from hetero.data_files.reading import import_pyarrow
from hetero.data_files.tables_as_text import require_openpyxl
from hetero.validation import check_output_path

SUFFIXES = (".csv", ".xlsx", ".html", ".tex", ".parquet", ".npy")

_DIGITS = "{:.6g}".format
"""Form of numbers in HTML and LaTeX, which people read; the other formats keep all digits."""

_ROWS_AT_ONCE = 1 << 16


def check_output(option: str, path: Path | None) -> None:
    """Raise an error, before a long computation, if a suffix stands for no format of columns.

    Raises
    ------
    ValueError : the suffix is none of `SUFFIXES`, or the folder does not exist
    ImportError : pyarrow is not installed for .parquet, openpyxl for .xlsx, or jinja2 for .tex
    """
    check_output_path(option, path, SUFFIXES)
    if path is None:
        return
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        import_pyarrow(path)
    elif suffix == ".xlsx":
        require_openpyxl(path)
    elif suffix == ".tex" and importlib.util.find_spec("jinja2") is None:
        raise ImportError(
            f"{path}: pandas writes LaTeX by jinja2, which is not installed. "
            "Remedy: pip install jinja2, or use a CSV file"
        )


def write_columns(path: Path | None, columns: Mapping[str, Any]) -> None:
    """Write columns of equal lengths to a file, or as CSV to the standard output.

    Parameters
    ----------
    path : Path or None
        Its suffix chooses the format. An NPY file has one array: of one dimension for one column,
        else structured, with a field for each column. None is the standard output.
    columns : mapping of names to arrays of numbers or texts, of one dimension
    """
    arrays = {name: np.asarray(values) for name, values in columns.items()}
    if path is None:
        _write_csv(sys.stdout, arrays)
        return
    check_output("path", path)
    with replace_atomically(path) as part:
        if path.suffix.lower() == ".csv":
            with part.open("w", encoding="utf-8", newline="") as file:
                _write_csv(file, arrays)
        elif path.suffix.lower() in (".xlsx", ".html", ".tex"):
            _write_frame(part, path.suffix.lower(), arrays)
        elif path.suffix.lower() == ".npy":
            with part.open("wb") as binary:
                # To a real file NumPy writes by C's stdio, whose errors do not say what is wrong.
                stream: Any = SimpleNamespace(write=binary.write)
                np.save(stream, _as_array(arrays), allow_pickle=False)
        else:
            import pyarrow

            import_pyarrow(path).write_table(pyarrow.table(arrays), part)


def _write_frame(part: Path, suffix: str, columns: Mapping[str, np.ndarray]) -> None:
    """Write columns to an Excel sheet, or as a table of HTML or LaTeX."""
    import pandas

    frame = pandas.DataFrame(columns)
    if suffix == ".xlsx":
        with part.open("wb") as file:
            frame.to_excel(file, index=False, engine="openpyxl")
        return
    if suffix == ".tex":
        text = frame.to_latex(index=False, escape=True, na_rep="", float_format=_DIGITS)
    else:
        text = frame.to_html(index=False, na_rep="", float_format=_DIGITS)
    part.write_text(text, encoding="utf-8")


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
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    rows = len(next(iter(columns.values())))
    for begin in range(0, rows, _ROWS_AT_ONCE):
        parts = [_as_cells(array[begin : begin + _ROWS_AT_ONCE]) for array in columns.values()]
        writer.writerows(zip(*parts, strict=True))


def _as_cells(values: np.ndarray) -> list[Any]:
    """Return values of which `str` gives the shortest text that identifies them; NaN is empty."""
    cells = (values.astype(str) if values.dtype == np.float32 else values).tolist()
    return ["" if cell != cell or cell == "nan" else cell for cell in cells]
