"""Generated kernels: their source, and registers, spills and float64 operations on sm_90."""

from pathlib import Path

import numpy as np
import pytest

from compile_cuda import allowed_spills, compile_kernel
from hetero.cuda.driver import SIMULATOR
from lbm import TRT
from lbm.__main__ import main
from lbm._commands.kernels import OPERATIONS
from lbm.lattices import D3Q19, D3Q27

compiled = pytest.mark.skipif(SIMULATOR, reason="the simulator compiles nothing")
GOLDEN = Path(__file__).parent / "data" / "step-esoteric-float32-faces.py.txt"

BUDGETS = [
    # pattern, odd step, precision, walls, registers
    ("ab", 0, "float32", "faces", 64),
    ("esoteric", 0, "float32", "faces", 64),
    ("esoteric", 1, "float32", "solids", 72),
    ("aa", 1, "float32", "none", 64),
    ("ab", 0, "float64", "faces", 96),
    ("ab", 0, "float16", "faces", 80),
]
BUDGETS_OF_D3Q27 = [
    ("ab", 0, "float32", "none", 80),
    ("ab", 0, "float32", "faces", 80),
    ("esoteric", 0, "float32", "faces", 72),
    ("esoteric", 1, "float32", "solids", 88),
    ("ab", 0, "float64", "faces", 128),
    ("ab", 0, "float16", "faces", 104),
]


@compiled
@pytest.mark.parametrize(
    ("lattice", "pattern", "odd", "precision", "walls", "registers"),
    [(D3Q19, *row) for row in BUDGETS] + [(D3Q27, *row) for row in BUDGETS_OF_D3Q27],
)
def test_step_compiles_within_its_budget(lattice, pattern, odd, precision, walls, registers):
    from generated_kernels import lbm_signature
    from lbm._engines.cuda_kernels import make_kernel

    kernel = make_kernel("step", pattern, odd, precision, walls, TRT, False, lattice)
    report = compile_kernel(kernel, lbm_signature(precision))
    assert report.spills <= allowed_spills()
    assert report.registers <= registers
    if precision != "float64":
        assert report.opcodes(".f64") == 0


@compiled
@pytest.mark.parametrize(("precision", "registers"), [("float32", 40), ("float64", 48)])
def test_the_kernel_of_moving_walls_compiles_within_its_budget(precision, registers):
    from numba import from_dtype, types

    from lbm._engines.cuda_walls import make_wall_adder

    T = from_dtype(np.dtype(precision))
    table = types.Array(T, 2, "C")
    signature = types.Array(types.int32, 1, "C"), types.Array(types.uint8, 3, "C"), table, table
    report = compile_kernel(make_wall_adder(precision, D3Q19), signature)
    assert report.spills == 0
    assert report.registers <= registers
    assert precision == "float64" or report.opcodes(".f64") == 0


@compiled
def test_nothing_is_written_to_local_memory_before_it_is_needed():
    """Filling a local array with zeros in every thread may cost float64 a third of its speed."""
    from generated_kernels import lbm_signature
    from lbm._engines.cuda_kernels import make_kernel

    kernel = make_kernel("step", "ab", 0, "float64", "faces", TRT, False)
    ptx = compile_kernel(kernel, lbm_signature("float64")).ptx
    assert "st.local" not in ptx[: ptx.index("ld.global.f64")]


def test_the_printed_kernel_is_the_golden_file(capsys):
    """After an intended change: python -m lbm kernel > tests/lbm/data/(name of the file)."""
    assert main(["kernel"]) == 0
    assert capsys.readouterr().out == GOLDEN.read_text()


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_kernel_can_be_printed(operation, capsys):
    from lbm._engines.cuda_kernels import SOURCES

    assert set(SOURCES) == set(OPERATIONS)
    arguments = ["--storage", "float16", "--walls", "solids", "--pattern", "aa", "--odd"]
    assert main(["kernel", "--operation", operation, *arguments]) == 0
    compile(capsys.readouterr().out, "kernel", "exec")
