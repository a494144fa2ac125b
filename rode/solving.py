"""Monte Carlo over paths of a random ordinary differential equation."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from hetero import region
from rode._solver.plan import Plan
from rode.problems import Problem
from rode.results import Reduction, Result

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from hetero.devices import Device
    from rode.normals import Seed


LOGGER = logging.getLogger(__name__)


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
    reduction: Reduction | Sequence[Reduction] | None = None,
    save_every: int = 1,
    dtype: DTypeLike = np.float64,
    normals: str | None = None,
    first_path: int = 0,
    threads_per_path: int | None = None,
    progress: bool = False,
    device: Device | str | None = None,
) -> Result:
    """Solve for many paths of the process and reduce their outputs.

    Parameters
    ----------
    problem : rode.Problem
    method : {"euler", "averaged-euler", "averaged-heun", "K-rode-taylor"}
        K from 1 to 8, for linear H only: "3-rode-taylor".
    t_span : start and end in s
    h : coarse step in s, which divides the span
    delta : fine step of the process in s, which divides h; by default as fine as the method's order
        requires (sampling "path"), or the limit of ever finer steps ("exact")
    paths : number of paths
    sampling : {"path", "exact"}
        "exact", for additive noise only, draws the sums that a coarse step needs from their joint
        normal distribution: K + 1 numbers instead of h/delta. Results have the same distribution.
    rng : None, int, SeedSequence or NumPy Generator
    reduction : None or "paths", "moments", "peaks", `Quantiles(..)`, or a tuple of them
        Paths themselves are stored only if requested.
    save_every : coarse steps from one saved time to the next; the start is saved too
    dtype : {float64, float32}, the type of the solver
    normals : None, "float32" in a float64 solver, or "fast" in a float32 solver: normal numbers by
        the methods "box-muller" and "box-muller-fast" of `rode.normal`
    first_path : number of the first path; ranks that share the work use disjoint ranges
    threads_per_path : on a GPU, a power of two up to 32; by default enough threads to fill it. The
        last digits of sums depend on this number.
    progress : whether to show a progress bar on the terminal
    device : the device that solves; by default a GPU if one is usable and the work is large

    Returns
    -------
    Result

    Raises
    ------
    TypeError, ValueError
        If, before anything runs, h is not stable or does not divide the span, delta does not divide
        h, there are no paths, a Taylor scheme is used for a problem that is not linear, a number is
        NaN, or a function fails at the start of the first path. TypeError if a function cannot be
        compiled; the message has its name, the line and a remedy.
    MemoryError
        If, before anything runs, too little memory is free. The message says how much the run
        needs, how much is free, and which settings need less.

    Notes
    -----
    Ctrl-C ends a run within a second.
    """
    plan = Plan.checked(
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
        device=device,
    )
    return run(plan, progress=progress)


def run(plan: Plan, *, progress: bool = False) -> Result:
    """Compute what a plan says, if the memory suffices."""
    LOGGER.info(
        "%s: %d paths, %d steps by %s with %s fine steps each, %s, on %s",
        *(plan.problem.name, plan.paths, plan.steps, plan.scheme.name),
        *(plan.fine_steps or "exact sums instead of", plan.dtype, plan.device),
    )
    with plan.device.active(), region("rode solve"):
        from rode._problems.compile_errors import named_compile_errors
        from rode._solver.memory_forecast import require_memory
        from rode._solver.runner import Solver

        require_memory(plan)
        with named_compile_errors(plan.problem, plan.dtype):
            return Solver(plan).run(show_progress=progress)
