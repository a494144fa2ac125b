"""The kernels that are made for a problem compile for sm_90 within their registers."""

import numpy as np
import pytest
from numba import typeof
from numba import uint8 as u1

import rode
from budget import array, boolean, f4, f8, i8
from compile_cuda import allowed_spills, compile_kernel
from hetero.cuda.driver import SIMULATOR
from rode._paths.averages import cuda as averages_cuda
from rode._solver import cuda as solver_cuda
from rode._solver.kernel_arguments import RunParameters
from rode._solver.plan import Plan
from rode._solver.runner import kernel_spec_of

pytestmark = pytest.mark.skipif(SIMULATOR, reason="the simulator compiles nothing")

QUAKE = rode.kanai_tajimi()
CASES = [
    (QUAKE, "averaged-euler", "path", "float32", None, 88),
    (QUAKE, "averaged-euler", "path", "float32", "fast", 88),
    (QUAKE, "3-rode-taylor", "path", "float64", "float32", 128),
    (QUAKE, "4-rode-taylor", "exact", "float64", None, 128),
    (QUAKE, "3-rode-taylor", "exact", "float32", None, 88),
    (rode.growth(), "averaged-heun", "path", "float32", None, 80),
]


def run_of(dtype) -> RunParameters:
    T, word = np.dtype(dtype).type, np.uint32(1)
    numbers = map(T, (0.0, 1.0, 1.0, 1.0, 1.0))
    return RunParameters(word, word, word, word, 0, 10, 32, 1, 0, -1, 0, True, True, *numbers)


@pytest.mark.parametrize(("problem", "method", "sampling", "dtype", "normals", "registers"), CASES)
def test_solver(problem, method, sampling, dtype, normals, registers):
    plan = Plan.checked(
        problem,
        method,
        t_span=(0.0, 1.0),
        h=2.0**-5,
        delta=2.0**-8,
        paths=100,
        sampling=sampling,
        dtype=dtype,
        normals=normals,
    )
    t = f4 if dtype == "float32" else f8
    tables = (array(t, 2), array(t, 2), array(t, 3), array(t, 2))
    paths = (array(t), array(t, 2), array(t, 3), array(t, 2), array(u1))
    kernel = solver_cuda.compiled(kernel_spec_of(plan))
    report = compile_kernel(kernel, (typeof(run_of(dtype)), *tables, *paths))
    assert report.spills <= allowed_spills()
    assert report.registers <= registers
    if dtype == "float32":
        assert report.opcodes(".f64") == 0


@pytest.mark.parametrize(("dtype", "count"), [("float32", 2), ("float64", 3)])
def test_averages(dtype, count):
    t = f4 if dtype == "float32" else f8
    signature = (array(t), i8, i8, i8, i8, t, boolean, array(t, 2))
    report = compile_kernel(averages_cuda.sums_kernel(dtype, count), signature)
    assert report.spills <= allowed_spills()
    assert report.registers <= 64
    if dtype == "float32":
        assert report.opcodes(".f64") == 0
