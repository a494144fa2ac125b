"""Generated kernels: their source, and registers, spills and float64 operations on sm_90."""

from pathlib import Path

import numpy as np
import pytest
from numba import from_dtype, types

import generated_kernels
from compile_cuda import allowed_spills, compile_kernel
from kernel_budgets.budget import read_types
from lbm import TRT, Vreman
from lbm.__main__ import main
from lbm._commands.kernels import OPERATIONS
from lbm.lattices import D3Q19, D3Q27

GOLDEN = Path(__file__).parent / "data" / "step-esoteric-float32-faces.py.txt"

SIGNATURES = {
    "step": generated_kernels.lbm_signature,
    "damp": generated_kernels.lbm_damping_signature,
    "accelerate": generated_kernels.lbm_acceleration_signature,
    "survey": generated_kernels.lbm_survey_signature,
    "survey_with_scalar": generated_kernels.lbm_survey_with_scalar_signature,
}
"""Functions of the precision that return argument types, by the operation of a kernel."""


def with_budget(precision, *values, slow=False):
    """Return a case; kernels for other types than float32 have the same source, and are slow."""
    marks = [pytest.mark.slow] * (slow or precision != "float32")
    return pytest.param(precision, *values, marks=marks)


def assert_keeps_budget(kernel, signature, precision, registers):
    report = compile_kernel(kernel, signature)
    assert report.spills <= allowed_spills()
    assert report.registers <= registers
    assert (report.opcodes(".f64") > 0) == (precision == "float64")


@pytest.mark.parametrize(
    ("precision", "operation", "lattice", "pattern", "odd", "walls", "registers"),
    [
        with_budget("float32", "step", D3Q19, "esoteric", 0, "faces", 64),
        with_budget("float32", "step", D3Q19, "esoteric", 1, "solids", 72),
        with_budget("float64", "step", D3Q19, "ab", 0, "faces", 96),
        with_budget("float16", "step", D3Q19, "ab", 0, "faces", 80),
        with_budget("float32", "step", D3Q27, "ab", 0, "faces", 80, slow=True),
        with_budget("float32", "step", D3Q27, "esoteric", 0, "faces", 72),
        with_budget("float64", "step", D3Q27, "ab", 0, "faces", 128),
        with_budget("float16", "step", D3Q27, "ab", 0, "faces", 104),
        with_budget("float32", "damp", D3Q19, "esoteric", 1, "solids", 96),
        with_budget("float16", "damp", D3Q19, "ab", 0, "faces", 104),
        with_budget("float32", "accelerate", D3Q19, "esoteric", 1, "solids", 96),
        with_budget("float16", "accelerate", D3Q19, "ab", 0, "faces", 128),
        with_budget("float16", "survey", D3Q19, "ab", 0, "faces", 80),
        with_budget("float64", "survey", D3Q19, "esoteric", 1, "solids", 96),
        with_budget("float32", "survey_with_scalar", D3Q19, "esoteric", 0, "solids", 64),
        with_budget("float16", "survey_with_scalar", D3Q19, "ab", 0, "faces", 80),
        with_budget("float64", "survey_with_scalar", D3Q19, "esoteric", 1, "solids", 96),
    ],
)
def test_kernels_compile_within_their_budgets(
    precision, operation, lattice, pattern, odd, walls, registers
):
    from lbm._kernels.gpu.kernels import make_kernel

    kernel = make_kernel(operation, pattern, odd, precision, walls, TRT, False, lattice)
    assert_keeps_budget(kernel, SIGNATURES[operation](precision), precision, registers)


@pytest.mark.parametrize(("precision", "walls", "of_step", "of_viscosity"), [
    with_budget("float32", "faces", 72, 40), with_budget("float16", "solids", 104, 56),
    with_budget("float64", "none", 152, 48),
])  # fmt: skip
def test_kernels_of_eddy_viscosities(precision, walls, of_step, of_viscosity):
    from lbm._coupled.eddy_viscosity.cuda import make_update_kernel
    from lbm._kernels.gpu.kernels import make_kernel

    step = make_kernel("step", "esoteric", 0, precision, walls, Vreman, False)
    signature = generated_kernels.lbm_signature_of(Vreman(0.6), precision)
    assert_keeps_budget(step, signature, precision, of_step)
    signature = generated_kernels.lbm_eddies_signature(precision)
    update = make_update_kernel(Vreman.eddy_viscosity, precision)
    assert_keeps_budget(update, signature, precision, of_viscosity)


@pytest.mark.parametrize(
    ("precision", "registers"), [with_budget("float32", 40), with_budget("float64", 48)]
)
def test_the_kernel_of_moving_walls(precision, registers):
    from lbm._kernels.gpu.walls import make_wall_adder

    table = types.Array(from_dtype(np.dtype(precision)), 2, "C")
    signature = types.Array(types.int32, 1, "C"), types.Array(types.uint8, 3, "C"), table, table
    assert_keeps_budget(make_wall_adder(precision, D3Q19), signature, precision, registers)


@pytest.mark.parametrize("name", generated_kernels.LBM_ITEMS)
@pytest.mark.parametrize("precision", [*map(with_budget, ["float16", "float32", "float64"])])
def test_the_kernels_of_loops_over_items(name, precision):
    registers, _ = generated_kernels.LBM_ITEMS[name]
    assert_keeps_budget(*generated_kernels.lbm_item_kernel(name, precision), precision, registers)


def test_the_kernel_of_sums_over_bodies():
    from lbm._coupled.moving_bodies.formulas import advance_sums
    from lbm._kernels.items.cuda import LOOP, make_kernel

    report = compile_kernel(make_kernel(LOOP, advance_sums), read_types("i8 i8** i8*** i8*"))
    assert report.spills <= allowed_spills()
    assert report.registers <= 40


@pytest.mark.parametrize(
    "face", [pytest.param(f, marks=[pytest.mark.slow] * (f not in (0, 3))) for f in range(6)]
)
@pytest.mark.parametrize(("precision", "lattice", "registers"), [
    with_budget("float32", D3Q19, 48), with_budget("float64", D3Q27, 88),
    with_budget("float16", D3Q27, 56),
])  # fmt: skip
def test_the_kernels_of_sheared_outlets(precision, lattice, registers, face):
    from lbm._coupled.open_faces.formulas import make_bend_cell
    from lbm._kernels.items.cuda import LOOP, make_kernel
    from lbm.lattices.precision import PRECISIONS

    form = PRECISIONS[precision]
    T, stored = (from_dtype(np.dtype(kind)) for kind in (form.compute, form.storage))
    signature = (types.int64, types.Array(stored, 1, "C"), types.Array(types.int64, 2, "C"),
                 types.Array(types.uint32, 1, "C"), types.UniTuple(T, 4))  # fmt: skip
    kernel = make_kernel(LOOP, make_bend_cell(precision, lattice, face))
    assert_keeps_budget(kernel, signature, precision, registers)


def test_the_printed_kernel_is_the_golden_file(capsys):
    """After an intended change: python -m lbm kernel > tests/lbm/data/(name of the file)."""
    assert main(["kernel"]) == 0
    assert capsys.readouterr().out == GOLDEN.read_text()


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_kernel_can_be_printed(operation, capsys):
    from lbm._kernels.gpu.kernels import SOURCES

    assert set(SOURCES) == set(OPERATIONS)
    arguments = ["--storage", "float16", "--walls", "solids", "--pattern", "aa", "--odd"]
    assert main(["kernel", "--operation", operation, *arguments]) == 0
    compile(capsys.readouterr().out, "kernel", "exec")
