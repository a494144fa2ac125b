"""Argument types and budgets of rode's kernels; those of the solver are made for each problem."""

import numpy as np
from numba import typeof, uint8

from kernel_budgets.budget import Budget, array, boolean, f4, f8, i8, u4, u8
from rode._paths.tiles import path_of
from rode.process import Process

_COUNTER = (u4,) * 4
_NAMES = {"float32": f4, "float64": f8, "fast": f4}


def _both(name, signature, single, double) -> dict:
    """Return budgets of a kernel's two variants; `signature` is a function of the type."""
    return {
        f"{name}_float32": Budget(signature(f4), single, float64=False),
        f"{name}_float64": Budget(signature(f8), double),
    }


def _path(real):
    dtype = np.float32 if real is f4 else np.float64
    return typeof(path_of(Process(), 0.1, dtype, (np.uint32(1),) * 2, 0, 0)[0])


def _normals() -> dict:
    direct = {
        "box_muller": (48, 32),
        "branching": (64, 64),
        "blending": (64, 64),
    }
    budgets = {}
    for name, registers in direct.items():
        budgets |= _both(name, lambda t: (*_COUNTER, u4, u4, array(t)), *registers)
        budgets |= _both(f"rest_{name}", lambda t: (*_COUNTER, u4, u4, u4, array(t)), *registers)
    for name in ("fast_float32", "inverse_float32"):
        budgets[name] = Budget((*_COUNTER, u4, u4, array(f4)), 56, float64=False)
        budgets[f"rest_{name}"] = Budget((*_COUNTER, u4, u4, u4, array(f4)), 56, float64=False)
    budgets = {f"_normals.cuda.{name}": budget for name, budget in budgets.items()}
    for kernel in ("ziggurat", "ziggurat_shared"):
        name = f"_normals.ziggurat.cuda.{kernel}"
        budgets |= _both(name, lambda t: (*_COUNTER, u4, u4, array(t), array(t)), 80, 80)
    name = "_normals.ziggurat.cuda.rest_ziggurat"
    budgets |= _both(name, lambda t: (*_COUNTER, u4, u4, u4, array(t), array(t)), 80, 80)
    name = "_normals.wallace.cuda.wallace"
    budgets |= _both(name, lambda t: (*_COUNTER, u4, boolean, boolean, array(t)), 48, 56)
    return {f"rode.{name}": budget for name, budget in budgets.items()}


def _paths() -> dict:
    def word(t):
        return u4 if t is f4 else u8

    def scan(t):
        return (_path(t), array(t, 2), array(t, 3), array(t), boolean, array(t, 2))

    def long(t):
        flags = (array(word(t)), array(word(t)))
        return (_path(t), array(t), array(t, 3), array(t), *flags, boolean, array(t))

    def bridge(t):
        return (_path(t), array(t, 3), t, array(t), boolean, array(t))

    budgets = _both("scan", scan, 64, 96) | _both("scan_noise", scan, 64, 96)
    budgets |= _both("short", scan, 40, 48) | _both("short_noise", scan, 40, 48)
    budgets |= _both("long", long, 64, 80) | _both("long_noise", long, 64, 80)
    budgets |= _both("bridge", bridge, 64, 80)
    for name, signature in (("scan", scan), ("short", scan), ("long", long), ("bridge", bridge)):
        budgets[f"{name}_fast"] = Budget(signature(f4), 64, float64=False)
    budgets |= _both("begin", lambda t: (_path(t), t, t, array(t)), 40, 48)
    budgets |= _both("clear", lambda t: (array(word(t)), array(word(t)), word(t)), 32, 32)
    swept = _both("sweep", lambda t: (array(t), array(t), t, array(t), array(t)), 40, 40)
    swept |= _both("fix", lambda t: (array(t), array(t), array(t), t), 40, 40)
    return {f"rode._paths.cuda.{name}": budget for name, budget in budgets.items()} | {
        f"rode._paths.prefix_sum.cuda.{name}": budget for name, budget in swept.items()
    }


def _statistics() -> dict:
    budgets = {}
    for name, real in (("float32", f4), ("float64", f8)):
        sums = Budget((array(real, 2), array(f8), array(f8)), 64)  # sums are of float64
        budgets[f"rode._solver.reductions.cuda.sum_rows_{name}"] = sums
        budgets[f"studies.rode.normality.cuda.count_{name}"] = Budget(
            (array(real), array(real), array(i8), array(f8, 2)), 128
        )
    budgets |= _both(
        "rode._solver.reductions.cuda.select_rank",
        lambda t: (array(t, 2), array(i8), array(t, 2)),
        40,
        40,
    )
    rows, counts = array(f8, 2), array(i8, 2)
    budgets["rode._solver.reductions.cuda.count_interval"] = Budget(
        (rows, rows, rows, counts, counts), 40
    )
    budgets["rode._solver.reductions.cuda.collect_interval"] = Budget(
        (rows, rows, rows, counts, array(f8)), 40
    )
    states = array(uint8), array(i8)
    budgets |= _both(
        "rode._solver.reductions.cuda.count_nonfinite",
        lambda t: (array(t), array(t, 2), *states),
        40,
        40,
    )
    budgets |= _both(
        "rode._paths.averages.cuda.finish",
        lambda t: (array(t), i8, array(t, 2), array(t, 2)),
        64,
        64,
    )
    return budgets | _both(
        "rode._paths.averages.cuda.join", lambda t: (array(t, 2), i8, array(t, 2)), 64, 64
    )


KERNELS = _normals() | _paths() | _statistics()
