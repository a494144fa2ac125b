"""Checks name the argument, the value and the allowed range."""

import pickle
from fractions import Fraction

import numpy as np
import pytest

from hetero import errors
from hetero.validation import (
    check_choice,
    check_dtype,
    check_finite,
    check_in_range,
    check_integer,
    check_path,
    check_shape,
)

DTYPES = ("float64", "float32")
HUGE = (10**400, 10**5000, Fraction(10**400, 3))
MASKED = (np.ma.masked, np.ma.masked_array(0.5, mask=True))
NUMBERS = (check_finite, check_integer, check_shape)


@pytest.mark.parametrize(("check", "arguments", "expected"), [
    (check_finite, (np.array(2),), 2.0), (check_in_range, (0, 0, 1), 0.0),
    (check_shape, (3,), (3,)), (check_shape, ((2, np.int64(3)),), (2, 3)),
    *((check_integer, (good,), 3) for good in (3, 3.0, np.int8(3), np.float32(3), np.array(3))),
    (check_dtype, (">f4", DTYPES), np.dtype("float32")),
])  # fmt: skip
def test_values_are_converted(check, arguments, expected):
    value = check("a", *arguments)
    assert value == expected
    assert type(value) is type(expected)


@pytest.mark.parametrize(("check", "values", "others", "error", "message"), [
    (check_finite, ("1", None, 1j, [1.0], np.True_), (), TypeError, "must be a real number"),
    (check_finite, (np.nan, np.inf), (), ValueError, "must be finite"),
    (check_shape, (-1, (2, -3), 1.5), (), ValueError, "must hold"),
    (check_shape, ("12", b"a", {1, 2}, [None]), (), TypeError, "must be an int or a tuple"),
    (check_shape, (2**63, (2**40, 2**40), (1,) * 65), (), ValueError, "must have at most 64"),
    (check_integer, (2.5, "3", None, True, np.nan, 3j), (), TypeError, "must be an integer"),
    (check_integer, (3,), (4,), ValueError, "must be an integer >= 4, got 3"),
    (check_integer, HUGE, (0, 10), (TypeError, ValueError), "must"),
    *((check, MASKED, (), ValueError, "must not be masked") for check in NUMBERS),
    (check_choice, (np.array(["x"]), ["x"], None), (("x", "y"),), ValueError, "must be one of"),
    (check_dtype, (None, "a", 1, "i4", "(2"), (DTYPES,), ValueError, "must be one of 'float64'"),
    (check_path, ("", "a\0b"), (), ValueError, "must be the path of a file"),
    (check_path, (None, b"a", 1, ["a"]), (), TypeError, "must be a path"),
])  # fmt: skip
def test_values_are_refused_by_name(check, values, others, error, message):
    for value in values:
        with pytest.raises(error, match=f"^a {message}"):
            check("a", value, *others)


@pytest.mark.parametrize(("value", "closed", "message"), [
    (0, "right", r"a must lie in \(0, 1\], got 0"), (1, "left", r"a must lie in \[0, 1\), got 1"),
])  # fmt: skip
def test_ends_of_ranges(value, closed, message):
    with pytest.raises(ValueError, match=message):
        check_in_range("a", value, 0, 1, closed=closed)


def test_exhausted_memory_says_what_is_needed_and_what_there_is():
    error = errors.DeviceMemoryError("cuda:0", 3 * 2**40, 5 * 2**30, 80 * 2**30)
    assert isinstance(error, MemoryError)
    assert "cuda:0 needs 3 TiB more, has 5 GiB free of 80 GiB. Remedy: " in str(error)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert "needs more memory than there is" in str(errors.DeviceMemoryError("cuda:1", None, 0, 1))
    texts = {0: "0 bytes", 1000: "1000 bytes", 1536: "1.5 KiB", 1000 * 2**20: "1000 MiB"}
    assert {count: errors.format_bytes(count) for count in texts} == texts
