"""Values that nobody should pass, and some that look odd but are valid."""

from __future__ import annotations

import datetime
import decimal
import fractions
from collections.abc import Callable
from typing import Any

import numpy as np


class _Unhelpful:
    """An object of which every conversion to a number fails in a way of its own."""

    def __repr__(self) -> str:
        return "<unhelpful>"

    def __float__(self) -> float:
        raise RuntimeError("no float")

    def __int__(self) -> int:
        raise RuntimeError("no int")


def _read_only() -> np.ndarray:
    array = np.array([0.25, 0.5, 0.75])
    array.flags.writeable = False
    return array


def _masked(*values: float) -> np.ma.MaskedArray:
    return np.ma.masked_array(np.array(values), mask=[k == 0 for k in range(len(values))])


NONSENSE: dict[str, Callable[[], Any]] = {
    "object": object, "unhelpful object": _Unhelpful, "complex number": lambda: 0.5 + 1j,
    "complex array": lambda: np.array([0.5 + 1j, 0.5]), "bytes": lambda: b"a",
    "masked element": lambda: np.ma.masked, "masked array": lambda: _masked(0.25, 0.5, 0.75),
    "masked scalar": lambda: np.ma.masked_array(0.5, mask=True),
    "list with a masked element": lambda: [np.ma.masked, 0.5],
    "ragged list": lambda: [[1.0], [1.0, 2.0]], "list of None": lambda: [None],
    "list of strings": lambda: ["a", "b"], "list of objects": lambda: [object()],
    "array of objects": lambda: np.array([object(), None], object),
    "array of huge integers": lambda: np.array([10**400], object),
    "array of strings": lambda: np.array(["a", "b"]),
    "array of dates": lambda: np.array(["2020-01-01"], "M8[D]"),
    "date": lambda: datetime.datetime(2020, 1, 1), "duration": lambda: np.timedelta64(1, "s"),
    "record array": lambda: np.zeros(2, [("a", float), ("b", int)]), "type": lambda: float,
    "set": lambda: {0.5, 0.25}, "ellipsis": lambda: ..., "slice": lambda: slice(1, 2),
}  # fmt: skip
"""Values that no argument takes, unless its own list of exceptions says so."""

UNUSUAL: dict[str, Callable[[], Any]] = {
    "None": lambda: None, "True": lambda: True, "text": lambda: "a", "empty text": lambda: "",
    "text with a null": lambda: "a\0b", "NaN": lambda: float("nan"),
    "infinity": lambda: float("inf"), "minus infinity": lambda: float("-inf"), "0": lambda: 0,
    "-1": lambda: -1, "-0.0": lambda: -0.0, "0.5": lambda: 0.5, "1.5": lambda: 1.5,
    "smallest float": lambda: 5e-324, "tiny float": lambda: 1e-300,
    "largest float": lambda: 1.7e308, "2^31": lambda: 2**31, "2^63": lambda: 2**63,
    "2^64": lambda: 2**64, "-2^63": lambda: -(2**63), "10^400": lambda: 10**400,
    "fraction": lambda: fractions.Fraction(1, 3),
    "huge fraction": lambda: fractions.Fraction(10**400, 3),
    "decimal": lambda: decimal.Decimal("0.5"), "decimal NaN": lambda: decimal.Decimal("nan"),
    "NumPy NaN": lambda: np.float64("nan"), "float16": lambda: np.float16(0.5),
    "longdouble": lambda: np.longdouble("0.5"), "int8": lambda: np.int8(1), "empty list": list,
    "empty dictionary": dict, "dictionary": lambda: {"a": 1}, "empty array": lambda: np.empty(0),
    "0-d array": lambda: np.array(0.5), "0-d integer array": lambda: np.array(2),
    "array of one element": lambda: np.array([0.5]), "array": lambda: np.array([0.25, 0.5, 0.75]),
    "array with NaN": lambda: np.array([0.25, np.nan, np.inf]),
    "integer array": lambda: np.array([1, 2, 3]), "boolean array": lambda: np.array([True, False]),
    "wrong shape": lambda: np.ones((2, 3, 5)), "7 dimensions": lambda: np.ones((1,) * 7),
    "read-only array": _read_only, "strided array": lambda: np.linspace(0.1, 0.9, 9)[::-3],
    "big-endian array": lambda: np.array([0.25, 0.5], ">f8"),
    "long double array": lambda: np.array([0.25, 0.5], np.longdouble),
    "half-precision array": lambda: np.array([0.25, 0.5], np.float16),
    "list of infinity": lambda: [float("inf"), 1.0], "list of huge integers": lambda: [10**400, 1],
    "tuple of negative integers": lambda: (-1, 3), "tuple of huge integers": lambda: (2**63, 2**64),
    "tuple of NaN": lambda: (float("nan"), float("nan")), "triple": lambda: (1, 2, 3),
    "generator": lambda: (k for k in (1, 2)), "range": lambda: range(3),
    "function": lambda: lambda *_: None, "function that fails": lambda: _fail,
}  # fmt: skip
"""Values that some arguments take and others do not."""

ODD_VALUES = NONSENSE | UNUSUAL

FUNCTIONS = ("type", "function", "function that fails")
"""Those that can be called."""


def _fail(*_arguments: object, **_keywords: object) -> None:
    raise ValueError("the function that fails")
