"""Rounding is correct, and wrong functions are detected."""

import math
import random
from fractions import Fraction

import pytest

from tmd import library_check as checking
from tmd.functions import NAMES, load_function


@pytest.mark.parametrize("name", NAMES)
def test_correct_values_are_close_to_those_of_python(name):
    rng = random.Random(1)
    f = load_function(name)
    for _ in range(50):
        x = rng.uniform(1.5, 2.5)
        y = checking.round_correctly(f, x)
        assert abs(y - getattr(math, name)(x)) <= math.ulp(y)


def test_a_wrong_function_is_detected(monkeypatch):
    right = {"all right": lambda name: lambda x: checking.round_correctly(load_function(name), x)}
    off = {"one ulp off": lambda name: lambda x: math.nextafter(right["all right"](name)(x), 9)}
    none = {"without it": lambda name: None}
    monkeypatch.setattr(checking, "load_libraries", lambda paths: right | off | none)
    scores = checking.check_libraries("sin", [0.5, 1.0, 1.5])
    assert [(s.library, s.tried, len(s.wrong)) for s in scores] == [
        ("all right", 3, 0),
        ("one ulp off", 3, 3),
    ]
    x, returned, y = scores[1].wrong[0]
    assert Fraction(returned) > Fraction(y)
    assert x == 0.5
    assert repr(scores[1]) == "LibraryScore(one ulp off: 3 of 3 wrong)"
    assert scores[1]._repr_html_().count("<tr>") == 4
    assert repr(load_function("sin")) == "Function('sin')"


def test_overflow_underflow_and_ties():
    exp, exp2 = load_function("exp"), load_function("exp2")
    assert checking.round_correctly(exp, 710.0) == math.inf
    assert checking.round_correctly(exp, -800.0) == 0.0
    assert checking.round_correctly(exp2, -1075.0) == 0.0  # halfway to the smallest number: to even
    assert checking.round_correctly(exp2, -1074.0) == 5e-324
    for score in checking.check_libraries("exp", [710.0, -800.0, 0.0]):
        assert not score.wrong


@pytest.mark.parametrize("x", [-1.0, 0.0])
def test_arguments_without_a_value_are_refused(x):
    with pytest.raises(ValueError, match="arguments: log has no value at"):
        checking.check_libraries("log", [x])


def test_arguments_are_finite_numbers():
    with pytest.raises(ValueError, match="arguments must be finite"):
        checking.check_libraries("exp", [math.nan])
