"""Kernels that are made for a problem, with their argument types, for `tools/guard.py`."""

import itertools

import numba
import numpy as np
from numba import types

import rode
from kernel_budgets.budget import u8
from kernel_budgets.tmd_kernels import NUMBERS, phase_1_signature, phase_2_signature
from studies.rode.convergence import duffing
from studies.rode.kernels import averages_kernel, solver_kernel


def lbm_signature(precision, rates=2) -> tuple:
    """Return the argument types of a step of `lbm`, whose operator has so many rates."""
    from lbm._model.precision import PRECISIONS

    form = PRECISIONS[precision]

    def of(dtype, ndim):
        return types.Array(numba.from_dtype(np.dtype(dtype)), ndim, "C")

    T = numba.from_dtype(np.dtype(form.compute))
    populations = (of(form.word, 2),) * 2 + (of(form.storage, 2),) * 2
    walls = of(np.uint8, 1), of(np.uint32, 2), of(np.uint8, 3), *(of(form.compute, 2),) * 2
    numbers = types.UniTuple(T, rates), types.UniTuple(T, 3)
    return (*populations, *walls, *numbers, *(types.uint32,) * 8)


def lbm_signature_of(collision, precision="float32") -> tuple:
    """Return the argument types of a step of `lbm` with a collision operator."""
    from lbm._model.precision import PRECISIONS

    types_of_step = lbm_signature(precision, len(collision.rates))
    if not collision.reads_viscosity:
        return types_of_step
    word = numba.from_dtype(np.dtype(PRECISIONS[precision].word))
    return (*types_of_step[:-8], types.Array(word, 1, "C"), *types_of_step[-8:])


def lbm_eddies_signature(precision) -> tuple:
    """Return the argument types of the kernel that computes an eddy viscosity."""
    from lbm._model.precision import PRECISIONS

    form = PRECISIONS[precision]
    T, stored = (numba.from_dtype(np.dtype(kind)) for kind in (form.compute, form.storage))
    fields = types.Array(T, 2, "C"), types.Array(types.uint8, 1, "C"), types.Array(stored, 1, "C")
    return (*fields, T, types.UniTuple(types.int64, 8))


def lbm_survey_signature(precision) -> tuple:
    """Return the argument types of the kernel `survey` of `lbm`."""
    *arrays, _, force, _ = lbm_signature(precision)[:12]
    return (*arrays, force, types.Array(types.int32, 1, "C"), *(types.uint32,) * 8)


def lbm_survey_with_scalar_signature(precision) -> tuple:
    """Return the argument types of the kernel `survey_with_scalar` of `lbm`."""
    survey = lbm_survey_signature(precision)
    T = lbm_signature(precision)[9].dtype
    scalar = types.Array(T, 2, "C"), types.UniTuple(T, 4)
    return (*survey[:-8], *scalar, *survey[-8:])


def lbm_damping_signature(precision) -> tuple:
    """Return the argument types of the kernel `damp` of `lbm`."""
    *arrays, rates, force, _ = lbm_signature(precision)[:12]
    T = rates.dtype
    layer = types.Array(T, 1, "C"), types.Array(T, 2, "C"), types.UniTuple(types.uint32, 5)
    return (*arrays, force, *layer, types.UniTuple(T, 2), *(types.uint32,) * 8)


def lbm_acceleration_signature(precision) -> tuple:
    """Return the argument types of the kernel `accelerate` of `lbm`."""
    *arrays, rates, force, _ = lbm_signature(precision)[:12]
    T = rates.dtype
    fields = (types.Array(T, 2, "C"),) * 2
    return (*arrays, force, *fields, types.UniTuple(T, 4), *(types.uint32,) * 8)


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
    (duffing(), "3-rode-taylor", "path", "float32", None, 96),
]
"""Cases of the solver: problem, method, sampling, dtype, normals, budget of registers."""


def tmd_kernel(algorithm, division, phase):
    """Return the kernel of a phase of a Boolean test, and its argument types."""
    from tmd._search.boolean_test_formulas import DIVISIONS
    from tmd._search.cuda_kernels import kernels_for

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
        table[f"rode solver {number} {case[1]}"] = lambda c=case: solver_kernel(*c[:5])
    for case in (("float32", 2), ("float64", 3)):
        table[f"rode averages {case}"] = lambda c=case: averages_kernel(*c)
    for case in itertools.product(ALGORITHMS, DIVISIONS, (1, 2)):
        table[f"tmd {case[0]} {case[1]} phase {case[2]}"] = lambda c=case: tmd_kernel(*c)
    return table


GENERATED = _table()
"""Functions by name; each returns a kernel and its argument types."""
