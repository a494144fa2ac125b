"""Shares of a run: ranges of its paths, which devices, workers or ranks compute."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from hetero.devices import Device
from rode._solver.joint_quantiles import Between, Brackets, Inside
from rode._solver.plan import Plan, choose_threads_per_path
from rode._solver.running import run_plan
from rode.results import Quantiles, Result

MAX_PARTS = 1 << 20
"""Largest number of parts, each of which is a task of its own."""


class Share(NamedTuple):
    """A range of the paths of a run.

    Attributes
    ----------
    plan : plan of these paths; whoever computes them replaces its device
    all_paths : number of paths of the run
    threads_per_path : as the caller requested; None: as many as in a run of all paths, so that
        sums are rounded alike
    """

    plan: Plan
    all_paths: int
    threads_per_path: int | None


@dataclass(frozen=True, eq=False)
class Outcome:
    """Result of a share, and the numbers that quantiles of all shares need of it."""

    result: Result
    brackets: np.ndarray | None
    inside: Inside | None


def split(plan: Plan, parts: int, threads_per_path: int | None) -> list[Share]:
    """Return the shares of a run, nearly equal, whose quantiles can be joined."""
    reductions = tuple(
        Brackets(one.probabilities) if isinstance(one, Quantiles) else one
        for one in plan.reductions
    )
    shares = []
    for k in range(parts):
        low, high = k * plan.paths // parts, (k + 1) * plan.paths // parts
        problem = plan.problem
        if problem.sets > 1:
            problem = replace(problem, parameters=problem.parameters[:, low:high])
        part = replace(
            plan,
            problem=problem,
            paths=high - low,
            first_path=plan.first_path + low,
            reductions=reductions,
        )
        shares.append(Share(part, plan.paths, threads_per_path))
    return shares


def collecting(shares: list[Share], between: Between) -> list[Share]:
    """Return the shares of the second run, which collects what lies inside of intervals."""
    return [share._replace(plan=replace(share.plan, reductions=(between,))) for share in shares]


def compute(share: Share, device: Device) -> Outcome:
    """Compute a share on a device."""
    plan = replace(share.plan, device=device)
    whole = replace(plan, paths=share.all_paths)
    threads = choose_threads_per_path(whole, share.threads_per_path)
    solver, result = run_plan(replace(plan, threads_per_path=threads))
    return Outcome(result, solver.reduced.brackets, solver.reduced.inside)
