"""Run a plan on its device, if the memory suffices."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from hetero import region
from rode._solver.plan import Plan
from rode.results import Result

if TYPE_CHECKING:
    from rode._solver.runner import Solver

LOGGER = logging.getLogger(__name__)


def run_plan(plan: Plan, *, show_progress: bool = False) -> tuple[Solver, Result]:
    """Compute what a plan says, if the memory suffices; return the solver and its result."""
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
            solver = Solver(plan)
            return solver, solver.run(show_progress=show_progress)
