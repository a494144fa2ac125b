"""Columns of numbers from CSV and other text files, JSON, Excel, Parquet, NPY and NPZ files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hetero.data_files.dates import HEADINGS, are_dates, order_of, parse_dates
from hetero.data_files.tables_as_text import sheet_as_csv
from hetero.data_files.text import TextFile

_DATES_SEEN = 200  # first values of a column, by which its kind is told


class Column(NamedTuple):
    """A column of a file.

    Attributes
    ----------
    name : str
        Its heading; its number, from 1, where there is none.
    values : array of one dimension
        float64, NaN where the file has no value; or datetime64.
    """

    name: str
    values: np.ndarray


class Table(NamedTuple):
    """A file with columns, of which those that are asked for are read.

    Attributes
    ----------
    source : str or Path
    names : list of str
        Headings, or numbers from 1.
    kinds : list of {"number", "date", "other"}
        What the first rows of each column hold.
    read : function of a sequence of indices to their float64 arrays
    read_dates : function of the index of a column of dates to a datetime64 array
    assumptions : str
        What was found out about a text file, for people; empty if there is nothing unusual.
    """

    source: str | Path
    names: list[str]
    kinds: list[str]
    read: Callable[[Sequence[int]], list[np.ndarray]]
    read_dates: Callable[[int], np.ndarray]
    assumptions: str = ""

    def columns(self, keys: Sequence[str] = (), *, every: bool = False) -> list[Column]:
        """Read columns of numbers.

        Parameters
        ----------
        keys : sequence of str
            Headings, or numbers of columns, counted from 1. A heading goes before a number. By
            default the only column of numbers.
        every : bool
            Read every column of numbers instead.

        Raises
        ------
        ValueError : there is no such column, or it holds something else than numbers
        """
        numeric = [k for k, kind in enumerate(self.kinds) if kind == "number"]
        if every and not numeric:
            raise ValueError(f"{self.source}: no column holds numbers; {self._list_columns()}")
        if not every and not keys and len(numeric) != 1:
            raise ValueError(
                f"{self.source}: choose a column with --column; {self._list_columns()}"
            )
        chosen = [self._find(key) for key in keys] if keys and not every else numeric
        arrays = self.read(chosen)
        names = [
            f"{self.names[k]} ({k + 1})" if self.names.count(self.names[k]) > 1 else self.names[k]
            for k in chosen
        ]
        return [Column(name, values) for name, values in zip(names, arrays, strict=True)]

    def dates(self) -> Column | None:
        """Read the column that tells the order of rows: dates, or numbers such as Unix times.

        It is the first column of dates that are not all the same, or else one of numbers that has
        a heading of dates and ascends or descends. None if there is none.

        Raises
        ------
        ValueError : a column with a heading of dates holds something else
        """
        columns = [k for k, kind in enumerate(self.kinds) if kind == "date"]
        dates = [Column(self.names[k], self.read_dates(k)) for k in columns]
        for column in dates:
            if (column.values != column.values[:1]).any():
                return column
        if dates:
            return dates[0]
        headed = [k for k, name in enumerate(self.names) if name.lower() in HEADINGS]
        for k in headed:
            if self.kinds[k] == "other":
                raise ValueError(
                    f"{self.source}: column {self.names[k]!r} holds something else than dates. "
                    "Remedy: write dates as 2026-12-31; if it says nothing of the order of rows, "
                    "which is from the oldest to the newest, give it another heading"
                )
        for k, values in zip(headed, self.read(headed), strict=True):
            if order_of(values) is not None:
                return Column(self.names[k], values)
        return None

    def others(self) -> list[str]:
        """Return the names of the columns without numbers."""
        return [name for name, kind in zip(self.names, self.kinds, strict=True) if kind != "number"]

    def _find(self, key: str) -> int:
        """Return the index of the column with this heading or number."""
        if self.names.count(key) > 1:
            raise ValueError(
                f"{self.source}: more than one column is called {key!r}: pass its number; "
                f"{self._list_columns()}"
            )
        if key in self.names:
            return self.names.index(key)
        if key.isdecimal() and 1 <= int(key) <= len(self.names):
            return int(key) - 1
        raise ValueError(f"{self.source}: there is no column {key!r}; {self._list_columns()}")

    def _list_columns(self) -> str:
        """Return the names and numbers of the columns as a text."""
        first_columns = [f"{name!r} ({k + 1})" for k, name in enumerate(self.names[:20])]
        if not first_columns:
            return "there are no columns"
        ellipsis = ", ..." if len(self.names) > len(first_columns) else ""
        return f"the columns are {', '.join(first_columns)}{ellipsis}"


def open_table(
    source: str | Path,
    *,
    delimiter: str | None = None,
    decimal: str | None = None,
    missing: Sequence[str] = (),
) -> Table:
    """Open a file whose columns can be read.

    Parameters
    ----------
    source : str or Path
        A file; ``-`` is text from the standard input. The suffixes .npy, .npz, .parquet and .xlsx
        stand for these formats, everything else is text: numbers separated by commas, semicolons,
        tabs or spaces, with or without a line of headings, and comments behind #, or a JSON array.
        A text file may be compressed (.gz, .bz2, .xz).
    delimiter, decimal : str, optional
        What separates the columns of a text file, and its decimal mark, "." or ","; found out by
        the first lines if they are not given.
    missing : sequence of str
        Texts that stand for a missing value, besides those of
        `hetero.data_files.text_layout.MISSING`.

    Raises
    ------
    OSError : the file cannot be read
    ValueError : it holds no columns of numbers, or a comma in it could mean two things
    ImportError : the file is Parquet or .xlsx, and pyarrow or openpyxl is not installed
    """
    path = Path(source)
    suffix = "" if str(source) == "-" else path.suffix.lower()
    if suffix == ".npy":
        return _array_table(path, _load(path))
    if suffix == ".npz":
        archive = _load(path)
        return _typed_table(path, {n: archive[n] for n in archive.files if archive[n].ndim == 1})
    if suffix in (".parquet", ".pq"):
        return _parquet_table(path)
    text, remark = None, ""
    if suffix in (".xlsx", ".xlsm"):
        (text, remark), delimiter = sheet_as_csv(path), ","
    return _text_table(TextFile.opened(str(source), delimiter, decimal, missing, text), remark)


def find_present(column: Column, source: str | Path, allow: bool) -> np.ndarray:
    """Return the mask of the values that are not NaN, if others are allowed.

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
    return ~missing


def import_pyarrow(path: Path) -> Any:
    """Return the module pyarrow.parquet.

    Raises
    ------
    ImportError : pyarrow is not installed; the message names the file and the remedy
    """
    try:
        import pyarrow.parquet
    except ImportError:
        raise ImportError(
            f"{path}: Parquet files need pyarrow, which is not installed. "
            "Remedy: pip install 'heterokit[io]', or use a CSV or NPY file"
        ) from None
    return pyarrow.parquet


def _text_table(text: TextFile, remark: str) -> Table:
    """Return the table of a text file, with a remark on where the text comes from."""
    layout = text.layout
    kinds = [
        "date" if are_dates(sample, name) else ("number" if has_numbers else "other")
        for name, sample, has_numbers in zip(
            layout.names, layout.samples, layout.has_numbers, strict=True
        )
    ]
    return Table(
        text.source,
        layout.names,
        kinds,
        text.numbers,
        lambda k: parse_dates(text.source, layout.names[k], text.texts(k)),
        ", ".join(filter(None, (remark, layout.describe()))),
    )


def _load(path: Path) -> Any:
    """Return the array, or the archive of arrays, in a file."""
    with path.open("rb") as file:
        magic = file.read(6)
    if magic[:2] != b"PK" and magic != b"\x93NUMPY":
        raise ValueError(f"{path}: this is no NumPy file")
    return np.load(path, allow_pickle=False)


def _array_table(path: Path, array: np.ndarray) -> Table:
    """Return the table of an array: its fields, or its columns."""
    if array.dtype.names:
        return _typed_table(path, {name: array[name] for name in array.dtype.names})
    if array.ndim not in (1, 2):
        raise ValueError(
            f"{path}: the array must have one or two dimensions, got shape {array.shape}"
        )
    columns = array.reshape(array.shape[0], -1)
    return _typed_table(path, {str(k + 1): columns[:, k] for k in range(columns.shape[1])})


def _typed_table(path: Path, arrays: dict[str, np.ndarray]) -> Table:
    """Return the table of arrays, whose types tell what they hold."""
    names, values = list(arrays), list(arrays.values())

    def read(indices: Sequence[int]) -> list[np.ndarray]:
        for k in indices:
            if values[k].dtype.kind not in "fiub" or values[k].ndim != 1:
                raise ValueError(
                    f"{path}: column {names[k]!r} holds {values[k].dtype}, not real numbers"
                )
        return [values[k].astype(float) for k in indices]

    kinds = ["number" if v.dtype.kind in "fiub" else "date" if v.dtype.kind == "M"
             else "other" for v in values]  # fmt: skip
    return Table(path, names, kinds, read, lambda k: values[k])


def _parquet_table(path: Path) -> Table:
    """Return the table of a Parquet file, of which only the columns that are asked for are read."""
    parquet = import_pyarrow(path)
    import pyarrow

    path.open("rb").close()  # a missing file has Python's message, not pyarrow's
    try:
        schema = parquet.read_schema(path)
    except pyarrow.ArrowInvalid as error:
        raise ValueError(f"{path}: this is no Parquet file: {error}") from None
    names, types = list(schema.names), pyarrow.types

    def read(indices: Sequence[int]) -> list[np.ndarray]:
        for k in indices:
            if not _is_number(types, schema.types[k]):
                raise ValueError(f"{path}: column {names[k]!r} holds {schema.types[k]}")
        table = parquet.read_table(path, columns=[names[k] for k in dict.fromkeys(indices)])
        return [table[names[k]].cast(pyarrow.float64()).to_numpy().copy() for k in indices]

    def read_dates(k: int) -> np.ndarray:
        values = parquet.read_table(path, columns=[names[k]]).column(0).to_pandas()
        return parse_dates(path, names[k], values)

    kinds = ["number" if _is_number(types, t) else "date" if types.is_temporal(t)
             or _holds_dates(parquet, path, names[k], t) else "other"
             for k, t in enumerate(schema.types)]  # fmt: skip
    return Table(path, names, kinds, read, read_dates)


def _is_number(types: Any, kind: Any) -> bool:
    """Return whether a type of pyarrow is one of numbers."""
    return types.is_floating(kind) or types.is_integer(kind) or types.is_decimal(kind)


def _holds_dates(parquet: Any, path: Path, name: str, kind: Any) -> bool:
    """Return whether a column of texts in a Parquet file holds dates."""
    if "string" not in str(kind):
        return False
    column = parquet.read_table(path, columns=[name]).column(0)
    return are_dates([str(v) for v in column[:_DATES_SEEN].to_pylist() if v is not None], name)
