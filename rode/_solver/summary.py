"""The work and the settings of a run, which its result names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hetero.compile_cache.fingerprint import UnknownValueError, fingerprint_of_results
from hetero.compile_cache.sources import SourcesChangedError
from rode.problems.calls import RESULTS

if TYPE_CHECKING:
    from rode._solver.plan import Plan
    from rode.problems.problem import Problem


@dataclass(frozen=True)
class Work:
    """Work of a run: paths, coarse steps of each, fine steps of all, normal numbers drawn."""

    paths: int
    coarse_steps: int
    fine_steps: int
    normals: int


def work_of(plan: Plan) -> Work:
    """Return the work that the run of a plan does."""
    fine_steps, done = plan.fine_steps or 1, plan.paths * plan.steps
    if plan.problem.excitation is not None:
        sources = plan.problem.excitation.sources()
        numbers = sum(len(s.F) + len(s.C) * (plan.scheme.form_count + 1) for s in sources)
        return Work(plan.paths, plan.steps, done, done * numbers)
    if plan.is_exact:
        return Work(plan.paths, plan.steps, done, done * (plan.scheme.form_count + 1))
    return Work(plan.paths, plan.steps, done * fine_steps, done * fine_steps)


def settings_of(plan: Plan) -> dict[str, Any]:
    """Return everything but the problem's functions that makes the results, as values of JSON."""
    problem = plan.problem
    return {
        "problem": problem.name,
        "outputs": list(problem.outputs),
        "parameters": problem.parameters[:, 0].tolist() if problem.sets == 1 else "of each path",
        "process": repr(problem.excitation or problem.process),
        "start_process": problem.start_process,
        "start_numbers": list(problem.start_numbers),
        "method": plan.scheme.name,
        "t0": plan.t0,
        "h": plan.h,
        "steps": plan.steps,
        "fine_steps": plan.fine_steps,
        "sampling": "exact" if plan.is_exact else "path",
        "save_every": plan.save_every,
        "reduction": [repr(one) for one in plan.reductions],
        "dtype": plan.dtype,
        "normals": plan.normals,
        "key": [int(word) for word in plan.key],
    } | (
        {}
        if problem.excitation is None
        else {"hash of excitation": plan.excited(drawn=False)[1].digest()}
    )


def hash_of_functions(problem: Problem) -> str | None:
    """Return a hash of a problem's functions; None if they refer to values that have none."""
    try:
        return fingerprint_of_results(*(getattr(problem, name) for name in RESULTS))
    except (UnknownValueError, SourcesChangedError):
        return None
