"""Checks name the argument, the value and the allowed range."""

import pickle
from fractions import Fraction

import numpy as np
import pytest

from hetero import errors, validation


def test_real():
    assert validation.check_finite("a", np.float32(1.5)) == 1.5
    assert validation.check_finite("a", np.array(2)) == 2.0
    for bad in ("1", None, 1j, [1.0], np.ones(1), True, np.True_, np.str_("1"), np.array("1")):
        with pytest.raises(TypeError, match="a must be a real number"):
            validation.check_finite("a", bad)
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match="a must be finite"):
            validation.check_finite("a", bad)


def test_within():
    assert validation.check_in_range("a", 0, 0, 1) == 0.0
    with pytest.raises(ValueError, match=r"a must lie in \(0, 1\], got 0"):
        validation.check_in_range("a", 0, 0, 1, closed="right")
    with pytest.raises(ValueError, match=r"a must lie in \[0, 1\), got 1"):
        validation.check_in_range("a", 1, 0, 1, closed="left")


def test_shape():
    assert validation.check_shape("n", None) == ()
    assert validation.check_shape("n", 3) == (3,)
    assert validation.check_shape("n", (2, np.int64(3))) == (2, 3)
    for bad in (-1, (2, -3), 1.5):
        with pytest.raises(ValueError, match="n must hold"):
            validation.check_shape("n", bad)
    for bad in (object(), np.inf, (2, np.nan)):
        with pytest.raises(TypeError, match="n must be"):
            validation.check_shape("n", bad)


def test_whole():
    for good in (3, 3.0, np.int8(3), np.float32(3), np.array(3)):
        assert validation.check_integer("n", good) == 3
        assert type(validation.check_integer("n", good)) is int
    for bad in (2.5, "3", None, True, np.True_, np.nan, np.inf, np.array([3]), 3 + 0j):
        with pytest.raises(TypeError, match="n must be an integer"):
            validation.check_integer("n", bad)
    with pytest.raises(ValueError, match="n must be an integer >= 4, got 3"):
        validation.check_integer("n", 3, 4)


def test_exhausted_memory_says_what_is_needed_and_what_there_is():
    error = errors.DeviceMemoryError("cuda:0", 3 * 2**40, 5 * 2**30, 80 * 2**30)
    assert isinstance(error, MemoryError)
    assert "cuda:0 needs 3 TiB more, has 5 GiB free of 80 GiB. Remedy: " in str(error)
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error)
    assert "needs more memory than there is" in str(errors.DeviceMemoryError("cuda:1", None, 0, 1))


def test_bytes_are_written_without_exponents():
    texts = {0: "0 bytes", 1000: "1000 bytes", 1536: "1.5 KiB", 1000 * 2**20: "1000 MiB"}
    for count, text in texts.items():
        assert errors.format_bytes(count) == text


def test_masked_numbers_are_no_zeros():
    for masked in (np.ma.masked, np.ma.masked_array(0.5, mask=True)):
        for check in (
            validation.check_finite,
            validation.check_integer,
            validation.check_shape,
            validation.check_positive,
        ):
            with pytest.raises(ValueError, match=r"^a must not be masked"):
                check("a", masked)


def test_integers_of_any_length():
    for huge in (10**400, 10**5000, Fraction(10**400, 3)):
        for check in (validation.check_finite, validation.check_integer, validation.check_shape):
            with pytest.raises((TypeError, ValueError), match=r"^a must"):
                check("a", huge) if check is not validation.check_integer else check(
                    "a", huge, 0, 10
                )


def test_choices_are_text():
    for bad in (np.array(["x", "y"]), ["x"], {}, None, 1, b"x"):
        with pytest.raises(ValueError, match="a must be one of 'x', 'y', got"):
            validation.check_choice("a", bad, ("x", "y"))


def test_text_and_sets_are_no_shapes():
    for bad in ("12", b"a", {1, 2}, {"a": 1}, [None], [[1], [2]]):
        with pytest.raises(TypeError, match="n must be an int or a tuple"):
            validation.check_shape("n", bad)
    for large in (2**63, (2**40, 2**40), (1,) * 65):
        with pytest.raises(ValueError, match="n must have at most 64 dimensions"):
            validation.check_shape("n", large)


def test_dtypes():
    options = ("float64", "float32")
    assert validation.check_dtype("dtype", float, options) == np.float64
    assert validation.check_dtype("dtype", ">f4", options) == np.float32
    for bad in (None, "a", 1, "i4", [("a", float)], {"a": 1}, np.ones(2), "(2"):
        with pytest.raises(ValueError, match="dtype must be one of 'float64', 'float32'"):
            validation.check_dtype("dtype", bad, options)


def test_paths():
    for bad in ("", "a\0b"):
        with pytest.raises(ValueError, match="path must be the path of a file"):
            validation.check_path("path", bad)
    for bad in (None, b"a", 1, ["a"]):
        with pytest.raises(TypeError, match="path must be a path"):
            validation.check_path("path", bad)
