"""The layout of text files of numbers: what separates columns, and how numbers are written."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from hetero.data_files.dates import HEADINGS

_MISSING_IN_EXCEL = frozenset(("#n/a", "#n/d", "#nv"))
MISSING = _MISSING_IN_EXCEL | frozenset(
    ("", "na", "n/a", "n.a.", "n/d", "nan", "null", "none", "-", "\u2013", ".")
)
"""Texts, in lower case, that stand for a missing value."""

WHITE_SPACE = " "
"""The delimiter that stands for any number of spaces and tabs."""

DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "space": WHITE_SPACE, "bar": "|"}
"""Delimiters by the names that the command line accepts."""

_CANDIDATES = (";", "\t", "|", ",")
"""Delimiters, tried in this order, because a comma may also be part of a number."""

_SPACES = "\u00a0\u202f '\u2019"
"""Marks between thousands that stand beside either decimal mark: spaces and apostrophes."""

_COMMENT = re.compile(r"(^|\s)#(?!N/[AD]|NV\b|[A-Z]{3,6}[!?]|DIV/0!).*")
"""Comments. Within a word, as in a heading, # is a character; Excel's errors begin with it."""

_WITH_COMMA = re.compile(r"[-+]?[\d.\u00a0\u202f ]*,\d[\d.,]*(e[-+]?\d+)?", re.IGNORECASE)
_TWO_NUMBERS = re.compile(
    r"\s*[-+\u2212]?\d+,\d+\s+[-+\u2212]?\d+,\d"
)  # decimal commas, then a space
_IN_BRACKETS = re.compile(r"\(\s*([^-+()\s][^()]*)\)")  # a negative number in accounts
_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+")


@dataclass(frozen=True)
class TextLayout:
    """Separators, header and columns with which a text file is read.

    Attributes
    ----------
    delimiter : str
        `WHITE_SPACE`, or one character.
    decimal : {".", ","}
    skipped : int
        Number of lines before the data: comments, and that of the headings.
    has_comments : bool
        Whether comments are among the first rows.
    names : list of str
        Headings, or the numbers of the columns.
    has_numbers : list of bool
        Whether the first rows have a number in a column.
    samples : list of lists of str
        The fields of each column in the first rows.
    missing : frozenset of str
        Texts, in lower case, that stand for a missing value.
    """

    delimiter: str
    decimal: str
    skipped: int
    has_comments: bool
    names: list[str]
    has_numbers: list[bool]
    samples: list[list[str]]
    missing: frozenset[str] = MISSING

    def parse(self, field: str) -> float | None:
        """Return a field's number, NaN if it is missing, and None if it is something else."""
        return parse_number(field, self.decimal, self.missing)

    def describe(self) -> str:
        """Return what was found out where it is not the usual, as a text; else an empty one."""
        names = {mark: name for name, mark in DELIMITERS.items()}
        parts = []
        if self.decimal == ",":
            parts.append("decimal commas")
        mark = "," if self.decimal == "." else "."

        def some_have(mark: str) -> bool:
            fields = (field for column in self.samples for field in column if mark in field)
            return any(_is_number(field, self.decimal, self.missing) for field in fields)

        if some_have(mark):
            parts.append(f"thousands marked by {mark!r}")
            if len(self.names) > 1:
                parts.append(f"columns separated by {names.get(self.delimiter, self.delimiter)}")
        if some_have("%"):
            parts.append("percentages as fractions")
        if some_have("("):
            parts.append("numbers in brackets as negative")
        return ", ".join(parts)


def content_lines(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield numbers and texts of the lines that are neither empty nor comments."""
    for number, line in enumerate(lines, 1):
        content = (_COMMENT.sub("", line) if "#" in line else line).rstrip("\r\n")
        if content.strip():
            yield number, content


def find_layout(
    source: str,
    raw: Sequence[str],
    delimiter: str | None,
    decimal: str | None,
    missing: Iterable[str] = (),
) -> TextLayout:
    """Return the layout of a file whose first lines are these.

    Parameters
    ----------
    source : str
        Name of the file, for errors.
    raw : sequence of str
    delimiter, decimal : str, optional
        What is known already.
    missing : iterable of str
        Further texts that stand for a missing value.

    Raises
    ------
    ValueError : there are no data, or the meaning of a comma cannot be told
    """
    missing_words = MISSING.union(text.strip().lower() for text in missing)
    lines = list(content_lines(raw))
    if not lines:
        raise ValueError(f"{source}: the file holds no data")
    has_comments = any(_COMMENT.search(line) for line in raw[lines[0][0] :])
    if delimiter is None:
        delimiter = _find_delimiter(source, lines)
    rows = [split_line(text, delimiter) for _, text in lines]
    if decimal is None:
        decimal = _find_decimal(source, lines, rows)
    kinds = [[_is_number(field, decimal, missing_words) for field in row] for row in rows[:2]]
    has_headings = _are_headings(rows, kinds, missing_words)
    if has_headings and len(rows) == 1:
        raise ValueError(f"{source}: the file holds headings, but no numbers")
    heads, data = (rows[0], rows[1:]) if has_headings else ([], rows)
    width = max(map(len, (rows[0], *data)))
    while width > 1 and not any(row[width - 1 : width] > [""] for row in (heads, *data)):
        width -= 1  # lines end with a delimiter
    names = [heads[k] if any(heads[k : k + 1]) else str(k + 1) for k in range(width)]
    samples = [[row[k] for row in data if k < len(row)] for k in range(width)]
    numbers = [
        any(_is_number(field, decimal, missing_words) for field in column) for column in samples
    ]
    skipped = lines[0][0] - (not has_headings)
    return TextLayout(
        delimiter, decimal, skipped, has_comments, names, numbers, samples, missing_words
    )


def split_line(line: str, delimiter: str) -> list[str]:
    """Return the fields of a line without their quotation marks and outer spaces."""
    if delimiter == WHITE_SPACE and '"' not in line:
        return line.split()
    row = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True))
    return [field.strip() for field in row]


def without_marks(text: str, decimal: str) -> str | None:
    """Return a number as Python writes it, or None if its thousands are marked wrongly."""
    other = "," if decimal == "." else "."
    for mark in (other, *_SPACES):
        if mark in text:
            whole, point, fraction = text.partition(decimal)
            pattern = rf"[-+]?\d{{1,3}}({re.escape(mark)}\d{{3}})+"
            if mark in fraction or not re.fullmatch(pattern, whole):
                return None
            text = whole.replace(mark, "") + point + fraction
    return text.replace(decimal, ".")


def parse_number(field: str, decimal: str, missing: frozenset[str] = MISSING) -> float | None:
    """Return a field's number, NaN if it is missing, and None if it is something else."""
    text = field.strip().strip('"').strip()
    if text.lower() in missing:
        return float("nan")
    plain = without_marks(_bare_number(text), decimal)
    try:
        number = None if plain is None or "_" in plain else float(plain)
    except ValueError:
        return None
    return number / 100.0 if number is not None and "%" in text else number


def _bare_number(text: str) -> str:
    """Return a number with an ASCII sign, which brackets stand for too, and without %."""
    if text[:1] == "(" and (inner := _IN_BRACKETS.fullmatch(text)):
        text = f"-{inner[1]}"
    return text.replace("\u2212", "-").removesuffix("%").rstrip()


def _is_number(field: str, decimal: str, missing: frozenset[str]) -> bool:
    """Return whether a field holds a number."""
    return field.lower() not in missing and parse_number(field, decimal, missing) is not None


def _find_delimiter(source: str, lines: Sequence[tuple[int, str]]) -> str:
    """Return what separates the columns: all lines have at most as many fields as the first."""
    widths = {}
    for delimiter in _CANDIDATES:
        if delimiter == "," and any(_TWO_NUMBERS.match(text) for _, text in lines):
            continue
        rows = (text.rstrip(delimiter + " ") for _, text in lines)
        counts = [len(split_line(row, delimiter)) if row else 1 for row in rows]
        if 1 < max(counts) <= counts[0]:
            return delimiter
        if counts[0] > 1:
            widths[delimiter] = counts
    for delimiter, counts in widths.items():
        k = next(k for k, count in enumerate(counts) if count > counts[0])
        raise ValueError(
            f"{source}, line {lines[k][0]} has {counts[k]} fields between {delimiter!r}, the first "
            f"line {counts[0]}. Remedy: numbers with commas in quotation marks, or --delimiter"
        )
    words = (text.replace(" %", "%").split() for _, text in lines[1:])
    is_one_column = len(lines) > 1 and all(len(line) == 1 for line in words)
    return "\t" if is_one_column else WHITE_SPACE


def _are_headings(
    rows: Sequence[list[str]], kinds: Sequence[list[bool]], missing: frozenset[str]
) -> bool:
    """Return whether the first row names the columns."""
    first = rows[0]
    if first[0].lower() in HEADINGS:
        return True
    if not any(kinds[0]):
        return any(field.lower() not in missing for field in first)
    below = kinds[1] if len(kinds) > 1 else []
    return any(
        is_below and not is_number and field.lower() not in missing
        for field, is_number, is_below in zip(first, kinds[0], below, strict=False)
    )


def _find_decimal(source: str, lines: Sequence[tuple[int, str]], rows: Sequence[list[str]]) -> str:
    """Return the decimal mark of the numbers in these rows."""
    votes: Counter[str] = Counter()
    unclear: tuple[int, str] | None = None
    for (number, _), row in zip(lines, rows, strict=True):
        for field in map(_bare_number, row):
            if field.count(".") > 1 and re.fullmatch(r"[-+]?\d{1,3}(\.\d{3})+(,\d*)?", field):
                votes[","] += 1
            elif not _WITH_COMMA.fullmatch(field):
                continue
            elif "." in field:
                votes["," if field.rindex(",") > field.rindex(".") else "."] += 1
            elif field.count(",") > 1:
                votes["."] += 1
            elif _THOUSANDS.fullmatch(field):
                unclear = unclear or (number, field)
            else:
                votes[","] += 1
    if len(votes) == 1:
        return next(iter(votes))
    if unclear is None and not votes:
        return "."
    location = f"line {unclear[0]}: {unclear[1]!r}" if unclear else "commas and points"
    raise ValueError(
        f"{source}, {location} may have a decimal comma or a mark between thousands. "
        "Remedy: --decimal , or --decimal ."
    )
