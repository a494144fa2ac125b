"""The studies of lines: rounds of warps, tangents and chords, polynomials by differences."""

from dataclasses import replace

import numpy as np
import pytest
from numba import types

import hetero
from compile_cuda import allowed_spills, compile_kernel
from studies.tmd import generation, rounds
from studies.tmd.differences import loops
from studies.tmd.domains import PUBLISHED, plan_first_block
from studies.tmd.generation import coefficients_of
from studies.tmd.truncation import count_block
from tmd._search.formulas.line_formulas import Shape
from tmd._search.taylor_models import Models, make_model
from tmd.formats import Format


def test_warps_wait_for_their_slowest_thread():
    counts = np.concatenate([np.full(31, 2), [8], np.full(32, 5), [1, 3]])
    np.testing.assert_allclose(rounds.nmdm(counts), [1 - (31 * 2 + 8) / 32 / 8, 0.0])
    assert rounds.count_warp_rounds(counts) == 8 + 5 + 3


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
    model = make_model(Models(f, plan.block, plan.scale, size, degree), 0)
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


@pytest.mark.parametrize(("count", "words", "registers"), [(7, 5, 128), (11, 7, 255)])
def test_coefficients_stay_in_registers(count, words, registers):
    from studies.tmd.differences.cuda import advance_kernel

    array = types.Array(types.uint64, 3, "C")
    report = compile_kernel(advance_kernel(count, words), (array, array))
    assert report.spills <= allowed_spills()
    assert report.stack == 0
    assert report.registers <= registers
