"""Correct rounding is what it says, and wrong functions are found out."""

import math
import random
from fractions import Fraction

import pytest

from tmd import check as checking
from tmd.functions import NAMES, function


@pytest.mark.parametrize("name", NAMES)
def test_correct_values_are_next_to_those_of_the_library(name):
    rng = random.Random(1)
    f = function(name)
    for _ in range(50):
        x = rng.uniform(1.5, 2.5)
        y = checking.correct(f, x)
        assert abs(y - getattr(math, name)(x)) <= math.ulp(y)


def test_a_wrong_function_is_found(monkeypatch):
    right = {"all right": lambda name: lambda x: checking.correct(function(name), x)}
    off = {"one ulp off": lambda name: lambda x: math.nextafter(right["all right"](name)(x), 9)}
    none = {"without it": lambda name: None}
    monkeypatch.setattr(checking, "libraries", lambda paths: right | off | none)
    scores = checking.check("sin", [0.5, 1.0, 1.5])
    assert [(s.library, s.tried, len(s.wrong)) for s in scores] == [
        ("all right", 3, 0),
        ("one ulp off", 3, 3),
    ]
    x, got, y = scores[1].wrong[0]
    assert Fraction(got) > Fraction(y)
    assert x == 0.5


def test_overflow_underflow_and_ties():
    exp, exp2 = function("exp"), function("exp2")
    assert checking.correct(exp, 710.0) == math.inf
    assert checking.correct(exp, -800.0) == 0.0
    assert checking.correct(exp2, -1075.0) == 0.0  # halfway to the smallest number: to even
    assert checking.correct(exp2, -1074.0) == 5e-324
    for score in checking.check("exp", [710.0, -800.0, 0.0]):
        assert not score.wrong


@pytest.mark.parametrize("x", [-1.0, 0.0])
def test_no_value(x):
    with pytest.raises(ValueError, match="arguments: log has no value at"):
        checking.check("log", [x])


def test_arguments_are_finite_numbers():
    with pytest.raises(ValueError, match="arguments must be finite"):
        checking.check("exp", [math.nan])
