"""Columns of numbers from CSV and other text files, Parquet, NPY and NPZ files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hetero.data_files.parquet import import_pyarrow
from hetero.data_files.text import TextFile


class Column(NamedTuple):
    """A column of a file.

    Attributes
    ----------
    name : str
        Its heading; its number, from 1, where there is none.
    values : float64 array of one dimension
        NaN where the file has no value.
    """

    name: str
    values: np.ndarray


class _Table(NamedTuple):
    """A file whose columns can be read by their index."""

    names: list[str]
    is_numeric: list[bool]
    read: Callable[[int], np.ndarray]


def read_columns(
    source: str | Path, keys: Sequence[str] = (), *, every: bool = False
) -> list[Column]:
    """Read columns of a file by name or by number.

    Parameters
    ----------
    source : str or Path
        A file; ``-`` is text from the standard input. The suffixes .npy, .npz and .parquet stand
        for these formats, everything else is text: numbers separated by commas, semicolons, tabs or
        spaces, with or without a line of headings, and comments behind #.
    keys : sequence of str
        Headings, or numbers of columns, counted from 1. A heading goes before a number. By default
        the only column of numbers.
    every : bool
        Read every column of numbers instead.

    Returns
    -------
    list of Column

    Raises
    ------
    OSError : the file cannot be read
    ValueError : there is no such column, or it holds something else than numbers
    ImportError : the file is Parquet, and pyarrow is not installed
    """
    table = _open(source)
    if every:
        chosen = [k for k, is_numeric in enumerate(table.is_numeric) if is_numeric]
        if not chosen:
            raise ValueError(f"{source}: no column holds numbers; {_list_columns(table)}")
    elif keys:
        chosen = [_find(source, table, key) for key in keys]
    else:
        chosen = [_only_column(source, table)]
    return [Column(table.names[k], table.read(k)) for k in chosen]


def drop_missing(column: Column, source: str | Path, allow: bool) -> np.ndarray:
    """Return the values without NaN, if that is allowed.

    Raises
    ------
    ValueError : values are missing, and `allow` is false
    """
    missing = np.isnan(column.values)
    if missing.any() and not allow:
        raise ValueError(
            f"{source}: column {column.name!r} lacks {missing.sum()} of {missing.size} values, "
            f"the first in row {int(np.argmax(missing)) + 1} of the data. "
            "Remedy: --skip-missing leaves them out"
        )
    return column.values[~missing]


def _open(source: str | Path) -> _Table:
    """Return the table of a file of any format."""
    path = Path(source)
    suffix = "" if str(source) == "-" else path.suffix.lower()
    if suffix == ".npy":
        return _array_table(path, _load(path))
    if suffix == ".npz":
        return _archive_table(path)
    if suffix in (".parquet", ".pq"):
        return _parquet_table(path)
    text = TextFile.opened(str(source))
    return _Table(text.names, text.is_numeric, text.column)


def _load(path: Path) -> Any:
    """Return the array, or the archive of arrays, in a file."""
    with path.open("rb") as file:
        magic = file.read(6)
    if magic[:2] != b"PK" and magic != b"\x93NUMPY":
        raise ValueError(f"{path}: this is no NumPy file")
    return np.load(path, allow_pickle=False)


def _array_table(path: Path, array: np.ndarray) -> _Table:
    """Return the table of an array: its fields, or its columns."""
    if array.dtype.names:
        names = list(array.dtype.names)
        fields = [array[name] for name in names]
        return _Table(
            names,
            [f.dtype.kind in "fiub" for f in fields],
            lambda k: _as_floats(path, names[k], fields[k]),
        )
    if array.ndim not in (1, 2):
        raise ValueError(
            f"{path}: the array must have one or two dimensions, got shape {array.shape}"
        )
    columns = array.reshape(array.shape[0], -1)
    numbers = [str(k + 1) for k in range(columns.shape[1])]
    return _Table(
        numbers,
        [array.dtype.kind in "fiub"] * len(numbers),
        lambda k: _as_floats(path, numbers[k], columns[:, k]),
    )


def _archive_table(path: Path) -> _Table:
    """Return the table of the arrays of one dimension in an NPZ archive."""
    archive = _load(path)
    names = [name for name in archive.files if archive[name].ndim == 1]
    numeric = [archive[name].dtype.kind in "fiub" for name in names]
    return _Table(names, numeric, lambda k: _as_floats(path, names[k], archive[names[k]]))


def _parquet_table(path: Path) -> _Table:
    """Return the table of a Parquet file; each column is read by itself."""
    pyarrow, parquet = import_pyarrow(path)
    path.open("rb").close()  # a missing file has Python's message, not pyarrow's
    try:
        schema = parquet.read_schema(path)
    except pyarrow.ArrowInvalid as error:
        raise ValueError(f"{path}: this is no Parquet file: {error}") from None
    types = pyarrow.types
    numeric = [
        types.is_floating(t) or types.is_integer(t) or types.is_decimal(t) for t in schema.types
    ]

    def read(k: int) -> np.ndarray:
        if not numeric[k]:
            raise ValueError(f"{path}: column {schema.names[k]!r} holds {schema.types[k]}")
        column = parquet.read_table(path, columns=[schema.names[k]]).column(0)
        return np.array(column.cast(pyarrow.float64()).to_numpy(), float)

    return _Table(list(schema.names), numeric, read)


def _as_floats(path: Path, name: str, values: np.ndarray) -> np.ndarray:
    """Return numbers as float64; raise ValueError for complex numbers, texts and objects."""
    if values.dtype.kind not in "fiub" or values.ndim != 1:
        raise ValueError(f"{path}: column {name!r} holds {values.dtype}, not real numbers")
    return values.astype(float)


def _find(source: str | Path, table: _Table, key: str) -> int:
    """Return the index of the column with this heading or number."""
    if key in table.names:
        return table.names.index(key)
    if key.isdecimal() and 1 <= int(key) <= len(table.names):
        return int(key) - 1
    raise ValueError(f"{source}: there is no column {key!r}; {_list_columns(table)}")


def _only_column(source: str | Path, table: _Table) -> int:
    """Return the index of the only column that holds numbers."""
    numeric = [k for k, is_numeric in enumerate(table.is_numeric) if is_numeric]
    if len(numeric) != 1:
        raise ValueError(f"{source}: choose a column with --column; {_list_columns(table)}")
    return numeric[0]


def _list_columns(table: _Table) -> str:
    """Return the names and numbers of the columns as a text."""
    first_columns = [f"{name!r} ({k + 1})" for k, name in enumerate(table.names[:20])]
    if not first_columns:
        return "there are no columns"
    ellipsis = ", ..." if len(table.names) > len(first_columns) else ""
    return f"the columns are {', '.join(first_columns)}{ellipsis}"
