"""Functions are described correctly: values, coefficients, exact values, and what is left out."""

import itertools
import math
from fractions import Fraction

import pytest
from flint import arb, ctx, fmpq

import tmd
from tmd import searches
from tmd.checker import VALUES
from tmd.formats import Format, argument_runs, exponent
from tmd.functions import NAMES, load_function
from tmd.functions.function import ball, working_precision

POINTS = dict.fromkeys(("log", "log2", "acosh"), 1.5)


@pytest.mark.parametrize("name", NAMES)
def test_values_and_coefficients(name):
    """Also where the value is tiny, and its series must not cancel."""
    f, h = load_function(name), 2.0**-20
    for x in (POINTS.get(name, 0.7), 2.0**-60, -0.7, 3.25):
        if not f.is_defined_between(Fraction(x), Fraction(x)):
            continue
        h = math.ldexp(1.0, math.frexp(x)[1] - 21)
        with ctx.workprec(500):
            value = VALUES[name](arb(x))
        with ctx.workprec(300):
            c = f.coefficients(arb(x), 5)
            assert c[0].overlaps(value)
            assert f.enclosure(arb(x)).overlaps(value)
            assert c[0].rel_accuracy_bits() > 150
            remainder = f.enclosure(arb(x) + arb(h)) - sum(c[k] * arb(h) ** k for k in range(5))
            assert abs(remainder) < arb(2) ** -80 * abs(value)  # the next term


@pytest.mark.parametrize("name", NAMES)
def test_coefficients_over_a_ball_enclose_those_inside(name):
    f, x = load_function(name), POINTS.get(name, 0.7)
    wide = f.coefficients(arb(x, 2.0**-6), 6)
    for point in (x - 2.0**-6, x - 0.003, x + 2.0**-6):
        for inner, outer in zip(f.coefficients(arb(point), 6), wide, strict=True):
            assert outer.contains(inner)


@pytest.mark.parametrize(
    ("name", "x", "value"),
    [("exp", 0, 1), ("exp2", -3, "1/8"), ("exp2", 10, 1024), ("exp10", 3, 1000), ("log", 1, 0),
     ("exp2m1", -3, "-7/8"), ("exp2m1", 5, 31), ("exp10m1", 2, 99), ("log2", "1/4", -2),
     ("log2", 8, 3), ("log10", 1000, 3), ("log2p1", 7, 3), ("log2p1", "-3/4", -2),
     ("log10p1", 99, 2), ("sin", 0, 0), ("cos", 0, 1), ("tan", 0, 0), ("sinpi", "-7/2", 1),
     ("cospi", 3, -1), ("tanpi", "3/4", -1), ("asinpi", 1, "1/2"), ("acospi", -1, 1),
     ("acospi", 0, "1/2"), ("atanpi", -1, "-1/4"), ("acosh", 1, 0), ("cbrt", "-27/64", "-3/4"),
     ("rsqrt", "1/16", 4), ("erfc", 0, 1), ("tgamma", 5, 24), ("lgamma", 2, 0)],
)  # fmt: skip
def test_exact_values(name, x, value):
    f, x, value = load_function(name), Fraction(x), Fraction(value)
    assert f.evaluate(x) == fmpq(value.numerator, value.denominator)
    assert f.evaluate(x).is_exact()
    assert f.enclosure(ball(x)).contains(fmpq(value.numerator, value.denominator))
    for other in (x + Fraction(1, 3), x + Fraction(1, 1 << 40)):
        assert f.exact(other) is None


# ---- every argument of a small format -----------------------------------------------------------


def all_arguments(fmt):
    """Return the end of the positive numbers of a format, and all numbers but 0."""
    low, high = fmt.argument_exponent_range
    end = Fraction(2) ** (high + 1)
    runs = argument_runs(Fraction(2) ** (low - fmt.argument_precision + 1), end, fmt)
    positive = [run.argument(i) for run in runs for i in range(run.count)]
    return end, [*positive, *(-x for x in positive)]


def is_left_out(f, x, value, fmt, bits):
    """Return whether x lies where the value is trivially close to x, a constant or a limit."""
    near = []
    if f.fixed_near_zero and abs(x) < 1:
        near.append(x if f.fixed_near_zero[0] == "x" else Fraction(f.fixed_near_zero[0]))
    if f.limits[x > 0] not in (None, 0, math.inf):
        near.append(f.limits[x > 0])
    lattice = f.lattices[x > 0]
    return (lattice and abs(x) >= lattice * 2 ** (fmt.argument_precision - 1)) or any(
        abs(value - ball(r)) < arb(2) ** (fmt.ulp(exponent(r)) - bits) for r in near
    )


def find_cases_by_balls(name, fmt, bits):
    """Return (argument, kind) of all cases, and those of them that a search may leave out."""
    f, cases, left_out = load_function(name), [], []
    for x in all_arguments(fmt)[1]:
        with working_precision(700 + 6 * max(0, exponent(x)) + (1600 if name == "erfc" else 0)):
            value = VALUES[name](ball(x))
            if not value.is_finite() or value.contains(0):
                continue
            tops = [int(end.man_exp()[0]).bit_length() + int(end.man_exp()[1])
                    for end in (abs(value).abs_lower(), abs(value).abs_upper())]  # fmt: skip
            if (ulp := fmt.ulp(max(tops) - 1)) is None:
                continue
            y = abs(value) * arb(2) ** -ulp
            for kind, z in (("F", y), ("M", y + arb(0.5))):
                nearest = (z + arb(0.5)).floor().unique_fmpz()
                if nearest is not None and abs(z - nearest) < arb(2) ** -bits:
                    hidden = is_left_out(f, x, value, fmt, bits)
                    (left_out if hidden else cases).append((x, kind))
    return sorted(cases), left_out


def check_whole_format(name, precision, bits):
    """Compare a search of all numbers of a format with balls, and check its certificate."""
    fmt = Format.create(precision)
    end, arguments = all_arguments(fmt)
    result = tmd.search(name, (-end, end), bits=bits, precision=precision, device="cpu")
    found = [(case.exact_argument, case.kind) for case in result.cases]
    cases, left_out = find_cases_by_balls(name, fmt, bits)
    assert [pair for pair in found if pair not in {*left_out}] == cases
    certificate = result.certificate
    assert result.cases.searched + certificate["trivial"] == len(arguments) + 1
    report = tmd.verify(certificate, cases=result.cases, samples=0)
    assert report["listed"] == len(found)
    return certificate


@pytest.mark.parametrize(
    ("precision", "bits"),
    [((5, -6, 7), 5),
     *(pytest.param(*p, marks=pytest.mark.slow) for p in (("binary16", 8), ("bfloat16", 6)))],
)  # fmt: skip
@pytest.mark.parametrize("name", NAMES)
def test_all_numbers_of_a_format(name, precision, bits):
    """Zeros, poles, exact values, subnormal numbers, overflow, limits and both signs."""
    assert check_whole_format(name, precision, bits)["trivial"] > 0


@pytest.mark.parametrize("name", [n for n in NAMES if load_function(n).symmetry])
def test_odd_and_even_functions_are_searched_once(name, monkeypatch):
    """The cases of the mirror image of a domain are those of the domain."""
    searched, original = [], searches.search_in_groups

    def count_blocks(f, stretches, *rest):
        searched.append(sum(stretch.plan.block.run.count for stretch in stretches.values()))
        return original(f, stretches, *rest)

    monkeypatch.setattr(searches, "search_in_groups", count_blocks)
    numbers = (10, -20, 15)
    half = tmd.search(name, ("2**-9", "0x1.f8p-1"), bits=6, precision=numbers, device="cpu")
    whole = tmd.search(name, ("-0x1.f8p-1", "0x1.f8p-1"), bits=6, precision=numbers, device="cpu")
    assert searched[0] == half.cases.searched
    assert searched[1] <= (whole.cases.searched + 1) // 2 + 1  # one half has the end
    positive = [(c.exact_argument, c.kind) for c in whole.cases if c.exact_argument >= 2.0**-9]
    assert positive == [(c.exact_argument, c.kind) for c in half.cases]
    inner = [c for c in whole.cases if abs(c.exact_argument) < Fraction("0.984375")]
    for left, right in zip(inner, reversed(inner), strict=True):
        assert (left.exact_argument, left.kind) == (-right.exact_argument, right.kind)
    sign = -1 if load_function(name).symmetry == "odd" else 1
    assert VALUES[name](arb(-0.75)).overlaps(sign * VALUES[name](arb(0.75)))


@pytest.mark.parametrize(
    ("name", "lo", "hi"),
    [("tan", "1.57", "1.571"), ("log", "0.999", "1.001"), ("sinpi", "0.99", "1.51"),
     ("log1p", "-1", "-0.998"), ("asin", "0.998", "1.5"), ("lgamma", "-2.004", "-1.998"),
     ("acosh", "0.5", "1.002"), ("tgamma", "-1.002", "-0.999")],
)  # fmt: skip
def test_domains_of_binary32_with_zeros_poles_and_ends(name, lo, hi):
    """Their blocks shrink towards these points, and no argument is lost there."""
    result = tmd.search(name, (lo, hi), bits=14, precision=24, device="cpu")
    fmt, ends = Format.create(24), (Fraction(lo), Fraction(hi))
    total = sum(run.count for run in argument_runs(*ends, fmt))
    assert result.cases.searched + result.certificate["trivial"] == total
    blocks = [dict(zip(result.certificate["columns"], b, strict=True))
              for b in result.certificate["blocks"]]  # fmt: skip
    assert len(blocks) > 5
    for one, other in itertools.pairwise(b for b in blocks if b["quantum"] == blocks[0]["quantum"]):
        assert one["first"] + one["count"] <= other["first"]
    sample = list(result.cases)[:: max(1, len(result.cases) // 50)]
    for case in sample:
        with working_precision(400):
            value = abs(VALUES[name](ball(case.exact_argument)))
            y = value * arb(2) ** -fmt.ulp(exponent(Fraction(value.mid().str(60, radius=False))))
            z = y if case.kind == "F" else y + arb(0.5)
            assert abs(z - (z + arb(0.5)).floor()) < arb(2) ** -14
