"""Generated kernels, compiled for sm_90: registers, no spills, no float64 in float32."""

import numba
import numpy as np
import pytest
from numba import types

from compile_cuda import allowed_spills, compile_kernel
from hetero._driver import SIMULATOR
from lbm import TRT
from lbm.precision import PRECISIONS

pytestmark = pytest.mark.skipif(SIMULATOR, reason="the simulator compiles nothing")

BUDGETS = [
    ("ab", 0, "float32", "faces", 64),
    ("esoteric", 0, "float32", "faces", 64),
    ("esoteric", 1, "float32", "solids", 72),
    ("aa", 1, "float32", "none", 64),
    ("ab", 0, "float64", "faces", 96),
    ("ab", 0, "float16", "faces", 80),
]


def signature(precision):
    form = PRECISIONS[precision]

    def array(dtype, ndim):
        return types.Array(numba.from_dtype(np.dtype(dtype)), ndim, "C")

    T = numba.from_dtype(np.dtype(form.compute))
    places = (array(form.word, 2),) * 2 + (array(form.storage, 2),) * 2
    walls = array(np.uint8, 1), array(np.uint32, 2), array(np.uint8, 3), array(form.compute, 2)
    return (*places, *walls, types.UniTuple(T, 2), types.UniTuple(T, 3), *(types.uint32,) * 8)


@pytest.mark.parametrize(("pattern", "odd", "precision", "walls", "registers"), BUDGETS)
def test_step_compiles_within_its_budget(pattern, odd, precision, walls, registers):
    from lbm._kernels import make_kernel

    kernel = make_kernel("step", pattern, odd, precision, walls, TRT, False)
    report = compile_kernel(kernel, signature(precision))
    assert report.spills <= allowed_spills()
    assert report.registers <= registers
    if precision != "float64":
        assert report.opcodes(".f64") == 0


def test_nothing_is_written_to_local_memory_before_it_is_needed():
    """Zeros for a local array, at the start of every thread, may cost float64 a third."""
    from lbm._kernels import make_kernel

    kernel = make_kernel("step", "ab", 0, "float64", "faces", TRT, False)
    ptx = compile_kernel(kernel, signature("float64")).ptx
    assert "st.local" not in ptx[: ptx.index("ld.global.f64")]
