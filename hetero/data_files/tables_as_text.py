"""JSON arrays and sheets of Excel as CSV, so that one reader finds out what their columns hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TextIO


def json_as_csv(source: object, file: TextIO) -> str:
    """Return the rows of a JSON array of numbers, lists or objects, or of an object of lists.

    Raises
    ------
    ValueError : the text is no JSON, or has no columns
    """
    import pandas

    try:
        values = json.load(file)
        is_headed = isinstance(values, dict) or any(isinstance(row, dict) for row in values)
        return _as_csv(pandas.DataFrame(values), is_headed)
    except (ValueError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{source}: this is no JSON array of numbers, lists or objects: {error}"
        ) from None


def sheet_as_csv(path: Path) -> tuple[str, str]:
    """Return the first sheet of an .xlsx file, and a remark on what was left out.

    Raises
    ------
    ValueError : the file is no workbook
    ImportError : openpyxl is not installed
    """
    import pandas

    require_openpyxl(path)
    path.open("rb").close()  # a missing file has Python's message, not openpyxl's
    try:
        with pandas.ExcelFile(path, engine="openpyxl") as book:
            names = book.sheet_names
            frame = pandas.read_excel(
                book, header=None, dtype=object, keep_default_na=False, na_values=[""]
            )
    except Exception as error:  # of zipfile, openpyxl and pandas
        raise ValueError(f"{path}: this is no .xlsx workbook: {error}") from None
    remark = f"sheet {names[0]!r}, the first of {len(names)}" if len(names) > 1 else ""
    begin = int(frame.notna().any(axis=1).to_numpy().argmax()) if len(frame) else 0
    return _as_csv(frame[begin:].dropna(axis=1, how="all"), False), remark


def require_openpyxl(path: Path) -> None:
    """Raise ImportError, which names the file and the remedy, if openpyxl is not installed."""
    try:
        import openpyxl  # noqa: F401
    except ImportError:
        raise ImportError(
            f"{path}: .xlsx files need openpyxl, which is not installed. "
            "Remedy: pip install 'heterokit[excel]', or use a CSV file"
        ) from None


def _as_csv(frame: Any, is_headed: bool) -> str:
    """Return a frame as CSV whose lines are its rows; an empty cell alone in a row is NA."""
    frame = frame.map(lambda cell: " ".join(cell.split()) if isinstance(cell, str) else cell)
    of_missing = "NA" if frame.shape[1] == 1 else ""
    return frame.to_csv(index=False, header=is_headed, na_rep=of_missing, lineterminator="\n")
