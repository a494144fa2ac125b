"""Columns of dates: how they are written, and the order of their rows."""

from __future__ import annotations

from typing import Any

import numpy as np

_FORMATS = ("ISO8601", "%Y%m%d", "%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y",
            "%m-%d-%Y", "%d.%m.%y", "%m/%d/%y", "%d/%m/%y", "%d-%b-%Y", "%d %b %Y", "%b %d, %Y",
            "%b %d %Y", "%d %B %Y", "%B %d, %Y", "%B %d %Y",
            "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M",
            "%m/%d/%Y %H:%M:%S", "%d/%m/%Y %H:%M:%S", "%Y/%m/%d %H:%M:%S")  # fmt: skip
"""Formats of dates that are recognized; an ISO date may have a time behind it."""

HEADINGS = frozenset(("date", "dates", "day", "time", "timestamp", "datetime", "datum", "fecha"))
"""Headings, in lower case, of columns of dates that are written as eight digits."""


_MANY = 10


def are_dates(texts: list[str], heading: str) -> bool:
    """Return whether all of these texts, at least one, are dates.

    The last one need not be, if there are many: `parse_dates` refuses a row such as that of totals.
    """
    texts = [text for text in texts if text]
    if not texts:
        return False
    if all(text.isdecimal() for text in texts):
        return heading.lower() in HEADINGS and all(len(text) == 8 for text in texts)
    if not any(len(text) >= 6 for text in texts):
        return False
    return bool(_readings(texts) or (len(texts) >= _MANY and _readings(texts[:-1])))


def parse_dates(source: object, name: str, texts: Any) -> np.ndarray:
    """Return dates as datetime64; of two readings of the texts, that in which they are in order.

    Raises
    ------
    ValueError : the texts are no dates, or could be read in two ways
    """
    readings = _readings(texts)
    if not readings:
        raise ValueError(
            f"{source}: column {name!r} holds something else than dates. Remedy: leave rows such "
            "as those of totals out"
        )
    if len(readings) > 1:
        readings = [dates for dates in readings if order_of(dates) is not None] or readings
    if any((dates != readings[0]).any() for dates in readings[1:]):
        raise ValueError(
            f"{source}: day and month in column {name!r} cannot be told apart. "
            "Remedy: write dates as 2026-12-31"
        )
    return readings[0]


def order_of(dates: np.ndarray) -> int | None:
    """Return 1 for dates or numbers that ascend, -1 if they descend, and None in neither order."""
    if (dates[1:] >= dates[:-1]).all():
        return 1
    return -1 if (dates[1:] <= dates[:-1]).all() else None


def sort_by_date(source: object, dates: np.ndarray) -> np.ndarray:
    """Return the order in which the rows are from the oldest to the newest.

    Raises
    ------
    ValueError : rows of one date are in no order
    """
    order = order_of(dates)
    if order is not None:
        return np.arange(dates.size)[::order]
    rows = np.argsort(dates, kind="stable")
    same = np.flatnonzero(np.diff(dates[rows]).astype(np.int64) == 0)
    if same.size:
        raise ValueError(
            f"{source}: the dates are in no order, and {dates[rows[same[0]]]} occurs more than "
            "once. Remedy: leave the rows of one series, one for each date"
        )
    return rows


def _readings(texts: Any) -> list[np.ndarray]:
    """Return the dates by each of the formats that all texts have."""
    import pandas

    readings = []
    for form in _FORMATS:
        try:
            dates = pandas.to_datetime(texts, format=form, utc=True)
        except (ValueError, TypeError):
            continue
        values = np.asarray(pandas.Series(dates).dt.tz_localize(None))
        if not np.isnat(values).any():
            readings.append(values)
    return readings
