"""Kernels of rode with argument types, so that they can be compiled without a GPU."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numba import boolean, float32, float64, int64, typeof, types, uint8, uint32, uint64

from rode._paths.process import Process
from rode.problems.problem import Problem

_COUNTER = (uint32,) * 4
"""Types of the two words of the key, of the path and of the stream."""


def _real(dtype: str) -> Any:
    return float32 if dtype == "float32" else float64


def _array(kind: Any, ndim: int = 1) -> Any:
    return types.Array(kind, ndim, "C")


def normals_kernel(method: str, dtype: str) -> tuple[Any, tuple]:
    """Return the kernel that fills an array by a method of `rode.normal`, and its argument types.

    For "ziggurat" the table is in shared memory, for "ziggurat, local" in global memory.
    """
    from rode._normals import cuda as direct
    from rode._normals.wallace import cuda as wallace
    from rode._normals.ziggurat import cuda as ziggurat

    numbers = _array(_real(dtype))
    if method == "wallace":
        return getattr(wallace, f"wallace_{dtype}"), (*_COUNTER, uint32, boolean, boolean, numbers)
    if method.startswith("ziggurat"):
        name = "ziggurat" if method.endswith("local") else "ziggurat_shared"
        return ziggurat.KERNELS[f"{name}_{dtype}"], (*_COUNTER, uint32, uint32, numbers, numbers)
    return direct.KERNELS[f"pairs_{method}_{dtype}"], (*_COUNTER, uint32, uint32, numbers)


def process_kernel(name: str, dtype: str) -> tuple[Any, tuple]:
    """Return a kernel of Ornstein-Uhlenbeck paths, and its argument types.

    `name` is "scan" (a warp computes a path), "long" (all blocks compute one) or "bridge" (a warp
    computes a tile between known ends).
    """
    from rode._paths import cuda as paths
    from rode._paths.tiles import path_of

    t, word = _real(dtype), uint32 if dtype == "float32" else uint64
    key = (np.uint32(1), np.uint32(1))
    path = typeof(path_of(Process(), 0.1, np.dtype(dtype), key, 0, 0)[0])
    line, table = _array(t), _array(t, 3)
    signatures = {
        "scan": (path, _array(t, 2), table, line, boolean, _array(t, 2)),
        "long": (path, line, table, line, _array(word), _array(word), boolean, line),
        "bridge": (path, table, t, line, boolean, line),
    }
    return paths.KERNELS[f"{name}_{dtype}"], signatures[name]


def averages_kernel(dtype: str, count: int) -> tuple[Any, tuple]:
    """Return the kernel that sums a path with `count` weights, and its argument types."""
    from rode._paths.averages import cuda as averages

    t = _real(dtype)
    signature = (_array(t), int64, int64, int64, int64, t, boolean, _array(t, 2))
    return averages.sums_kernel(dtype, count), signature


def solver_kernel(
    problem: Problem,
    method: str,
    sampling: str,
    dtype: str,
    normals: str | None = None,
    is_paired: bool = False,
) -> tuple[Any, tuple]:
    """Return the solver's kernel for a problem, and its argument types.

    A paired one solves each path by steps of h and of 2 h, as `rode.expectation` does.
    """
    from rode._estimators.pairs import paired, with_one_output
    from rode._solver import cuda as solver
    from rode._solver.kernel_arguments import Counter, RunArrays, RunParameters, Saving
    from rode._solver.plan import make_plan
    from rode._solver.reductions.reduction import joint_fold
    from rode._solver.runner import kernel_spec_of

    plan = make_plan(
        problem,
        method,
        t_span=(0.0, 1.0),
        h=2.0**-5,
        delta=None if problem.excitation is not None else 2.0**-8,
        paths=100,
        device="cpu",
        sampling=sampling,
        dtype=dtype,
        normals=normals,
    )
    if is_paired:
        plan = paired(replace(plan, fine_steps=None, problem=with_one_output(problem, 0)))
    t = _real(dtype)
    tables = (_array(t, 2), _array(t, 2), _array(t, 3), _array(t, 2))
    paths = (_array(t), _array(t, 2), _array(t, 3), _array(t, 2), _array(uint8))
    excitation = (_array(int64, 2), _array(uint32, 2), *(_array(t, 2),) * 3, _array(t, 4))
    T, word = np.dtype(dtype).type, np.uint32(1)
    numbers = map(T, (0.0, 1.0, 1.0, 1.0, 1.0))
    counter, saving = Counter(word, word, word, word), Saving(0, -1, 0, folds=True)
    run = RunParameters(counter, 0, 10, 32, 0, 1, 1, saving, True, *numbers)
    arrays = types.NamedTuple((*tables, *paths, *excitation), RunArrays)
    shape = None if problem.excitation is None else plan.excited()[0]
    spec = kernel_spec_of(plan, joint_fold(plan.reductions), shape)
    return solver.compiled(spec), (typeof(run), arrays)
