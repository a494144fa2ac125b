"""Two solutions of one path, by the coarse step h and by 2 h, for multilevel Monte Carlo.

The run has the steps of the finer solution. Its unknowns are those of both solutions, followed by
the process at the start of a pair of steps, the integrals J_0, J_1, .. over the first of them, and
whether the next step is the second. There the integrals of both are joined to those of the double
step: since 2 h - s = h + (h - s) in the first,

    J_d = sum_(k<=d) h^(d-k)/(d-k)! J_k (first) + J_d (second).

So the coarser solution has exactly the law that it has in a run of its own.
"""

# ruff: noqa: RUF005 - Numba joins tuples by +.

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numba import int64

from hetero.jit import scalar
from rode._intrinsics.tuple_algebra import cast, replace_component
from rode._solver.excited_formulas import make_component_of
from rode._solver.plan import Plan
from rode._solver.reductions.reduction import Extent, Fold, Reduction, State
from rode._solver.runner import step_of
from rode.problems import Problem


def with_one_output(problem: Problem, index: int) -> Problem:
    """Return a problem with one of its outputs only."""
    if len(problem.outputs) == 1:
        return problem
    observe = _make_selection(problem.observe, index)
    return replace(problem, observe=observe, outputs=(problem.outputs[index],))


def paired(plan: Plan) -> Plan:
    """Return the plan that solves each path by the step of `plan` and by twice as large ones.

    The problem has one output; that of the paired problem are those of both solutions.
    """
    problem, scheme, h = plan.problem, plan.scheme, plan.h
    components = 1 if problem.excitation is None else problem.excitation.components
    n, forms, count = problem.dimension, scheme.form_count, problem.parameters.shape[0]
    rows = np.zeros((forms, forms + 2))
    rows[:, 2:] = np.eye(forms)
    # Coefficients of O_0, J_0, J_1, .. in the forms; those of averages are 0 for O_h.
    factors = np.array([np.delete(scheme.forms(size, None), 1, axis=1) for size in (h, 2.0 * h)])
    start_rows = count + len(problem.start_numbers)
    table = problem.table[:start_rows, 0]
    step = _make_step(step_of(problem, scheme), n, components, forms, (count, start_rows))
    size = 2 * n + components * (1 + forms) + 1
    doubled = replace(
        problem,
        dimension=size,
        start=_make_start(problem.start, n, size, start_rows),
        observe=_make_observe(problem.observe, n, count),
        parameters=np.append(table, factors.ravel())[:, None],
        outputs=("fine", "coarse"),
        start_numbers=(),
    )
    both = replace(
        scheme,
        forms=lambda h, fine_steps: rows,
        make_additive_step=lambda H, B: step,
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
        return Fold(2 * count + 1, _make_update(self.single.fold.update, count))

    def finish(self, state: State, folded: np.ndarray) -> None:
        """Take the numbers of each solution for its steps."""
        assert self.single.fold is not None
        count = self.single.fold.numbers
        self.single.finish(state, np.stack([folded[0, :count], folded[1, count : 2 * count]]))

    def columns(self, values: Mapping[str, np.ndarray], output: int) -> dict[str, np.ndarray]:
        """Return nothing: there are no statistics over time."""
        return {}


@functools.cache
def _make_selection(observe: Any, index: int) -> Any:
    """Make the function that returns one of the outputs."""

    @scalar(forceinline=True)
    def observe_one(t: Any, x: Any, o: Any, p: Any) -> Any:
        return (observe(t, x, o, p)[index],)

    return observe_one


@functools.cache
def _make_update(update: Any, count: int) -> Any:
    """Make the fold of a functional of steps h and of steps 2 h."""
    last = 2 * count

    @scalar(forceinline=True)
    def update_both(t: Any, h: Any, y: Any, old: Any, is_first: Any) -> Any:
        T = type(h)
        fine = cast(update(t, h, y, old[:count], is_first), h)
        if is_first:
            return fine + fine + (T(0.0),)
        if old[last] < T(0.5):
            return fine + old[count:last] + (T(1.0),)
        return fine + cast(update(t, h + h, y, old[count:last], False), h) + (T(0.0),)

    return update_both


@functools.cache
def _make_start(start: Any, dimension: int, size: int, rows: int) -> Any:
    """Make the function that begins both solutions, each from the first `rows` parameters."""
    nothing = (0.0,) * (size - 2 * dimension)

    @scalar(forceinline=True)
    def start_both(o: Any, p: Any) -> Any:
        like = p[0]
        x = cast(start(o, p[:rows]), like)
        return x + x + cast(nothing, like)

    return start_both


@functools.cache
def _make_observe(observe: Any, dimension: int, count: int) -> Any:
    """Make the function that returns the output of both solutions."""
    end = 2 * dimension

    @scalar(forceinline=True)
    def observe_both(t: Any, z: Any, o: Any, p: Any) -> Any:
        user = p[:count]
        fine = observe(t, z[:dimension], o, user)[0]
        return fine, observe(t, z[dimension:end], o, user)[0]

    return observe_both


@functools.cache
def _make_step(
    step: Any, dimension: int, components: int, forms: int, counts: tuple[int, int]
) -> Any:
    """Make the step of both solutions from that of one.

    The user's functions take the first counts[0] of the parameters, and the factors of the forms
    begin at number counts[1].
    """
    count, begin = counts
    n, end = dimension, 2 * dimension
    sums, last = end + components, end + components * (1 + forms)
    flatten, join = _make_flatten(components, forms), _make_join(components, forms)
    fine_forms = _make_forms(components, forms, begin)
    coarse_forms = _make_forms(components, forms, begin + forms * (forms + 1))
    component_of = make_component_of(components)

    @scalar(forceinline=True)
    def step_both(t: Any, z: Any, o: Any, given: Any, p: Any, h: Any) -> Any:
        T, user = type(h), p[:count]
        now, second = flatten(o, given, h)
        fine = step(t, z[:n], o, fine_forms(now, second, p), user, h)
        if z[last] < T(0.5):
            return fine + z[n:end] + now + second + (T(1.0),)
        start, both = z[end:sums], join(z[sums:last], second, h)
        values = coarse_forms(start, both, p)
        coarse = step(t - h, z[n:end], component_of(start), values, user, h + h)
        return fine + coarse + now + second + (T(0.0),)

    return step_both


def _make_flatten(components: int, forms: int) -> Any:
    """Make `flatten(o, given, h)`: O, and the forms one after another, as tuples of numbers."""
    zeros = (0.0,) * (components * forms)

    @scalar(forceinline=True)
    def flatten_one(o: Any, given: Any, h: Any) -> Any:
        return (o,), given

    @scalar(forceinline=True)
    def flatten_several(o: Any, given: Any, h: Any) -> Any:
        result = cast(zeros, h)
        for k in range(forms):
            for c in range(components):
                result = replace_component(result, int64(k * components + c), given[k][c])
        return o, result

    return flatten_one if components == 1 else flatten_several


def _make_join(components: int, forms: int) -> Any:
    """Make `join(first, second, h)`: the integrals over two steps from those over each."""

    @scalar(forceinline=True)
    def join(first: Any, second: Any, h: Any) -> Any:
        T, result = type(h), second
        for c in range(components):
            for d in range(forms):
                total, power = second[d * components + c], T(1.0)
                for k in range(d + 1):
                    total = total + power * first[(d - k) * components + c]
                    power = power * h / T(k + 1)
                result = replace_component(result, int64(d * components + c), total)
        return result

    return join


def _make_forms(components: int, forms: int, begin: int) -> Any:
    """Make `forms_of(start, sums, p)`: a scheme's forms, by factors from parameter `begin` on."""
    zeros, component_of = (0.0,) * components, make_component_of(components)

    def make_form(k: int) -> Any:
        first = begin + k * (forms + 1)

        @scalar(forceinline=True)
        def form(start: Any, sums: Any, p: Any) -> Any:
            result = cast(zeros, p[0])
            for c in range(components):
                total = p[first] * start[c]
                for d in range(forms):
                    total = total + p[first + 1 + d] * sums[d * components + c]
                result = replace_component(result, int64(c), total)
            return (component_of(result),)

        return form

    def append(before: Any, after: Any) -> Any:
        @scalar(forceinline=True)
        def forms_of(start: Any, sums: Any, p: Any) -> Any:
            return before(start, sums, p) + after(start, sums, p)

        return forms_of

    result = make_form(0)
    for k in range(1, forms):
        result = append(result, make_form(k))
    return result
