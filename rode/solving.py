"""Monte Carlo over paths of a random ordinary differential equation."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hetero import validation
from hetero.distributed.agreement import agree_on_key
from hetero.distributed.engines import Engine
from hetero.distributed.worker_devices import Devices
from rode._solver.checkpoints import checkpoints_of, identity_of, stored_parts
from rode._solver.memory_forecast import require_memory_of_result
from rode._solver.plan import Plan, make_plan
from rode._solver.reductions import Reduction, Requested
from rode._solver.runner import Outcome, compute, describe_failures, run
from rode._solver.summary import hash_of_functions, settings_of, work_of
from rode.problems.problem import Problem
from rode.results.result import Result

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from numpy.typing import DTypeLike

    from rode.normals import Seed

MAX_PARTS = 1 << 20
"""Largest number of parts, each of which is a task of its own."""


def solve(
    problem: Problem,
    method: str,
    *,
    t_span: Sequence[float],
    h: float,
    delta: float | None = None,
    paths: int,
    sampling: str = "path",
    rng: Seed = None,
    reduction: Requested = None,
    save_every: int = 1,
    dtype: DTypeLike = np.float64,
    normals: str | None = None,
    first_path: int = 0,
    threads_per_path: int | None = None,
    parts: int | None = None,
    executor: Executor | None = None,
    comm: Any = None,
    progress: bool = False,
    checkpoint: str | Path | None = None,
    device: Devices = None,
) -> Result:
    """Solve for many paths of the process and reduce their outputs.

    Parameters
    ----------
    problem : rode.Problem
    method : {"euler", "averaged-euler", "averaged-heun", "K-rode-taylor"}
        K from 1 to 8, for linear H only: "3-rode-taylor". Averages of G and g of a separable
        problem are exact for constants and linear functions of time; "averaged-euler-printed" and
        "averaged-heun-printed" take them as printed in (Riesinger 2017), where the double average
        of a constant is 1 + delta/h times the constant.
    t_span : start and end in s
    h : coarse step in s, which divides the span
    delta : fine step of the process in s, which divides h; by default as fine as the method's order
        requires (sampling "path"), or the limit of ever finer steps ("exact")
    paths : number of paths
    sampling : {"path", "exact"}
        "exact", for additive noise only, draws the sums that a coarse step needs from their joint
        normal distribution: K + 1 numbers instead of h/delta. Results have the same distribution.
    rng : None, int, SeedSequence or NumPy Generator
    reduction : None or "paths", "moments", "peaks", `Quantiles(..)`, a `Functional` such as
        `first_passage(..)`, or a tuple of them
        Paths themselves are stored only if requested.
    save_every : coarse steps from one saved time to the next; the start is saved too
    dtype : {float64, float32}, the type of the solver
    normals : None, "float32" in a float64 solver, or "fast" in a float32 solver: normal numbers by
        the methods "box-muller" and "box-muller-fast" of `rode.normal`
    first_path : number of the first path; ranks that share the work use disjoint ranges
    threads_per_path : on a GPU, a power of two up to 32; by default enough threads to fill it. No
        bit of the result depends on it.
    parts : number of ranges that the paths are shared out in; by default one for each device, four
        for each worker of an executor as far as their number is known, one for each rank
        No bit of the result depends on it, if all devices are of one kind. It is at most the number
        of groups of paths that moments are summed in, 1024 or more for as many paths. Quantiles of
        several parts take two runs.
    executor : concurrent.futures.Executor, optional
        Takes the parts: `ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn"))`,
        `mpi4py.futures.MPIPoolExecutor`, or Dask's `Client(...).get_executor()`. Each worker takes
        a GPU of its own if there is one, or its CPU.
    comm : communicator of mpi4py, optional
        All its ranks call `solve` alike, share the parts, and get the same result.
    progress : whether to show a progress bar on the terminal
    checkpoint : path, optional
        Folder that stores each part as soon as it is computed, by whoever has computed it; ranks
        and the caller must see the same folder. If it exists, the run continues from there, with as
        many `parts` as before unless you say. It needs `rng`, and at least some ten `parts` for
        each device or worker, so that little is lost. The files hold arrays and JSON.
    device : the device that solves; by default a GPU if one is usable and the work is large
        Several, such as ["cuda:0", "cuda:1"] or "cuda:all", solve side by side. With an executor or
        `comm`, "cpu" or "cuda": what each worker takes.

    Returns
    -------
    Result

    Raises
    ------
    TypeError, ValueError
        If, before anything runs, h is not stable or does not divide the span, delta does not divide
        h, there are no paths, a Taylor scheme is used for a problem that is not linear, a number is
        NaN, a function fails at the start of the first path, or both an executor and `comm` are
        given. TypeError if a function cannot be compiled; the message has its name, the line and a
        remedy.
    MemoryError
        If, before anything runs, too little memory is free. The message says how much the run
        needs, how much is free, and which settings need less.
    hetero.CheckpointError
        The folder belongs to a run with other settings, or a file in it is damaged.
    RuntimeError
        Quantiles of parts that workers computed on devices of different kinds, or an error of
        another rank.

    Notes
    -----
    Ctrl-C ends a run within a second.
    """
    engine = Engine.create(device, executor, comm)
    is_elsewhere, default_parts = engine.is_elsewhere, engine.count_parts()
    stores = None if checkpoint is None else checkpoints_of("checkpoint", checkpoint, rng)
    with engine.raised_by_all():
        plan = make_plan(
            problem,
            method,
            t_span=t_span,
            h=h,
            delta=delta,
            paths=paths,
            sampling=sampling,
            rng=rng,
            reduction=reduction,
            save_every=save_every,
            dtype=dtype,
            normals=normals,
            first_path=first_path,
            threads_per_path=threads_per_path,
            device=engine.local,
        )
        if parts is None:
            stored = None if stores is None else stored_parts(stores)
            parts = min(plan.paths, stored or default_parts)
        parts = validation.check_integer("parts", parts, 1, min(plan.paths, MAX_PARTS))
        if parts > 1 or is_elsewhere:
            require_memory_of_result(plan)
    if parts == 1 and not is_elsewhere and stores is None:
        outcome = run(plan, show_progress=progress)
        return _result_of(plan, [outcome])
    if comm is not None:  # fresh entropy differs between ranks
        plan = replace(plan, key=agree_on_key(comm, plan.key, rng))
    first, second = (None, None) if stores is None else stores
    split = plan.split(parts)
    with engine.raised_by_all():
        if first is not None and engine.is_root:
            first.open(identity_of(plan, len(split)))
    compute_parts = functools.partial(
        engine.run, compute, device=plan.device, title=problem.name, show_progress=progress
    )
    outcomes = compute_parts(split, checkpoint=first)
    repeated = [
        one.repeat([outcome.states[k] for outcome in outcomes])
        for k, one in enumerate(plan.reductions)
    ]
    again = tuple(one for one in repeated if one is not None)
    if again:
        parts_again = [replace(part, reductions=again) for part in split]
        others = compute_parts(parts_again, checkpoint=second, agreed=True)
        for outcome, other in zip(outcomes, others, strict=True):
            states = iter(other.states)
            for k, one in enumerate(repeated):
                if one is not None:
                    outcome.states[k] = next(states)
    reductions = [new or old for new, old in zip(repeated, plan.reductions, strict=True)]
    return _result_of(plan, outcomes, reductions)


def _result_of(plan: Plan, outcomes: list[Outcome], reductions: Sequence[Reduction] = ()) -> Result:
    """Return the result of a run from the outcomes of its parts, whose states are emptied.

    `reductions` join the states, if not those of the plan.
    """
    failures = describe_failures(outcomes, plan.paths)
    columns = [list(states) for states in zip(*[one.states for one in outcomes], strict=True)]
    outcomes.clear()
    work = work_of(plan)
    settings = settings_of(plan) | {"hash of functions": hash_of_functions(plan.problem)}
    values: dict[str, np.ndarray] = {}
    for one, states in zip(reductions or plan.reductions, columns, strict=True):
        values |= one.join(states, plan.extent)
    t = plan.t0 + plan.h * (plan.save_every * np.arange(plan.times))
    return Result(
        t=t if plan.saves_times else t[:0],
        outputs=plan.problem.outputs,
        work=work,
        status="diverged" if failures else "success",
        message=failures or "all paths are finite",
        values=values,
        reductions=plan.reductions,
        path_ranges=(range(plan.first_path, plan.first_path + plan.paths),),
        settings=settings,
    )
