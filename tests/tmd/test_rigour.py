"""Error bounds hold: Taylor models, lines, values and thresholds against exact arithmetic."""

import random
from fractions import Fraction

import numba
import numpy as np
import pytest
from flint import arb, ctx

from tmd import _scan_math as scan
from tmd import _wide_math as wide
from tmd.blocks import blocks
from tmd.formats import Format, exact
from tmd.functions import ball, function
from tmd.plan import batch, chord, plan, truncation
from tmd.taylor import POINT, Scale, model

WORD = (1 << 64) - 1
DOMAINS = [("exp", "1.25", 38), ("exp", "-3", 38), ("log", "3", 36), ("sin", "1.5", 36),
           ("tan", "1.25", 30), ("exp", "200", 34), ("cos", "2**-20", 40)]  # fmt: skip


def planned(name, lo, width, bits=32):
    lo = exact("lo", lo)
    unit = abs(lo) * Fraction(2) ** -52
    f = function(name)
    parts, _ = blocks(f, lo, lo + (1 << width) * unit, Format.checked(53))
    return f, plan(f, parts[0], bits, Scale(), "clipped", "reciprocal")


def signed(words):
    whole = int(words[0]) << 128 | int(words[1]) << 64 | int(words[2])
    return whole - (1 << 192) if whole >> 191 else whole


def exactly(f, p, x):
    """The value at argument x of a block, in test units, as a ball."""
    scale = arb(2) ** (1 - p.block.ulp) * (-1 if p.block.negative else 1)
    return f.value(ball(p.block.run.argument(x))) * scale


@pytest.mark.parametrize(("name", "lo", "width"), DOMAINS)
def test_models_are_as_close_as_they_say(name, lo, width):
    f, p = planned(name, lo, width)
    size, rng = p.shape.size, random.Random(1)
    for number in {0, p.supers - 1}:
        m = model(f, p.block, number, size, p.degree, p.scale)
        coefficients = [signed(w) for w in m.words]
        worst = 0.0
        for x in [0, 1, (1 << size) - 1, *(rng.randrange(1 << size) for _ in range(40))]:
            w = Fraction(x, 1 << size)
            value = sum(c * w**k for k, c in enumerate(coefficients))
            with ctx.workprec(400):
                off = exactly(f, p, (number << size) + x) * arb(2) ** POINT - ball(value)
                worst = max(worst, float(abs(off).upper()))
        assert worst <= m.error
        assert m.error < 2.0 ** (POINT - p.bits - 4)  # and they are good for something


@numba.njit
def _lines(table, x, size, domain, step):
    return scan.lines(scan.taylor(table, 0, x, size), step, size, domain)


@numba.njit
def _values(table, x, size):
    return scan.values(scan.taylor(table, 0, x, size), size)


def fixed(pair):
    """A pair as a Fraction modulo 2."""
    return Fraction(int(pair[0]) << 64 | int(pair[1]), 1 << 127)


def off(a, b, period):
    """Distance of two numbers modulo a period."""
    d = (a - b) % period
    return min(d, period - d)


@pytest.mark.parametrize(("name", "lo", "width"), DOMAINS)
def test_lines_stay_within_their_bound(name, lo, width):
    """The line of a sub-domain, after steps of its differences, against the function."""
    f, p = planned(name, lo, width)
    shape, rng = p.shape, random.Random(2)
    size, domain = shape.size, shape.domain
    made = batch(f, p, 0, 1)
    m = model(f, p.block, 0, size, p.degree, p.scale)
    bound = m.error + chord(m, size, domain) + truncation(m, size, domain + shape.packet + 5)
    worst = Fraction(0)
    for _ in range(6):
        packet = rng.randrange(1 << (size - domain - shape.packet - 5))
        i = (packet << (shape.packet + 5)) + rng.randrange(32)
        args = np.uint64(i << domain), np.uint64(size), np.uint64(domain)
        b, b1, b2, b3, a, a1, a2 = map(
            fixed, _lines(made.table, *args, np.uint64(size - domain - 5))
        )
        j = rng.randrange(1 << shape.packet)
        b += j * b1 + j * (j - 1) // 2 * b2 + j * (j - 1) * (j - 2) // 6 * b3
        a += j * a1 + j * (j - 1) // 2 * a2
        begin = (i + 32 * j) << domain
        for x in (0, 1, (1 << domain) // 2, (1 << domain) - 1):
            with ctx.workprec(400):
                true = (exactly(f, p, begin + x) * arb(2) ** 200).mid().floor().unique_fmpz()
            worst = max(worst, off(b - a * x, Fraction(int(true), 1 << 200), 1))
    assert worst * (1 << POINT) <= bound
    assert worst * (1 << POINT) > bound / 20  # and the bound is no fantasy


def test_values_have_the_parity_of_the_function():
    f, p = planned("exp", "1.25", 38)
    made = batch(f, p, 0, 1)
    size = p.shape.size
    for x in (0, 12345, (1 << size) - 5):
        value = fixed(_values(made.table, np.uint64(x), np.uint64(size))[0])
        with ctx.workprec(300):
            true = exactly(f, p, x)
            whole = Fraction(int((true * arb(2) ** 150).floor().unique_fmpz()), 1 << 150)
        assert off(value, whole, 2) < Fraction(1, 1 << 40)


def test_thresholds_cover_twice_the_distance():
    f, p = planned("exp", "1.25", 38)
    made = batch(f, p, 0, 1)
    limit = p.limit >> (POINT - 63)
    assert made.limits[0] >= 2 * limit
    assert made.offsets[0] >= 2 * limit
    assert int(made.bounds[0]) << 11 >= 2 * int(made.offsets[0])


@numba.njit
def _horner(t, x, shift, c):
    return wide.horner(t, x, shift, c)


@numba.njit
def _shifted(t, shift):
    return wide.shifted(t, shift)


@numba.njit
def _after(j, a, b, c, d):
    return scan.after(j, a, b, c, d)


def words(number, count):
    return tuple(np.uint64(number >> 64 * i & WORD) for i in reversed(range(count)))


def test_wide_arithmetic_is_that_of_integers():
    rng = random.Random(5)
    for _ in range(300):
        t, c = (rng.randrange(-(1 << 180), 1 << 180) for _ in range(2))
        x, shift = rng.randrange(1 << 45), rng.randrange(1, 64)
        found = _horner(words(t, 3), np.uint64(x), np.uint64(shift), words(c, 3))
        assert signed(found) == ((t * x >> shift) + c + (1 << 191)) % (1 << 192) - (1 << 191)
        shift = rng.randrange(1, 192)
        assert _shifted(words(t, 3), np.uint64(shift)) == words(t >> shift, 2)
        a, b, c, d = (rng.randrange(1 << 128) for _ in range(4))
        j = rng.randrange(32)
        total = a + j * b + j * (j - 1) // 2 * c + j * (j - 1) * (j - 2) // 6 * d
        assert _after(np.uint64(j), *(words(n, 2) for n in (a, b, c, d))) == words(total, 2)


@numba.njit
def _short_horner(t, x, shift, c):
    return wide.short_horner(t, x, shift, c)


def test_short_steps_are_steps():
    rng = random.Random(6)
    for _ in range(300):
        t, c = (rng.randrange(-(1 << 180), 1 << 180) for _ in range(2))
        args = words(t, 3), np.uint64(rng.randrange(1 << 32)), np.uint64(rng.randrange(1, 64))
        assert _short_horner(*args, words(c, 3)) == _horner(*args, words(c, 3))
