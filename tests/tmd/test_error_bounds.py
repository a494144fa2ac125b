"""The error bounds of models, lines, values and thresholds hold, by exact arithmetic."""

import random
from dataclasses import replace
from fractions import Fraction

import numba
import numpy as np
import pytest
from flint import arb, ctx

from tmd import _search
from tmd._search import chord_error, make_batch, truncation_error
from tmd._search.blocks import split_into_blocks
from tmd._search.formulas import line_formulas as scan
from tmd._search.formulas import wide_integer_formulas as wide
from tmd._search.planning import make_plan
from tmd._search.taylor_models import FRACTION_BITS, Models, Scale, make_model
from tmd.formats import Format, to_fraction
from tmd.functions import load_function
from tmd.functions.function import ball

WORD = (1 << 64) - 1
DOMAINS = [("exp", "1.25", 38), ("exp", "-3", 38), ("log", "3", 36), ("sin", "1.5", 36),
           ("tan", "1.25", 30), ("exp", "200", 34), ("cos", "2**-20", 40)]  # fmt: skip


def plan_window(name, lo, width, bits=32):
    """Return the function, and the plan of 2^width arguments from lo on."""
    lo = to_fraction("lo", lo)
    unit = abs(lo) * Fraction(2) ** -52
    f = load_function(name)
    parts, _ = split_into_blocks(f, lo, lo + (1 << width) * unit, Format.create(53))
    return f, make_plan(f, parts[0], bits, Scale(), "clipped", "reciprocal")


def to_integer(words):
    """Return the integer of three words in two's complement."""
    integer = int(words[0]) << 128 | int(words[1]) << 64 | int(words[2])
    return integer - (1 << 192) if integer >> 191 else integer


def exact_value(f, p, x):
    """Return the value at argument x of a block, in test units, as a ball."""
    scale = arb(2) ** (1 - p.block.ulp) * (-1 if p.block.negative else 1)
    return f.enclosure(ball(p.block.run.argument(x))) * scale


@pytest.mark.parametrize(("name", "lo", "width"), DOMAINS)
def test_models_are_as_close_as_they_say(name, lo, width):
    f, p = plan_window(name, lo, width)
    size, rng = p.shape.super_block, random.Random(1)
    for number in {0, p.super_blocks - 1}:
        m = make_model(Models(f, p.block, p.scale, size, p.degree), number)
        coefficients = [to_integer(w) for w in m.words]
        worst = 0.0
        for x in [0, 1, (1 << size) - 1, *(rng.randrange(1 << size) for _ in range(40))]:
            w = Fraction(x, 1 << size)
            value = sum(c * w**k for k, c in enumerate(coefficients))
            with ctx.workprec(400):
                exact = exact_value(f, p, (number << size) + x) * arb(2) ** FRACTION_BITS
                worst = max(worst, float(abs(exact - ball(value)).upper()))
        assert worst <= m.error
        assert m.error < 2.0 ** (FRACTION_BITS - p.bits - 4)  # and the models are useful


GROUPS = [("exp", "1.25", 32, Scale()), ("exp", "-700", 45, Scale(False, True)),
          ("log", "3", 32, Scale(False)), ("log2", "0.7", 40, Scale()),
          ("cos", "-2.5", 32, Scale()), ("tan", "1.25", 20, Scale(False, True)),
          ("tan", "1.56", 32, Scale())]  # fmt: skip


@pytest.mark.parametrize(("name", "lo", "bits", "scale"), GROUPS)
def test_models_of_groups_are_those_of_single_super_blocks(name, lo, bits, scale, monkeypatch):
    """Shifted in compiled code they have the same integers, up to a unit of some thresholds."""
    f, lo = load_function(name), to_fraction("lo", lo)
    blocks, _ = split_into_blocks(f, lo, lo + abs(lo) / 4096, Format.create(53))
    block = max(blocks, key=lambda block: block.run.count)
    division = "reciprocal" if scale.doubled else "integer"
    p = make_plan(f, block, bits, scale, "clipped", division)
    p = replace(p, shape=p.shape._replace(super_block=p.shape.super_block - 4, packet=5))
    first, count = 3, min(45, p.super_blocks - 3)  # parts of two groups
    assert count > 8
    models = Models(f, block, scale, p.shape.super_block, p.degree)
    assert any(arrays for *_, arrays in _search.groups_of(models, first, count))
    shifted = make_batch(f, p, first, count)
    monkeypatch.setattr(
        _search, "groups_of", lambda *_: [(None, first, first + count, None)]
    )  # which makes each from balls
    for name, array, expected in zip(
        shifted._fields, shifted, make_batch(f, p, first, count), strict=True
    ):
        off = np.asarray(array).astype(object) - np.asarray(expected).astype(object)
        assert np.abs(off).max() <= (name not in ("first", "table", "subdomain_counts"))
        assert np.count_nonzero(off) <= 0.1 * np.size(off)


@numba.njit
def _lines(table, x, size, domain, step):
    return scan.line_differences(scan.taylor_coefficients(table, 0, x, size), step, size, domain)


def to_fixed_point(pair):
    """Return a pair as a Fraction modulo 2."""
    return Fraction(int(pair[0]) << 64 | int(pair[1]), 1 << 127)


def distance(a, b, period):
    """Return the distance of two numbers modulo a period."""
    d = (a - b) % period
    return min(d, period - d)


@pytest.mark.parametrize(("name", "lo", "width"), DOMAINS)
def test_lines_stay_within_their_bound(name, lo, width):
    """Compare the line of a sub-domain, after steps of its differences, with the function."""
    f, p = plan_window(name, lo, width)
    shape, rng = p.shape, random.Random(2)
    size, domain = shape.super_block, shape.subdomain
    batch = make_batch(f, p, 0, 1)
    m = make_model(Models(f, p.block, p.scale, size, p.degree), 0)
    bound = (
        m.error
        + chord_error(m, size, domain)
        + truncation_error(m, size, domain + shape.packet + 5)
    )
    worst = Fraction(0)
    for _ in range(6):
        packet = rng.randrange(1 << (size - domain - shape.packet - 5))
        i = (packet << (shape.packet + 5)) + rng.randrange(32)
        args = np.uint64(i << domain), np.uint64(size), np.uint64(domain)
        b, b1, b2, b3, a, a1, a2 = map(
            to_fixed_point, _lines(batch.table, *args, np.uint64(size - domain - 5))
        )
        j = rng.randrange(1 << shape.packet)
        b += j * b1 + j * (j - 1) // 2 * b2 + j * (j - 1) * (j - 2) // 6 * b3
        a += j * a1 + j * (j - 1) // 2 * a2
        begin = (i + 32 * j) << domain
        for x in (0, 1, (1 << domain) // 2, (1 << domain) - 1):
            with ctx.workprec(400):
                true = (exact_value(f, p, begin + x) * arb(2) ** 200).mid().floor().unique_fmpz()
            worst = max(worst, distance(b - a * x, Fraction(int(true), 1 << 200), 1))
    assert worst * (1 << FRACTION_BITS) <= bound
    assert worst * (1 << FRACTION_BITS) > bound / 20  # and the bound is not too generous


@numba.njit
def _horner(t, x, shift, c):
    return wide.horner(t, x, shift, c)


@numba.njit
def _shift_right(t, shift):
    return wide.shift_right(t, shift)


@numba.njit
def _value_after_steps(j, a, b, c, d):
    return scan.value_after_steps(j, a, b, c, d)


def to_words(number, count):
    """Return the words of an integer, the highest first."""
    return tuple(np.uint64(number >> 64 * i & WORD) for i in reversed(range(count)))


def test_wide_arithmetic_is_that_of_integers():
    rng = random.Random(5)
    for _ in range(300):
        t, c = (rng.randrange(-(1 << 180), 1 << 180) for _ in range(2))
        x, shift = rng.randrange(1 << 45), rng.randrange(1, 64)
        result = _horner(to_words(t, 3), np.uint64(x), np.uint64(shift), to_words(c, 3))
        assert to_integer(result) == ((t * x >> shift) + c + (1 << 191)) % (1 << 192) - (1 << 191)
        shift = rng.randrange(1, 192)
        assert _shift_right(to_words(t, 3), np.uint64(shift)) == to_words(t >> shift, 2)
        a, b, c, d = (rng.randrange(1 << 128) for _ in range(4))
        j = rng.randrange(32)
        total = a + j * b + j * (j - 1) // 2 * c + j * (j - 1) * (j - 2) // 6 * d
        assert _value_after_steps(
            np.uint64(j), *(to_words(n, 2) for n in (a, b, c, d))
        ) == to_words(total, 2)


def test_thresholds_cover_twice_the_distance():
    f, p = plan_window("exp", "1.25", 38)
    batch = make_batch(f, p, 0, 1)
    limit = p.scale.case_distance(p.bits) >> (FRACTION_BITS - 63)
    assert batch.limits[0] >= 2 * limit
    assert batch.offsets[0] >= 2 * limit
    assert int(batch.bounds[0]) << 11 >= 2 * int(batch.offsets[0])
