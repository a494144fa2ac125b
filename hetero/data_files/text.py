"""Text files of numbers: CSV, and columns separated by semicolons, tabs or spaces."""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import numpy as np

MISSING = frozenset(("", "na", "n/a", "nan", "null", "none", "-", "."))
"""Texts, in lower case, that stand for a missing value."""

_DELIMITERS = (";", "\t", ",")
"""Tried in this order, because a comma may also be part of a number."""


@dataclass(frozen=True)
class TextFile:
    """A text file with columns.

    Attributes
    ----------
    source : str
        Path, or ``-`` for the standard input.
    text : str or None
        What the standard input held; None for a file, which is read again for each column.
    delimiter : str or None
        None for white space.
    header : int
        Number of the line that holds the headings, from 1; 0 if there are none.
    names : list of str
        Headings, or the numbers of the columns.
    is_numeric : list of bool
        Whether the first row of data has a number, or nothing, in this column.
    """

    source: str
    text: str | None
    delimiter: str | None
    header: int
    names: list[str]
    is_numeric: list[bool]

    @classmethod
    def opened(cls, source: str) -> TextFile:
        """Read the first lines of a file, and find out what separates its columns."""
        text = sys.stdin.read() if source == "-" else None
        try:
            with _stream(source, text) as file:
                first = list(itertools.islice(_lines(file), 2))
        except UnicodeDecodeError:
            raise ValueError(
                f"{source}: this is no text file; CSV, Parquet, NPY and NPZ files can be read"
            ) from None
        if not first:
            raise ValueError(f"{source}: the file holds no data")
        _, line = first[-1]
        delimiter = next((d for d in _DELIMITERS if d in line), None)
        head, sample = (_fields(line, delimiter) for _, line in (first[0], first[-1]))
        has_headings = all(_number(field) is None or _is_missing(field) for field in head)
        if has_headings and len(first) == 1:
            raise ValueError(f"{source}: the file holds headings, but no numbers")
        header = first[0][0] if has_headings else 0
        names = head if header else [str(k + 1) for k in range(len(head))]
        numeric = [_number(field) is not None for field in sample]
        numeric += [False] * (len(names) - len(numeric))
        return cls(source, text, delimiter, header, names, numeric)

    def column(self, index: int) -> np.ndarray:
        """Return the numbers of a column; NaN for missing ones.

        Raises
        ------
        ValueError : a field is neither a number nor empty; the message names line and column
        """
        with contextlib.suppress(ValueError), _stream(self.source, self.text) as file:
            return np.loadtxt(
                file,
                delimiter=self.delimiter,
                skiprows=self.header,
                usecols=index,
                quotechar='"',
                ndmin=1,
            )
        # NumPy reads no empty fields, and does not say which field is wrong.
        values = []
        with _stream(self.source, self.text) as file:
            for number, line in _lines(file):
                if number <= self.header:
                    continue
                fields = _fields(line, self.delimiter)
                value = _number(fields[index]) if index < len(fields) else np.nan
                if value is None:
                    raise ValueError(
                        f"{self.source}, line {number}: {fields[index]!r} in column "
                        f"{self.names[index]!r} is not a number"
                    )
                values.append(value)
        return np.array(values, float)


def _stream(source: str, text: str | None) -> TextIO:
    """Return a new stream over the text; a byte order mark is ignored."""
    if text is not None:
        return io.StringIO(text)
    return Path(source).open(encoding="utf-8-sig")


def _lines(file: TextIO) -> Iterator[tuple[int, str]]:
    """Yield numbers and texts of the lines that are neither empty nor comments."""
    for number, line in enumerate(file, 1):
        content = line.partition("#")[0].strip("\r\n ")
        if content.strip():
            yield number, content


def _fields(line: str, delimiter: str | None) -> list[str]:
    """Return the fields of a line without their quotation marks and outer spaces."""
    if '"' in line:
        row = next(csv.reader([line], delimiter=delimiter or " ", skipinitialspace=True))
        return [field.strip() for field in row]
    return [field.strip() for field in line.split(delimiter)]


def _is_missing(field: str) -> bool:
    """Return whether a field stands for a missing value."""
    return field.lower() in MISSING


def _number(field: str) -> float | None:
    """Return a field's number, NaN if it is missing, and None if it is something else."""
    try:
        return float(field)
    except ValueError:
        return np.nan if _is_missing(field) else None
