"""Every kernel compiles for sm_90 within its budget of registers, spills and float64."""

import importlib
import re

import pytest

from compile_cuda import allowed_spills, compile_kernel, find_kernel
from kernel_budgets import KERNELS
from test_twins import ROOT, modules

WITHOUT_TWIN = [
    *(
        f"sbth._batch.{name}_kernels"
        for name in ("householder", "ql", "rotation", "bisection", "pencil")
    ),
    "sbth._reduction.dense_to_band.panel_kernels",
    "sbth._reduction.dense_to_band.triangle_kernels",
    "sbth._reduction.dense_to_band.update_kernels",
    "sbth._reduction.one_stage.reduction_kernels",
    "sbth._back.triangular_factors",
]
"""Modules of kernels whose counterpart on a CPU is a library."""

BEHIND_A_TWIN = [
    "sbth._reduction.bulge_chasing.chase_kernels",
    "sbth._tridiagonal.divide_and_conquer.merge_kernels",
    "sbth._tridiagonal.divide_and_conquer.product_kernels",
    "tmd._search.gpu.kernels",
    "tmd._search.gpu.translates",
]
"""Modules of kernels that the module `cuda` beside them launches by way of another one."""


def _is_kernel(value) -> bool:
    from numba.cuda.dispatcher import CUDADispatcher

    return isinstance(value, CUDADispatcher) and not value.targetoptions.get("device")


def kernels_in_sources() -> set[str]:
    """Return the names of the kernels in the packages' modules."""
    names = set()
    for path in [f"{topic}.cuda" for topic in modules("cuda")] + WITHOUT_TWIN + BEHIND_A_TWIN:
        module = importlib.import_module(path)
        members = vars(module) | getattr(module, "KERNELS", {})
        names |= {f"{path}.{k}" for k, v in members.items() if _is_kernel(v)}
    return names


def test_the_table_lists_every_kernel():
    assert ROOT.is_dir()
    assert kernels_in_sources() == {name.partition("[")[0] for name in KERNELS}


_DTYPE = re.compile("float16|float32|float64|complex64|complex128")


def _cases():
    """Yield the names of all kernels; of those that differ by dtype only, float32 is not slow."""
    for name, budget in KERNELS.items():
        single = _DTYPE.sub("float32", name)
        is_slow = budget.slow or (single != name and single in KERNELS)
        yield pytest.param(name, marks=[pytest.mark.slow] * is_slow)


@pytest.mark.parametrize("name", list(_cases()))
def test_kernel_compiles_within_its_budget(name):
    budget = KERNELS[name]
    report = compile_kernel(find_kernel(name), budget.signature)
    assert report.spills <= allowed_spills()
    assert report.registers <= budget.registers
    if not budget.float64:
        assert report.opcodes(".f64") == 0
