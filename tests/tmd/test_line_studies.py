"""The studies of lines: rounds of warps, tangents and chords, polynomials by differences."""

import random
from dataclasses import replace
from fractions import Fraction

import numba
import numpy as np
import pytest
from numba import types

import hetero
from compile_cuda import allowed_spills, compile_kernel
from hetero.cuda.driver import SIMULATOR
from studies.tmd import generation, rounds
from studies.tmd.differences import loops
from studies.tmd.divergence import SUBDOMAIN, count_domain_rounds
from studies.tmd.domains import PUBLISHED, plan_first_block
from studies.tmd.generation import coefficients_of
from studies.tmd.truncation import count_block
from tmd._search.line_formulas import Shape, taylor_coefficients
from tmd._search.planning import make_batch
from tmd._search.taylor_models import make_model
from tmd.formats import Format


def test_warps_wait_for_their_slowest_thread():
    counts = np.concatenate([np.full(31, 2), [8], np.full(32, 5), [1, 3]])
    np.testing.assert_allclose(rounds.nmdm(counts), [1 - (31 * 2 + 8) / 32 / 8, 0.0])
    assert rounds.count_warp_rounds(counts) == 8 + 5 + 3


def test_rounds_go_on_from_one_super_block_to_the_next():
    f, plan = plan_first_block("exp", *PUBLISHED, Format.create(53, 54), 33, "directed")
    large, small = (replace(plan, shape=Shape(s, SUBDOMAIN, 12, 0)) for s in (28, 24))
    expected, failed = count_domain_rounds("plain", f, large, 1 << 11)
    parts, failed_parts = count_domain_rounds("plain", f, small, 1 << 11)
    # Bounds and slopes differ in the last bits, which few sub-domains out of 2^11 notice.
    assert (parts != expected).sum() <= 1
    assert (failed != failed_parts).sum() <= 1
    assert expected.min() < expected.max()


@pytest.mark.parametrize("line", ["tangent", "chord"])
def test_lines_touch_the_polynomial(line):
    """Exact rational values of a model's polynomial, at random sub-domains of 2^15 arguments."""
    f, plan = plan_first_block("exp", *PUBLISHED, Format.create(53, 54), 33, "directed")
    size, rng = plan.shape.super_block, random.Random(1)
    words, make_line = make_batch(f, plan, 0, 1).table, rounds.LINES[line]
    coefficients = coefficients_of(words[0])

    @numba.njit
    def line_at(words, x):
        return make_line(taylor_coefficients(words, 0, x, np.uint64(size)), size, 15)

    def value(x):
        return sum(Fraction(c * x**k, 1 << (128 + size * k)) for k, c in enumerate(coefficients))

    def distance(a, b):
        return abs((a - b + 1) % 2 - 1)  # modulo 2, as lines are kept

    for _ in range(20):
        x = rng.randrange(1 << (size - 15)) << 15
        b, a = (Fraction(int(word), 1 << 63) for word in line_at(words, np.uint64(x)))
        begin, middle, end = value(x), value(x + (1 << 14)), value(x + (1 << 15))
        if line == "tangent":
            first = begin
            slope = sum(
                Fraction(k * c * x ** (k - 1), 1 << (128 + size * k))
                for k, c in enumerate(coefficients)
                if k
            )
        else:
            first, slope = begin - ((begin + end) / 2 - middle) / 2, (end - begin) / 2**15
        assert distance(first, b) < Fraction(1, 1 << 50)
        assert distance(slope, -a) < Fraction(1, 1 << 60)


def test_chords_pass_an_eighth_of_what_tangents_pass():
    f, plan = plan_first_block("exp", *PUBLISHED, Format.create(53, 54), 33, "directed")
    block = replace(plan.block, run=plan.block.run.slice(0, 1 << 32))
    plan = replace(plan, block=block, division="float64", shape=Shape(39, 15, 12, 0))
    for test, share in (("plain", 0.0033), ("alternating", 0.0164)):  # printed: 0.33 and 1.64 %
        tangent, chord = (count_block(f, plan, test, line) for line in ("tangent", "chord"))
        assert tangent.arguments == chord.arguments == 1 << 32
        assert abs(tangent.second / tangent.arguments / share - 1) < 0.25
        assert 5 < tangent.second / chord.second < 12
        assert chord.third <= tangent.third < tangent.second
        assert tangent.rounds > tangent.first_rounds > 0


@pytest.mark.parametrize(("degree", "words"), [(6, 5), (10, 7)])
def test_polynomials_by_tabulated_differences_are_exact(degree, words, device):
    """Values r_j(i) are the differences of the polynomial at i N, to a unit of 2^-64."""
    f, plan = plan_first_block("exp", *PUBLISHED, Format.create(53, 54), 33, "directed")
    size, length, log2_steps, packets = generation.LOG2_EXPANDED, generation.LENGTH, 3, 11
    target = hetero.resolve(device)
    model = make_model(f, plan.block, 0, size, degree, plan.scale)
    coefficients = coefficients_of(model.words)
    outs = [np.empty((2, 1 << log2_steps, packets), np.uint64) for _ in range(3)]
    if device == "cuda":
        from hetero.cuda.driver import cuda

        outs = [cuda.to_device(out) for out in outs]
    interpolation = generation.interpolate(coefficients, size)
    generation.generate(loops(target), interpolation, words, log2_steps, outs)
    for j, out in enumerate(outs):
        values = out.copy_to_host() if device == "cuda" else out
        for i in (0, 1, 7, 8, 42, packets * 8 - 1):
            x = [(i << length) + m for m in range(3)]
            exact = [sum(c * v**k << size * (degree - k) for k, c in enumerate(coefficients))
                     for v in x]  # fmt: skip
            difference = (exact[0], exact[1] - exact[0], exact[2] - 2 * exact[1] + exact[0])[j]
            expected = difference >> (128 + size * degree - 64)
            high, low = (int(values[part, i % 8, i // 8]) for part in (0, 1))
            assert (expected - (high << 64 | low)) % 2**128 in (0, 1), (i, j)


@pytest.mark.skipif(SIMULATOR, reason="the simulator compiles nothing")
@pytest.mark.parametrize(("count", "words", "registers"), [(7, 5, 128), (11, 7, 255)])
def test_coefficients_stay_in_registers(count, words, registers):
    from studies.tmd.differences.cuda import advance_kernel

    array = types.Array(types.uint64, 3, "C")
    report = compile_kernel(advance_kernel(count, words), (array, array))
    assert report.spills <= allowed_spills()
    assert report.stack == 0
    assert report.registers <= registers
