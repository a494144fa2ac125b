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
