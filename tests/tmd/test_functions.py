"""What the search is told of a function is true: values, coefficients, exact values, holes."""

import math
from fractions import Fraction

import pytest
from flint import arb, ctx, fmpq

import tmd
from tmd.functions import NAMES, ball, function

POINTS = {"log": 1.5, "log2": 1.5}


@pytest.mark.parametrize("name", NAMES)
def test_values_and_coefficients(name):
    f, x, h = function(name), POINTS.get(name, 0.7), 2.0**-20
    assert math.isclose(float(f.value(arb(x))), getattr(math, name)(x), rel_tol=1e-15)
    with ctx.workprec(300):
        c = f.coefficients(arb(x), 5)
        near = f.value(arb(x + h)) - sum(c[k] * arb(h) ** k for k in range(5))
        assert abs(near) < arb(2) ** -95  # the next term
        assert abs(near) > arb(2) ** -130


@pytest.mark.parametrize("name", NAMES)
def test_coefficients_over_a_ball_enclose_those_inside(name):
    f, x = function(name), POINTS.get(name, 0.7)
    wide = f.coefficients(arb(x, 2.0**-6), 6)
    for at in (x - 2.0**-6, x - 0.003, x + 2.0**-6):
        for inner, outer in zip(f.coefficients(arb(at), 6), wide, strict=True):
            assert outer.contains(inner)


@pytest.mark.parametrize(
    ("name", "x", "value"),
    [("exp", 0, 1), ("exp2", -3, "1/8"), ("exp2", 10, 1024), ("log", 1, 0), ("log2", "1/4", -2),
     ("log2", 8, 3), ("sin", 0, 0), ("cos", 0, 1), ("tan", 0, 0)],
)  # fmt: skip
def test_exact_values(name, x, value):
    f, x, value = function(name), Fraction(x), Fraction(value)
    assert f.at(x) == fmpq(value.numerator, value.denominator)
    assert f.at(x).is_exact()
    assert f.value(ball(x)).contains(fmpq(value.numerator, value.denominator))
    for other in (x + Fraction(1, 3), x + Fraction(1, 1 << 40)):
        assert f.exact(other) is None
        assert not f.at(other).is_exact()


@pytest.mark.parametrize("name", NAMES)
def test_next_to_zero_it_is_as_stated(name):
    """c |x|^n is how far f is from its trivial rounding, relative to f."""
    f = function(name)
    c, n = f.tiny
    if n == 0:
        assert name.startswith("log")
        return
    x = 2.0**-30
    with ctx.workprec(300):
        value = f.value(arb(x))
        trivial = arb(x) if f.exact(Fraction(0)) == 0 else arb(1)
        assert math.isclose(float(abs(value - trivial) / value), c * x**n, rel_tol=1e-6)


HOLES = [
    ("sin", 3.0, 3.25, True), ("sin", -3.25, -3.0, True), ("sin", 1.5, 1.625, False),
    ("cos", 1.5, 1.625, True), ("cos", 3.0, 3.25, False), ("cos", -0.5, 0.5, False),
    ("tan", 1.5, 1.625, True), ("tan", 3.0, 3.25, True), ("tan", -1.5, -0.5, False),
    ("log", 0.5, 1.0, False), ("log", 0.5, 1.25, True), ("log2", -1.0, 0.5, True),
    ("exp", -5.0, 5.0, False),
]  # fmt: skip


@pytest.mark.parametrize(("name", "lo", "hi", "hole"), HOLES)
def test_holes(name, lo, hi, hole):
    assert (function(name).hole(Fraction(lo), Fraction(hi)) is not None) == hole


@pytest.mark.parametrize("name", [n for n in NAMES if function(n).symmetry])
def test_symmetries(name):
    """The mirror of a domain has the mirrors of the cases."""
    x, width = 0.75, 2.0**-39  # 2^14 arguments
    right = tmd.search(name, (x, x + width), bits=10)
    left = tmd.search(name, (math.nextafter(-x - width, 0), math.nextafter(-x, 0)), bits=10)
    assert [(-c.argument, c.kind) for c in left.cases][::-1] == [
        (c.argument, c.kind) for c in right.cases
    ]
    sign = -1 if function(name).symmetry == "odd" else 1
    assert getattr(math, name)(-x) == sign * getattr(math, name)(x)
