"""Kernels of phases 1 and 2 for each Boolean test, compiled for sm_90: registers, no spills."""

import pytest

from compile_cuda import allowed_spills, compile_kernel
from kernel_budgets.budget import u8
from kernel_budgets.tmd_kernels import NUMBERS, phase_1_signature, phase_2_signature
from tmd._search.formulas.boolean_test_formulas import ALGORITHMS, DIVISIONS

QUICK = [("clipped", "reciprocal"), ("lefevre", "reciprocal"), ("regular", "integer")]


@pytest.mark.parametrize(
    ("algorithm", "division"),
    [
        pytest.param(a, d, marks=() if (a, d) in QUICK else pytest.mark.slow)
        for a in ALGORITHMS
        for d in DIVISIONS
    ],
)
def test_kernels_compile_within_their_budget(algorithm, division):
    from tmd._search.gpu.kernels import kernels_for

    number = NUMBERS.get(DIVISIONS[division][1], u8)
    kernels = kernels_for(algorithm, division)
    for kernel, signature in (
        (kernels.test_subdomains, phase_1_signature(number)),
        (kernels.test_pieces, phase_2_signature(number)),
    ):
        report = compile_kernel(kernel, signature)
        assert report.spills <= allowed_spills()
        assert report.registers <= 104  # five blocks of 128 threads
        if kernel is kernels.test_subdomains and division == "reciprocal":
            assert report.opcodes("div.rn.f64") == 0
            assert "rcp.approx.ftz.f64" in report.ptx
            assert "__internal" not in report.ptx
