"""Two solutions of one path, by the coarse step h and by 2 h, for multilevel Monte Carlo.

The run has the steps of the finer solution. Its unknowns are those of both solutions, followed by
the process at the start of a pair of steps, the integrals J_0, J_1, .. over the first of them, and
whether the next step is the second. There the integrals of both are joined to those of the double
step: since 2 h - s = h + (h - s) in the first,

    J_d = sum_(k<=d) h^(d-k)/(d-k)! J_k (first) + J_d (second).

So the coarser solution has exactly the law that it has in a run of its own.
"""

from __future__ import annotations

import functools
import math
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from rode._estimators import pair_formulas
from rode._solver.plan import MAX_UNROLLED, Plan, is_large_frame
from rode._solver.reductions.reduction import Fold, Reduction, State
from rode._solver.runner import step_of
from rode._solver.schemes.scheme import Scheme
from rode.problems.problem import Problem


def with_one_output(problem: Problem, index: int) -> Problem:
    """Return a problem with one of its outputs only."""
    if len(problem.outputs) == 1:
        return problem
    observe = pair_formulas.make_selection(problem.observe, index)
    frame = None if problem.frame is None else (problem.frame[index],)
    return replace(problem, observe=observe, outputs=(problem.outputs[index],), frame=frame)


def paired(plan: Plan) -> Plan:
    """Return the plan that solves each path by the step of `plan` and by twice as large ones.

    The problem has one output; that of the paired problem are those of both solutions.
    """
    problem, scheme, h = plan.problem, plan.scheme, plan.h
    if is_large_frame(problem):
        raise ValueError(
            f"problem must not be a frame of more than {MAX_UNROLLED} storeys, whose two solutions "
            "of a path take too long to compile; use rode.solve"
        )
    n, count, components = problem.dimension, problem.parameters.shape[0], problem.components
    forms = _forms_of(scheme)
    rows = np.zeros((forms.number, forms.number + 2))
    rows[:, 2:] = np.diag(h ** -np.arange(1.0, forms.number + 1.0))
    if forms.at_end:
        rows = scheme.forms(h, None)
    start_rows = count + len(problem.start_numbers)
    step = pair_formulas.make_paired_step(step_of(problem, scheme), n, components, count, forms)
    size = 2 * n + components * (1 + forms.number) + 1
    doubled = replace(
        problem,
        dimension=size,
        start=pair_formulas.make_paired_start(problem.start, n, size, start_rows, components),
        observe=pair_formulas.make_paired_observe(problem.observe, n, count),
        parameters=problem.table[:start_rows],
        outputs=("fine", "coarse"),
        start_numbers=(),
        frame=None,
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


class PairForms(NamedTuple):
    """Forms of a scheme over O_0 and J_d/h^(d+1), which do not depend on h but for its power.

    Attributes
    ----------
    number : number of forms
    at_end : whether the only form is O at the end of the step, that of a double step that of its
        second half
    fine : coefficients of O_0 and the integrals of a step, row by row
    coarse : those of a double step, of O_0 and the integrals of both of its halves
    degrees : power of h of each form
    """

    number: int
    at_end: bool
    fine: tuple[float, ...]
    coarse: tuple[float, ...]
    degrees: tuple[int, ...]


@functools.cache
def _forms_of(scheme: Scheme) -> PairForms:
    """Return the forms of a scheme for steps of 1, from which those of others follow."""
    one, two = (scheme.forms(size, None) for size in (1.0, 2.0))
    count = scheme.form_count
    if two[0, 1] == 1.0:
        return PairForms(count, True, (), (), ())
    one = np.delete(one, 1, axis=1)
    # A form of degree e takes J_d by h^(e-d-1) and O_0 by h^e.
    scaled = np.delete(two, 1, axis=1) * 2.0 ** np.arange(count + 1)
    largest = np.argmax(np.abs(one), axis=1)[:, None]
    ratios = np.take_along_axis(scaled, largest, 1) / np.take_along_axis(one, largest, 1)
    degrees = tuple(int(e) for e in np.round(np.log2(ratios[:, 0])))
    # J_d of both halves of a step of 1, over (1/2)^(d+1), give that of the whole step.
    half = 0.5 ** np.arange(1, count + 1)
    first = [
        [0.5 ** (d - k) / math.factorial(d - k) * half[k] if k <= d else 0.0 for k in range(count)]
        for d in range(count)
    ]
    coarse = np.hstack([one[:, :1], one[:, 1:] @ np.array(first), one[:, 1:] * half])
    return PairForms(count, False, tuple(one.ravel()), tuple(coarse.ravel()), degrees)


class PairedFunctional(Reduction):
    """A functional of both solutions; that of the coarser one sees every second step.

    The arrays of the state are those of the functional, with a row for each solution.
    """

    needs_times = False

    def __init__(self, single: Reduction) -> None:
        self.single, self.name, self.axes = single, single.name, MappingProxyType(dict(single.axes))

    @property
    def fold(self) -> Fold:
        """Numbers for steps of h, for steps of 2 h, and whether the next step is a second one."""
        assert self.single.fold is not None
        count = self.single.fold.numbers
        return Fold(2 * count + 1, pair_formulas.make_paired_update(self.single.fold.update, count))

    def finish(self, state: State, folded: np.ndarray) -> None:
        """Take the numbers of each solution for its steps."""
        assert self.single.fold is not None
        count = self.single.fold.numbers
        self.single.finish(state, np.stack([folded[0, :count], folded[1, count : 2 * count]]))
