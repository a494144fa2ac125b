"""The kernels that are made for a problem compile for sm_90 within their registers."""

import pytest

from compile_cuda import allowed_spills, compile_kernel
from generated_kernels import RODE_CASES
from studies.rode.kernels import averages_kernel, solver_kernel


def check(kernel, signature, dtype, registers):
    report = compile_kernel(kernel, signature)
    assert report.spills <= allowed_spills()
    assert report.registers <= registers
    if dtype == "float32":
        assert report.opcodes(".f64") == 0


COVERED = {0, 3, 4, 8}
"""Cases each of whose settings, or the same source for another order, is in one of the others."""


@pytest.mark.parametrize("case", [
    pytest.param(one, id="-".join(map(str, one[1:])), marks=[pytest.mark.slow] * (k in COVERED))
    for k, one in enumerate(RODE_CASES)
])  # fmt: skip
def test_solver(case):
    problem, method, sampling, dtype, normals, registers, *is_paired = case
    kernel = solver_kernel(problem, method, sampling, dtype, normals, *is_paired)
    check(*kernel, dtype, registers)


@pytest.mark.parametrize(
    ("dtype", "count"), [("float32", 2), pytest.param("float64", 3, marks=pytest.mark.slow)]
)
def test_averages(dtype, count):
    check(*averages_kernel(dtype, count), dtype, 64)
