"""Text files of numbers, which pandas reads: CSV, and columns separated by other characters."""

from __future__ import annotations

import bz2
import gzip
import io
import itertools
import lzma
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from hetero.data_files.tables_as_text import json_as_csv
from hetero.data_files.text_layout import (
    WHITE_SPACE,
    TextLayout,
    content_lines,
    find_layout,
    parse_number,
)

_LINES_SEEN = 200
"""Lines that tell the layout of a file."""

_OPEN: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
"""Functions that open compressed files, by suffix."""

_NO_TEXT = (
    "this is no text file; CSV (also .gz, .bz2, .xz), JSON, .xlsx, Parquet, NPY and NPZ files can "
    "be read"
)

_JSON = re.compile(r"""\s*(\[\s*([\[{"\d-]|null)|\{\s*")""")
_AT2 = re.compile(r"\bNPTS\s*=\s*\d|\d\s+NPTS,\s*DT")  # the fourth line of a .AT2 file
_NO_COLUMNS = (
    "this is a record of a ground motion (PEER, .AT2), whose lines continue each other: it has no "
    "columns. Remedy: rode.read_record reads it"
)


@dataclass(frozen=True)
class TextFile:
    """A text file with columns.

    Attributes
    ----------
    source : str
        Path, or ``-`` for the standard input.
    text : str or None
        What a stream held, which cannot be read twice; None for a file.
    encoding : str
    layout : TextLayout
    """

    source: str
    text: str | None
    encoding: str
    layout: TextLayout

    @classmethod
    def opened(
        cls,
        source: str,
        delimiter: str | None,
        decimal: str | None,
        missing: Iterable[str] = (),
        text: str | None = None,
    ) -> TextFile:
        """Read the first lines of a file, or of `text` in its place, and find out its layout.

        JSON is rewritten as CSV.

        Raises
        ------
        ValueError : the file is no text, or its layout cannot be told
        """
        if text is not None:
            pass
        elif source == "-":
            text = sys.stdin.read().removeprefix("\ufeff")
        elif Path(source).exists() and not Path(source).is_file():
            text = Path(source).read_text(encoding="utf-8-sig")
        try:
            encoding = "utf-8" if text is not None else _find_encoding(source)
            with _stream(source, text, encoding) as file:
                first = _first_lines(file)
        except (UnicodeError, EOFError, gzip.BadGzipFile, lzma.LZMAError):
            raise ValueError(f"{source}: {_NO_TEXT}") from None
        if any("\0" in line for line in first):
            raise ValueError(f"{source}: {_NO_TEXT}")
        if _AT2.search("".join(first[:4])):
            raise ValueError(f"{source}: {_NO_COLUMNS}")
        if _JSON.match("".join(first)):
            with _stream(source, text, encoding) as file:
                text, encoding = json_as_csv(source, file), "utf-8"
            first, delimiter = text.splitlines(keepends=True)[:_LINES_SEEN], ","
        return cls(source, text, encoding, find_layout(source, first, delimiter, decimal, missing))

    def numbers(self, indices: Sequence[int]) -> list[np.ndarray]:
        """Return the numbers of columns as float64, in one pass; NaN for missing ones.

        Raises
        ------
        ValueError : a field is neither a number nor empty; the message names line and column
        """
        table = self._read(indices)
        odd = [k for k in dict.fromkeys(indices) if table[k].dtype.kind not in "fiu"]
        texts = self._read(odd, dtype=str) if odd else table
        columns = {k: self._parse(k, texts[k]) for k in odd}
        return [
            columns[k] if k in columns else table[k].to_numpy(float, copy=False) for k in indices
        ]

    def texts(self, index: int) -> Any:
        """Return the texts of a column, a pandas Series."""
        return self._read([index], dtype=str)[index]

    def _parse(self, index: int, texts: Any) -> np.ndarray:
        """Return the numbers in texts that are not all plain numbers."""
        values = np.full(len(texts), np.nan)
        with_and_without: dict[bool, int] = {}  # a first row with %, and one without
        for row, field in enumerate(texts.fillna("")):
            value = self.layout.parse(field)
            if value and value == value:
                with_and_without.setdefault("%" in field, row)
            if value is None:
                raise ValueError(
                    f"{self.source}, line {self._line(row)}: {field!r} in column "
                    f"{self.layout.names[index]!r} is not a number{self._remedy(field)}"
                )
            values[row] = value
        if len(with_and_without) == 2:
            lines = " and ".join(str(self._line(row)) for row in with_and_without.values())
            raise ValueError(
                f"{self.source}: column {self.layout.names[index]!r} holds percentages and numbers "
                f"without % (lines {lines}). Remedy: write all of them in one way"
            )
        return values

    def _remedy(self, field: str) -> str:
        """Return what the user may do about a field with another decimal mark."""
        other = "," if self.layout.decimal == "." else "."
        if parse_number(field, other) is None:
            return f". Remedy: --missing {field!r} if it stands for a missing value"
        return f" with the decimal mark {self.layout.decimal!r}. Remedy: --decimal {other}"

    def _line(self, row: int) -> int:
        """Return the number of the line that holds a row of the data."""
        with _stream(self.source, self.text, self.encoding) as file:
            lines = (n for n, _ in content_lines(file) if n > self.layout.skipped)
            return next(itertools.islice(lines, row, None), 0)

    def _read(self, indices: Sequence[int], **settings: Any) -> Any:
        """Return a pandas DataFrame of these columns, and check that no line has more columns."""
        import pandas

        layout = self.layout
        width = len(layout.names)
        try:
            with _stream(self.source, self.text, self.encoding) as file:
                for _ in range(layout.skipped):
                    file.readline()
                if layout.has_comments:  # pandas would take Excel's #N/A for one
                    file = io.StringIO("".join(f"{line}\n" for _, line in content_lines(file)))
                table = pandas.read_csv(
                    _Prefixed(layout.delimiter.join("0" * (width + 1)) + "\n", file),
                    sep=r"\s+" if layout.delimiter == WHITE_SPACE else layout.delimiter,
                    decimal=layout.decimal,
                    header=None,
                    usecols=[*dict.fromkeys(indices), width],
                    na_values=[form for text in layout.missing for form in (text, text.upper())]
                    + ["NaN"],
                    keep_default_na=False,
                    skipinitialspace=True,
                    **({} if _rounds_correctly(pandas.__version__) else _ROUND_TRIP),
                    **settings,
                )[1:]
        except (EOFError, gzip.BadGzipFile, lzma.LZMAError, pandas.errors.ParserError) as error:
            raise ValueError(f"{self.source}: {error}") from None
        beyond = table[width].notna().to_numpy()
        if beyond.any():
            raise ValueError(
                f"{self.source}, line {self._line(int(np.argmax(beyond)))} has more than {width} "
                "fields. Remedy: numbers with commas in quotation marks, or --delimiter"
            )
        return table


class _Prefixed:
    """A stream behind a first line, from which pandas takes the number of columns.

    That line has one more than the others: pandas would cut longer lines without a word.
    """

    def __init__(self, line: str, file: TextIO) -> None:
        self._line, self._file = line, file

    def read(self, size: int = -1) -> str:
        """Return the next characters: the first line, and then what is in the file."""
        line, self._line = self._line, ""
        return line or self._file.read(size)

    __iter__ = None  # pandas asks whether there is one


_ROUND_TRIP = {"float_precision": "round_trip"}  # deprecated since it is what pandas does


def _rounds_correctly(version: str) -> bool:
    """Return whether this version of pandas reads the nearest floats by itself."""
    return tuple(int(part) for part in version.split(".")[:2]) >= (3, 1)


def _find_encoding(source: str) -> str:
    """Return the encoding of a file: Unicode, or that of Windows in Western Europe."""
    with _OPEN.get(Path(source).suffix.lower(), open)(source, "rb") as file:
        head = file.read(1 << 16)
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    try:
        head[: head.rfind(b"\n") + 1 or None].decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8-sig"


def _first_lines(file: TextIO) -> list[str]:
    """Return the first lines of a file, comments included, `_LINES_SEEN` of them with content."""
    lines: list[str] = []
    content = 0
    while content < _LINES_SEEN and (line := file.readline()):
        lines.append(line)
        content += sum(1 for _ in content_lines([line]))
    return lines


def _stream(source: str, text: str | None, encoding: str) -> TextIO:
    """Return a new stream over the text; a byte order mark is ignored."""
    if text is not None:
        return io.StringIO(text)
    return _OPEN.get(Path(source).suffix.lower(), open)(
        source, "rt", encoding=encoding, errors="replace" if encoding != "utf-16" else "strict"
    )
