"""The functions that loops are compiled from for a plan."""

from __future__ import annotations

import functools
from typing import Any

from rode._solver.excited import Shape
from rode._solver.kernel_arguments import KernelSpec
from rode._solver.plan import Plan
from rode._solver.reductions.peaks import PEAKS
from rode._solver.reductions.reduction import chain_folds
from rode._solver.schemes.scheme import Scheme
from rode.problems import Problem


def kernel_spec_of(plan: Plan, shape: Shape | None = None) -> KernelSpec:
    """Return the functions that a plan compiles; `shape` is that of its excitation.

    Runs without a fold have that of the peaks, so that they share the code of one that has it.
    """
    from rode._problems.functions import fields_of
    from rode._solver.excited_formulas import make_observe

    problem, scheme = plan.problem, plan.scheme
    parameters, rows = problem.parameters.shape[0], len(problem.start_numbers)
    if plan.kind == "frame":  # functions that all frames share
        from rode._solver.frame_loops import keep_forms, make_start, observe_value

        step, observe, start = keep_forms, observe_value, make_start(scheme.form_count)
        parameters, rows = 1, 0
    else:
        step, observe, start = step_of(problem, scheme), problem.observe, problem.start
        observe = observe if shape is None else make_observe(observe, shape)
    folds = [fold for one in plan.reductions if (fold := one.fold) is not None]
    return KernelSpec(
        kind=plan.kind,
        step=step,
        observe=observe,
        start=start,
        fold=functools.reduce(chain_folds, folds or [PEAKS.fold]),
        fields=fields_of(problem.G, problem.g) if plan.kind == "separable" else None,
        dtype=plan.dtype,
        normals=plan.normals,
        form_count=scheme.form_count,
        averages=scheme.averages if scheme.uses_fine_steps else "start",
        dimension=problem.dimension if shape is None else shape.unknowns,
        parameters=parameters,
        table_rows=parameters + rows,
        branches=plan.branches is not None,
        excited=shape,
    )


def step_of(problem: Problem, scheme: Scheme) -> Any:
    """Return the compiled step of a scheme for a problem, which `make_plan` has seen to fit."""
    if problem.f is not None:
        assert scheme.make_general_step is not None
        return scheme.make_general_step(problem.f)
    if problem.G is not None:
        assert scheme.make_separable_step is not None
        return scheme.make_separable_step(problem.H)
    if scheme.linear_only and not problem.linear:
        assert scheme.make_nonlinear_step is not None
        derivatives = problem.first_derivative, problem.second_derivative
        return scheme.make_nonlinear_step(problem.H, problem.B, *derivatives)
    return scheme.make_additive_step(problem.H, problem.B)
