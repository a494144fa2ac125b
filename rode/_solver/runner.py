"""Runner of `solve`: arrays on the device, windows of time, and the reductions of each window."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hetero import philox
from hetero.arrays import Array, Workspace
from hetero.display.progress_bar import progress
from hetero.distributed.cancellation import StoppedError, current_flag
from rode import _solver
from rode._solver import reductions
from rode._solver.joint_quantiles import (
    Between,
    Brackets,
    Inside,
    bracket_ranks,
    collect_inside,
)
from rode._solver.kernel_arguments import (
    Counter,
    KernelSpec,
    RunArrays,
    RunParameters,
    Saving,
    part_of,
)
from rode._solver.memory_forecast import times_of_window
from rode.results import Quantiles, Result

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from rode._solver.plan import Plan

PROGRESS_STEPS = 100
"""Number of parts of a run between which a progress bar advances."""


class Window(NamedTuple):
    """Coarse steps number `begin` to `end`, after which the saved times among them are reduced.

    `times` are the numbers of these times; the first one, 0, is the start.
    """

    begin: int
    end: int
    times: range


class Solver:
    """State of one run; `run` returns the Result."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.workspace = Workspace(plan.device)
        self.spec = kernel_spec_of(plan)
        self.outputs = len(plan.problem.outputs)
        rows, drawing, transfers, parameters = (
            self.to_device(array, plan.dtype) for array in self.matrices()
        )
        paths_with_peaks = plan.paths if "peaks" in plan.reductions else 1
        self.arrays = RunArrays(
            rows=rows,
            drawing=drawing,
            transfers=transfers,
            parameters=parameters,
            o=self.empty((plan.paths,)),
            x=self.empty((plan.problem.dimension, plan.paths)),
            saved=self.empty((1, 1, 1)),
            peaks=self.empty((self.outputs, paths_with_peaks)),
            failed=self.to_device(np.zeros(plan.paths, np.uint8), np.uint8),
        )
        self.stop = current_flag()
        self.reduced = Reductions(self)

    # ---- memory ----

    def to_device(self, array: np.ndarray, dtype: DTypeLike) -> Array:
        """Return the array on the run's device."""
        return self.workspace.input("array", array, dtype).reshape(array.shape)

    def empty(self, shape: tuple[int, ...], dtype: DTypeLike | None = None) -> Array:
        """Return a new array on the run's device, of the solver's data type unless told."""
        return self.workspace.output(shape, dtype or self.plan.dtype).reshape(shape)

    def to_host(self, array: Array) -> np.ndarray:
        """Return the device array as a NumPy array."""
        host: np.ndarray = self.workspace.result(array, array.shape)
        return host

    def matrices(self) -> tuple[np.ndarray, ...]:
        """Return rows, drawing, transfers and parameters; see `RunArrays`."""
        plan = self.plan
        if plan.kind == "separable":
            return np.zeros((1, 1)), np.zeros((1, 1)), np.zeros((1, 1, 1)), plan.problem.table
        rows, drawing = plan.scheme.forms(plan.h, plan.fine_steps), np.zeros((1, 1))
        if plan.kind == "exact":
            from rode._solver.stage_formulas import block_of, exact_blocks

            distribution, size = plan.sums_distribution(), plan.scheme.form_count + 1
            drawing = np.zeros((size, 1 + exact_blocks(self.spec) * block_of(self.spec).size))
            drawing[:, 0], drawing[:, 1 : 1 + size] = distribution.mean, distribution.factor
        return rows, drawing, plan.transfers(), plan.problem.table

    # ---- the run ----

    def run(self, *, show_progress: bool) -> Result:
        """Solve window by window, and return the reductions."""
        plan, reduced = self.plan, self.reduced
        # On a CPU the paths are written where they stay.
        stays = reduced.paths is not None and plan.device.kind == "cpu"
        buffer: Array = None
        if not stays and plan.saves_times:
            buffer = self.empty((times_of_window(plan), self.outputs, plan.paths))
        longest = math.ceil(plan.steps / PROGRESS_STEPS) if show_progress else plan.steps
        calls = [
            (window, begin, min(begin + longest, window.end))
            for window in self.windows()
            for begin in range(window.begin, window.end, longest)
        ]
        for window, begin, end in progress(calls, plan.problem.name, enabled=show_progress):
            arrays, times = self.arrays, window.times
            if times:
                saved = reduced.paths[times.start : times.stop] if stays else buffer[: len(times)]
                arrays = arrays._replace(saved=saved)
            run = part_of(self.parameters(window), begin - window.begin, end - begin)
            _solver.loops(plan.device).integrate(self.spec, run, arrays, self.stop)
            if self.stop[0]:
                raise StoppedError("another part of this work failed or was interrupted")
            if times and end == window.end:
                reduced.take(times, arrays.saved)
        return reduced.result()

    def windows(self) -> Iterator[Window]:
        """Yield the windows of the run; the last one may have coarse steps without saved times."""
        plan, begin = self.plan, 0
        if plan.saves_times:
            length = times_of_window(plan)
            for first in range(0, plan.times, length):
                times = range(first, min(first + length, plan.times))
                end = times[-1] * plan.save_every
                yield Window(begin, end, times)
                begin = end
        if begin < plan.steps:
            yield Window(begin, plan.steps, range(0))

    def parameters(self, window: Window) -> RunParameters:
        """Return the numbers of a call that computes a whole window."""
        plan, process = self.plan, self.plan.problem.process
        fine_steps, real = plan.fine_steps or 1, np.dtype(plan.dtype).type
        mu_minus_1, sigma = process.step(plan.h / fine_steps)
        fixed = plan.problem.start_process
        every = plan.save_every if window.times else 0
        return RunParameters(
            counter=Counter(
                *plan.key,
                stream=np.uint32(philox.STREAMS["rode.solve"]),
                first_path=np.uint32(plan.first_path),
            ),
            done=window.begin,
            coarse_steps=window.end - window.begin,
            fine_steps=fine_steps,
            threads_per_path=plan.threads_per_path,
            saving=Saving(
                every=every,
                row=0 if 0 in window.times else -1,
                until=every,
                peaks="peaks" in plan.reductions,
            ),
            stationary=fixed is None,
            t=real(plan.t0),
            h=real(plan.h),
            mu_minus_1=real(mu_minus_1),
            sigma=real(sigma),
            start=real(process.deviation if fixed is None else fixed),
        )


class Reductions:
    """Reductions over paths, accumulated one time window at a time."""

    def __init__(self, solver: Solver) -> None:
        self.solver, plan = solver, solver.plan
        shape, requested = (plan.times, solver.outputs), plan.reductions
        self.levels = [
            q for one in requested if isinstance(one, Quantiles) for q in one.probabilities
        ]
        self.paths: Any = None
        self.mean: Any = None
        self.variance: Any = None
        self.quantiles: Any = None
        if "paths" in requested:
            self.paths = np.empty((*shape, plan.paths), plan.dtype)
        if "moments" in requested:
            self.mean, self.variance = np.empty(shape), np.empty(shape)
        if self.levels:
            self.quantiles = np.empty((len(self.levels), *shape))
        # What parts give for quantiles of all parts: see `_solver.joint_quantiles`.
        self.brackets: Any = None
        self.inside: Any = None
        self.bracketed = next((one for one in requested if isinstance(one, Brackets)), None)
        self.between = next((one for one in requested if isinstance(one, Between)), None)
        if self.bracketed is not None:
            self.brackets = np.empty((2, len(self.bracketed.probabilities), *shape))
        if self.between is not None:
            below = np.empty(self.between.lower.shape, np.int64)
            self.inside = Inside(below, [[[] for _ in range(plan.times)] for _ in below])

    def take(self, times: range, saved: Array) -> None:
        """Reduce the (times, outputs, paths) numbers of some of the saved times."""
        solver, plan = self.solver, self.solver.plan
        loops, paths = reductions.loops(plan.device), plan.paths
        rows_of_times = slice(times.start, times.stop)
        count = saved.shape[0] * saved.shape[1]
        if self.paths is not None and plan.device.kind == "cuda":
            saved.copy_to_host(self.paths[rows_of_times])
        rows = saved.reshape((count, paths))
        if self.mean is not None:
            mean, squares = (solver.empty((count,), np.float64) for _ in range(2))
            loops.compute_moments(rows, mean, squares)
            self.mean[rows_of_times] = solver.to_host(mean).reshape(-1, solver.outputs)
            spread = solver.to_host(squares).reshape(-1, solver.outputs)
            self.variance[rows_of_times] = spread / (paths - 1) if paths > 1 else np.nan
        if self.quantiles is not None:
            self.quantiles[:, rows_of_times] = self._quantiles(loops, rows)
        if self.bracketed is not None:
            self.brackets[:, :, rows_of_times] = self._brackets(loops, rows)
        if self.between is not None:
            self._take_inside(loops, rows, rows_of_times)

    def _quantiles(self, loops: reductions.Loops, rows: Array) -> np.ndarray:
        """Return quantiles of the rows, interpolated linearly between order statistics."""
        paths = self.solver.plan.paths
        position = np.array(self.levels) * (paths - 1)
        low = np.floor(position).astype(np.int64)
        below, above = self._order_statistics(loops, rows, low, np.minimum(low + 1, paths - 1))
        with np.errstate(invalid="ignore"):
            between = below + (position - low) * (above - below)
        between = np.where(position == low, below, between)
        return between.T.reshape(len(self.levels), -1, self.solver.outputs)

    def _brackets(self, loops: reductions.Loops, rows: Array) -> np.ndarray:
        """Return the ends of the intervals, (2, probabilities, times, outputs)."""
        assert self.bracketed is not None
        levels, paths = self.bracketed.probabilities, self.solver.plan.paths
        low, high = np.array([bracket_ranks(q, paths) for q in levels]).T
        ends = np.stack(self._order_statistics(loops, rows, low, high))
        return np.moveaxis(ends, 2, 1).reshape(2, len(levels), -1, self.solver.outputs)

    def _order_statistics(
        self, loops: reductions.Loops, rows: Array, *wanted: np.ndarray
    ) -> list[np.ndarray]:
        """Return for each array of ranks the numbers of these ranks, (rows, ranks).

        A row that has a NaN gives NaN.
        """
        solver, paths = self.solver, self.solver.plan.paths
        ends = [0, paths - 1]  # NaN is sorted to an end
        ranks = np.unique(np.concatenate([*wanted, ends]))
        order_statistics = solver.empty((rows.shape[0], ranks.size))
        loops.select_ranks(rows, solver.to_device(ranks, ranks.dtype), order_statistics)
        values = solver.to_host(order_statistics).astype(np.float64)
        values[np.isnan(values[:, [0, -1]]).any(axis=1)] = np.nan
        return [values[:, np.searchsorted(ranks, one)] for one in wanted]

    def _take_inside(self, loops: reductions.Loops, rows: Array, times: slice) -> None:
        """Count and collect the numbers inside of the intervals of some times."""
        assert self.between is not None
        outputs = self.solver.outputs
        levels = len(self.between.lower)
        lower, upper = (end[:, times].reshape(levels, -1) for end in self.between)
        below, values = collect_inside(loops, self.solver.workspace, rows, lower, upper)
        self.inside.below[:, times] = below.reshape(levels, -1, outputs)
        for k, found in enumerate(values):
            for number, first in enumerate(range(0, len(found), outputs)):
                self.inside.values[k][times.start + number] = found[first : first + outputs]

    def result(self) -> Result:
        """Return the result."""
        solver, plan, arrays = self.solver, self.solver.plan, self.solver.arrays
        t = plan.t0 + plan.h * plan.save_every * np.arange(plan.times)
        loops = reductions.loops(plan.device)
        nonfinite = loops.count_nonfinite(arrays.o, arrays.x, arrays.failed)
        return Result(
            t=t if plan.saves_times else t[:0],
            outputs=plan.problem.outputs,
            work=plan.work,
            status="diverged" if any(nonfinite) else "success",
            message=_message(plan.paths, *nonfinite),
            paths=self.paths,
            mean=self.mean,
            variance=self.variance,
            quantiles=self.quantiles,
            peaks=solver.to_host(arrays.peaks) if "peaks" in plan.reductions else None,
            probabilities=tuple(self.levels),
            path_ranges=(range(plan.first_path, plan.first_path + plan.paths),),
            settings=plan.settings,
        )


def _message(paths: int, at_the_end: int, in_outputs: int) -> str:
    """Return the message of a result: how many paths are not finite, and when."""
    parts = []
    if at_the_end:
        parts.append(f"{at_the_end} of {paths} paths are infinite or NaN at the end")
    if in_outputs:
        parts.append(f"outputs of {in_outputs} of {paths} paths are infinite or NaN at some time")
    return ", ".join(parts) or "all paths are finite"


def kernel_spec_of(plan: Plan) -> KernelSpec:
    """Return the functions that a plan compiles."""
    from rode._problems.functions import fields_of

    problem, scheme, fields = plan.problem, plan.scheme, None
    if plan.kind == "separable":
        assert scheme.make_separable_step is not None  # `Plan.checked` has seen to it
        step = scheme.make_separable_step(problem.H)
        fields = fields_of(problem.G, problem.g)
    elif scheme.linear_only and not problem.linear:
        assert scheme.make_nonlinear_step is not None
        derivatives = problem.first_derivative, problem.second_derivative
        step = scheme.make_nonlinear_step(problem.H, problem.B, *derivatives)
    else:
        step = scheme.make_additive_step(problem.H, problem.B)
    return KernelSpec(
        kind=plan.kind,
        step=step,
        observe=problem.observe,
        start=problem.start,
        fields=fields,
        dtype=plan.dtype,
        normals=plan.normals,
        form_count=scheme.form_count,
        averages=scheme.averages if scheme.uses_fine_steps else "start",
        dimension=problem.dimension,
        parameters=problem.parameters.shape[0],
        table_rows=problem.parameters.shape[0] + len(problem.start_numbers),
    )
