"""Kernels that are made for a problem, with their argument types, for `tools/guard.py`."""

import itertools

import numba
import numpy as np
from numba import typeof, types

import rode
from kernel_budgets.budget import array, boolean, f4, f8, i8, u8
from kernel_budgets.tmd_kernels import NUMBERS, phase_1_signature, phase_2_signature


def lbm_signature(precision, rates=2) -> tuple:
    """Return the argument types of a step of `lbm`, whose operator has so many rates."""
    from lbm._model.precision import PRECISIONS

    form = PRECISIONS[precision]

    def of(dtype, ndim):
        return types.Array(numba.from_dtype(np.dtype(dtype)), ndim, "C")

    T = numba.from_dtype(np.dtype(form.compute))
    populations = (of(form.word, 2),) * 2 + (of(form.storage, 2),) * 2
    walls = of(np.uint8, 1), of(np.uint32, 2), of(np.uint8, 3), of(form.compute, 2)
    numbers = types.UniTuple(T, rates), types.UniTuple(T, 3)
    return (*populations, *walls, *numbers, *(types.uint32,) * 8)


def lbm_kernel(pattern, odd, precision, walls):
    """Return a kernel of `lbm` that does a step, and its argument types."""
    from lbm import TRT
    from lbm._engines.cuda_kernels import make_kernel

    return make_kernel("step", pattern, odd, precision, walls, TRT, False), lbm_signature(precision)


QUAKE = rode.kanai_tajimi()
RODE_CASES = [
    (QUAKE, "averaged-euler", "path", "float32", None, 88),
    (QUAKE, "averaged-euler", "path", "float32", "fast", 88),
    (QUAKE, "3-rode-taylor", "path", "float64", "float32", 128),
    (QUAKE, "4-rode-taylor", "exact", "float64", None, 128),
    (QUAKE, "3-rode-taylor", "exact", "float32", None, 88),
    (rode.growth(), "averaged-heun", "path", "float32", None, 80),
]
"""Cases of the solver: problem, method, sampling, dtype, normals, budget of registers."""


def rode_kernel(problem, method, sampling, dtype, normals):
    """Return the solver's kernel for a problem, and its argument types."""
    from rode._solver import cuda as solver_cuda
    from rode._solver.kernel_arguments import Counter, RunArrays, RunParameters, Saving
    from rode._solver.plan import Plan
    from rode._solver.runner import kernel_spec_of

    plan = Plan.checked(
        problem,
        method,
        t_span=(0.0, 1.0),
        h=2.0**-5,
        delta=2.0**-8,
        paths=100,
        device="cpu",
        sampling=sampling,
        dtype=dtype,
        normals=normals,
    )
    t = f4 if dtype == "float32" else f8
    tables = (array(t, 2), array(t, 2), array(t, 3), array(t, 2))
    paths = (array(t), array(t, 2), array(t, 3), array(t, 2), array(types.uint8))
    T, word = np.dtype(dtype).type, np.uint32(1)
    numbers = map(T, (0.0, 1.0, 1.0, 1.0, 1.0))
    counter, saving = Counter(word, word, word, word), Saving(0, -1, 0, peaks=True)
    run = RunParameters(counter, 0, 10, 32, 1, saving, True, *numbers)
    arrays = types.NamedTuple((*tables, *paths), RunArrays)
    return solver_cuda.compiled(kernel_spec_of(plan)), (typeof(run), arrays)


def rode_averages_kernel(dtype, count):
    """Return the kernel that sums a path with `count` weights, and its argument types."""
    from rode._paths.averages import cuda as averages_cuda

    t = f4 if dtype == "float32" else f8
    signature = (array(t), i8, i8, i8, i8, t, boolean, array(t, 2))
    return averages_cuda.sums_kernel(dtype, count), signature


def tmd_kernel(algorithm, division, phase):
    """Return the kernel of a phase of a Boolean test, and its argument types."""
    from tmd._search.boolean_test_formulas import DIVISIONS
    from tmd._search.cuda import kernels_for

    number = NUMBERS.get(DIVISIONS[division][1], u8)
    kernels = kernels_for(algorithm, division)
    if phase == 1:
        return kernels.test_subdomains, phase_1_signature(number)
    return kernels.test_pieces, phase_2_signature(number)


def _table() -> dict:
    from tmd._search.boolean_test_formulas import ALGORITHMS, DIVISIONS

    table = {}
    for pattern, odds in {"ab": (0,), "aa": (0, 1), "esoteric": (0, 1)}.items():
        for odd, precision, walls in itertools.product(
            odds, ("float32", "float64", "float16"), ("none", "faces", "solids")
        ):
            case = pattern, odd, precision, walls
            table["lbm step " + " ".join(map(str, case))] = lambda c=case: lbm_kernel(*c)
    for number, case in enumerate(RODE_CASES):
        table[f"rode solver {number} {case[1]}"] = lambda c=case: rode_kernel(*c[:5])
    for case in (("float32", 2), ("float64", 3)):
        table[f"rode averages {case}"] = lambda c=case: rode_averages_kernel(*c)
    for case in itertools.product(ALGORITHMS, DIVISIONS, (1, 2)):
        table[f"tmd {case[0]} {case[1]} phase {case[2]}"] = lambda c=case: tmd_kernel(*c)
    return table


GENERATED = _table()
"""Functions by name; each returns a kernel and its argument types."""
