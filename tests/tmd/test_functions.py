"""Functions are described correctly: values, coefficients, exact values, singularities."""

import math
from fractions import Fraction

import pytest
from flint import arb, ctx, fmpq

import tmd
from tmd.functions import NAMES, load_function
from tmd.functions.function import ball

POINTS = {"log": 1.5, "log2": 1.5}


@pytest.mark.parametrize("name", NAMES)
def test_values_and_coefficients(name):
    f, x, h = load_function(name), POINTS.get(name, 0.7), 2.0**-20
    assert math.isclose(float(f.enclosure(arb(x))), getattr(math, name)(x), rel_tol=1e-15)
    with ctx.workprec(300):
        c = f.coefficients(arb(x), 5)
        remainder = f.enclosure(arb(x + h)) - sum(c[k] * arb(h) ** k for k in range(5))
        assert abs(remainder) < arb(2) ** -95  # the next term
        assert abs(remainder) > arb(2) ** -130


@pytest.mark.parametrize("name", NAMES)
def test_coefficients_over_a_ball_enclose_those_inside(name):
    f, x = load_function(name), POINTS.get(name, 0.7)
    wide = f.coefficients(arb(x, 2.0**-6), 6)
    for point in (x - 2.0**-6, x - 0.003, x + 2.0**-6):
        for inner, outer in zip(f.coefficients(arb(point), 6), wide, strict=True):
            assert outer.contains(inner)


@pytest.mark.parametrize(
    ("name", "x", "value"),
    [("exp", 0, 1), ("exp2", -3, "1/8"), ("exp2", 10, 1024), ("log", 1, 0), ("log2", "1/4", -2),
     ("log2", 8, 3), ("sin", 0, 0), ("cos", 0, 1), ("tan", 0, 0)],
)  # fmt: skip
def test_exact_values(name, x, value):
    f, x, value = load_function(name), Fraction(x), Fraction(value)
    assert f.evaluate(x) == fmpq(value.numerator, value.denominator)
    assert f.evaluate(x).is_exact()
    assert f.enclosure(ball(x)).contains(fmpq(value.numerator, value.denominator))
    for other in (x + Fraction(1, 3), x + Fraction(1, 1 << 40)):
        assert f.exact(other) is None
        assert not f.evaluate(other).is_exact()


@pytest.mark.parametrize("name", NAMES)
def test_behaviour_near_zero(name):
    """Relative to f, the distance from its trivial rounding is c |x|^n."""
    f = load_function(name)
    c, n = f.trivial_near_zero
    if n == 0:
        assert name.startswith("log")
        return
    x = 2.0**-30
    with ctx.workprec(300):
        value = f.enclosure(arb(x))
        trivial = arb(x) if f.exact(Fraction(0)) == 0 else arb(1)
        assert math.isclose(float(abs(value - trivial) / value), c * x**n, rel_tol=1e-6)


SINGULARITIES = [
    ("sin", 3.0, 3.25, True), ("sin", -3.25, -3.0, True), ("sin", 1.5, 1.625, False),
    ("cos", 1.5, 1.625, True), ("cos", 3.0, 3.25, False), ("cos", -0.5, 0.5, False),
    ("tan", 1.5, 1.625, True), ("tan", 3.0, 3.25, True), ("tan", -1.5, -0.5, False),
    ("log", 0.5, 1.0, False), ("log", 0.5, 1.25, True), ("log2", -1.0, 0.5, True),
    ("exp", -5.0, 5.0, False),
]  # fmt: skip


@pytest.mark.parametrize(("name", "lo", "hi", "is_singular"), SINGULARITIES)
def test_singularities(name, lo, hi, is_singular):
    assert (load_function(name).singularity(Fraction(lo), Fraction(hi)) is not None) == is_singular


@pytest.mark.parametrize("name", [n for n in NAMES if load_function(n).symmetry])
def test_symmetries(name):
    """The mirror image of a domain has the mirror images of the cases."""
    x, width = 0.75, 2.0**-39  # 2^14 arguments
    right = tmd.search(name, (x, x + width), bits=10)
    left = tmd.search(name, (math.nextafter(-x - width, 0), math.nextafter(-x, 0)), bits=10)
    assert [(-c.argument, c.kind) for c in left.cases][::-1] == [
        (c.argument, c.kind) for c in right.cases
    ]
    sign = -1 if load_function(name).symmetry == "odd" else 1
    assert getattr(math, name)(-x) == sign * getattr(math, name)(x)
