"""The kernels that are made for a problem compile for sm_90 within their registers."""

import pytest

from compile_cuda import allowed_spills, compile_kernel
from generated_kernels import RODE_CASES
from hetero.cuda.driver import SIMULATOR
from studies.rode.kernels import averages_kernel, solver_kernel

pytestmark = pytest.mark.skipif(SIMULATOR, reason="the simulator compiles nothing")


def check(kernel, signature, dtype, registers):
    report = compile_kernel(kernel, signature)
    assert report.spills <= allowed_spills()
    assert report.registers <= registers
    if dtype == "float32":
        assert report.opcodes(".f64") == 0


@pytest.mark.parametrize("case", RODE_CASES, ids=lambda case: "-".join(map(str, case[1:])))
def test_solver(case):
    problem, method, sampling, dtype, normals, registers, *is_paired = case
    kernel = solver_kernel(problem, method, sampling, dtype, normals, *is_paired)
    check(*kernel, dtype, registers)


@pytest.mark.parametrize(("dtype", "count"), [("float32", 2), ("float64", 3)])
def test_averages(dtype, count):
    check(*averages_kernel(dtype, count), dtype, 64)
