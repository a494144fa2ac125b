"""Two solutions of one path, by the coarse step h and by 2 h, for multilevel Monte Carlo.

The run has the steps of the finer solution. Its unknowns are those of both solutions, followed by
the process at the start of a pair of steps, the integrals J_0, J_1, .. over the first of them, and
whether the next step is the second. There the integrals of both are joined to those of the double
step: since 2 h - s = h + (h - s) in the first,

    J_d = sum_(k<=d) h^(d-k)/(d-k)! J_k (first) + J_d (second).

So the coarser solution has exactly the law that it has in a run of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from rode._solver.pair_formulas import (
    make_paired_observe,
    make_paired_start,
    make_paired_step,
    make_paired_update,
    make_selection,
)
from rode._solver.plan import Plan
from rode._solver.reductions.reduction import Extent, Fold, Reduction, State
from rode._solver.runner import step_of
from rode.problems import Problem


def with_one_output(problem: Problem, index: int) -> Problem:
    """Return a problem with one of its outputs only."""
    if len(problem.outputs) == 1:
        return problem
    observe = make_selection(problem.observe, index)
    return replace(problem, observe=observe, outputs=(problem.outputs[index],))


def paired(plan: Plan) -> Plan:
    """Return the plan that solves each path by the step of `plan` and by twice as large ones.

    The problem has one output; that of the paired problem are those of both solutions.
    """
    problem, scheme, h = plan.problem, plan.scheme, plan.h
    components = 1 if problem.excitation is None else problem.excitation.components
    n, forms, count = problem.dimension, scheme.form_count, problem.parameters.shape[0]
    rows, at_end = np.zeros((forms, forms + 2)), forms == 1 and scheme.forms(h, None)[0, 1] == 1.0
    rows[:, 2:] = np.eye(forms)
    # Coefficients of O_0, J_0, J_1, .. in the forms; only that which is O_h itself takes O_h.
    factors = np.array([np.delete(scheme.forms(size, None), 1, axis=1) for size in (h, 2.0 * h)])
    if at_end:
        rows = scheme.forms(h, None)
    start_rows = count + len(problem.start_numbers)
    table = problem.table[:start_rows, 0]
    step = make_paired_step(
        step_of(problem, scheme), n, components, forms, (count, start_rows), at_end
    )
    size = 2 * n + components * (1 + forms) + 1
    doubled = replace(
        problem,
        dimension=size,
        start=make_paired_start(problem.start, n, size, start_rows),
        observe=make_paired_observe(problem.observe, n, count),
        parameters=np.append(table, factors.ravel())[:, None],
        outputs=("fine", "coarse"),
        start_numbers=(),
    )
    both = replace(
        scheme,
        forms=lambda h, fine_steps: rows,
        make_additive_step=lambda H, B: step,
        make_general_step=lambda f: step,
        linear_only=False,
    )
    reductions = tuple(
        one if one.fold is None else PairedFunctional(one) for one in plan.reductions
    )
    return replace(plan, problem=doubled, scheme=both, reductions=reductions)


class PairedFunctional(Reduction):
    """A functional of both solutions; that of the coarser one sees every second step.

    The arrays of the state are those of the functional, with a row for each solution.
    """

    needs_times = False

    def __init__(self, single: Reduction) -> None:
        self.single, self.name, self.axes = single, single.name, MappingProxyType(dict(single.axes))

    def begin(self, extent: Extent) -> State:
        """Return an empty state: a part has no numbers before its last step."""
        return {}

    @property
    def fold(self) -> Fold:
        """Numbers for steps of h, for steps of 2 h, and whether the next step is a second one."""
        assert self.single.fold is not None
        count = self.single.fold.numbers
        return Fold(2 * count + 1, make_paired_update(self.single.fold.update, count))

    def finish(self, state: State, folded: np.ndarray) -> None:
        """Take the numbers of each solution for its steps."""
        assert self.single.fold is not None
        count = self.single.fold.numbers
        self.single.finish(state, np.stack([folded[0, :count], folded[1, count : 2 * count]]))

    def columns(self, values: Mapping[str, np.ndarray], output: int) -> dict[str, np.ndarray]:
        """Return nothing: there are no statistics over time."""
        return {}
