"""Runner of `solve`: arrays on the device, windows of time, and the reductions of each window."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hetero import philox
from hetero.arrays import Workspace
from hetero.display.progress_bar import progress
from rode import _solver
from rode._solver import reductions
from rode._solver.kernel_arguments import (
    KernelSpec,
    RunArrays,
    RunParameters,
    RunTables,
    part_of,
)
from rode._solver.memory_forecast import rows_of_window
from rode._solver.stopping import StoppedError, current_flag
from rode.results import Quantiles, Reduction, Result

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from hetero.devices import Device
    from rode._solver.plan import Plan

PROGRESS_STEPS = 100
"""Number of parts of a run between which a progress bar advances."""


class RunSettings(NamedTuple):
    """Settings of a run beside its plan.

    Attributes
    ----------
    reductions : checked reductions
    every : coarse steps from one saved time to the next
    first_path : number of the first path
    threads_per_path : on a GPU; 1 on a CPU
    key : Philox key
    show_progress : whether a bar on the terminal shows how far the run is
    """

    reductions: tuple[Reduction, ...]
    every: int
    first_path: int
    threads_per_path: int
    key: tuple[np.uint32, np.uint32]
    show_progress: bool


class Window(NamedTuple):
    """Coarse steps after which outputs are reduced.

    Attributes
    ----------
    done, coarse_steps : coarse steps before the window, and in it
    every : coarse steps from one saved time to the next; 0 saves none
    first, rows : number of the first saved time, and how many are saved
    """

    done: int
    coarse_steps: int
    every: int
    first: int
    rows: int


class Solver:
    """State of one run; `run` returns the Result."""

    def __init__(self, plan: Plan, settings: RunSettings, device: Device) -> None:
        self.plan, self.settings, self.device = plan, settings, device
        self.workspace = Workspace(device)
        self.spec = kernel_spec_of(plan)
        self.outputs = len(plan.problem.outputs)
        self.tables = RunTables(*(self.to_device(a, plan.dtype) for a in self.matrices()))
        self.o = self.empty((plan.paths,))
        self.x = self.empty((plan.problem.dimension, plan.paths))
        paths_with_peaks = plan.paths if "peaks" in settings.reductions else 1
        self.peaks = self.empty((self.outputs, paths_with_peaks))
        self.failed = self.to_device(np.zeros(plan.paths, np.uint8), np.uint8)
        self.stop = current_flag()

    @property
    def saves(self) -> bool:
        """True if outputs are saved at some times, and not only peaks are wanted."""
        return any(one != "peaks" for one in self.settings.reductions)

    # ---- memory ----

    def to_device(self, array: np.ndarray, dtype: DTypeLike) -> Any:
        """Return the array on the run's device."""
        return self.workspace.input("array", array, dtype).reshape(array.shape)

    def empty(self, shape: tuple[int, ...], dtype: DTypeLike | None = None) -> Any:
        """Return a new array on the run's device, of the solver's data type unless told."""
        return self.workspace.output(shape, dtype or self.plan.dtype).reshape(shape)

    def to_host(self, array: Any) -> np.ndarray:
        """Return the device array as a NumPy array."""
        host: np.ndarray = self.workspace.result(array, array.shape)
        return host

    def matrices(self) -> tuple[np.ndarray, ...]:
        """Return rows, drawing, transfers and parameters; see `RunTables`."""
        plan = self.plan
        if plan.kind == "separable":
            return np.zeros((1, 1)), np.zeros((1, 1)), np.zeros((1, 1, 1)), plan.problem.table
        rows = plan.scheme.forms(plan.h, plan.fine)
        drawing = np.zeros((1, 1))
        if plan.kind == "exact":
            from rode._solver.stage_formulas import block_of, exact_blocks

            distribution, size = plan.sums_distribution(), plan.scheme.form_count + 1
            drawing = np.zeros((size, 1 + exact_blocks(self.spec) * block_of(self.spec).size))
            drawing[:, 0], drawing[:, 1 : 1 + size] = distribution.mean, distribution.factor
        transfers = plan.transfers(self.settings.threads_per_path)
        return rows, drawing, transfers, plan.problem.table

    # ---- the run ----

    def run(self) -> Result:
        """Solve window by window, and return the reductions."""
        plan, every = self.plan, self.settings.every
        times = plan.steps // every + 1
        rows = rows_of_window(plan, self.settings.reductions, times, self.device)
        reduced = Reductions(self, times)
        # On a CPU the paths are written where they stay.
        stays = reduced.paths is not None and self.device.kind == "cpu"
        buffer: Any = None
        if not stays and self.saves:
            buffer = self.empty((rows, self.outputs, plan.paths))
        parts = list(self.parts(self.windows(times, rows)))
        for window, begin, end in progress(
            parts, plan.problem.name, enabled=self.settings.show_progress
        ):
            if window.every == 0:
                saved = self.empty((1, 1, 1))
            elif stays:
                saved = reduced.paths[window.first : window.first + window.rows]
            else:
                saved = buffer[: window.rows]
            self.integrate(window, begin, end, saved)
            if window.every and end == window.coarse_steps:
                reduced.take(window.first, saved)
        return reduced.result(plan.t0 + plan.h * every * np.arange(times))

    def windows(self, times: int, rows: int) -> Iterator[Window]:
        """Yield the windows of a run, each with at most `rows` of its saved times."""
        every, last, done = self.settings.every, times - 1, 0
        while self.saves and done < last:
            start = done == 0
            count = min(rows - start, last - done)
            yield Window(done * every, count * every, every, done + (not start), count + start)
            done += count
        if done * every < self.plan.steps:
            yield Window(done * every, self.plan.steps - done * every, 0, 0, 0)

    def parts(self, windows: Iterator[Window]) -> Iterator[tuple[Window, int, int]]:
        """Yield (window, begin, end) for the coarse steps that are computed in one call."""
        longest = self.plan.steps
        if self.settings.show_progress:
            longest = math.ceil(longest / PROGRESS_STEPS)
        for window in windows:
            for begin in range(0, window.coarse_steps, longest):
                yield window, begin, min(begin + longest, window.coarse_steps)

    def integrate(self, window: Window, begin: int, end: int, saved: Any) -> None:
        """Advance all paths by the coarse steps `begin` to `end` of a window."""
        arrays = RunArrays(self.o, self.x, saved, self.peaks, self.failed)
        run = part_of(self.parameters(window), begin, end - begin)
        _solver.loops(self.device).integrate(self.spec, run, self.tables, arrays, self.stop)
        if self.stop[0]:
            raise StoppedError("another part of this work failed or was interrupted")

    def parameters(self, window: Window) -> RunParameters:
        """Return the numbers of a call that computes a whole window."""
        plan, settings, process = self.plan, self.settings, self.plan.problem.process
        fine, T = plan.fine or 1, np.dtype(plan.dtype).type
        mu_minus_1, sigma = process.step(plan.h / fine)
        fixed = plan.problem.start_process
        k0, k1 = settings.key
        return RunParameters(
            k0=k0,
            k1=k1,
            stream=np.uint32(philox.STREAMS["rode.solve"]),
            path=np.uint32(settings.first_path),
            done=window.done,
            coarse_steps=window.coarse_steps,
            steps=fine,
            threads_per_path=settings.threads_per_path,
            every=window.every,
            row=0 if window.every and not window.done else -1,
            until=window.every,
            peaks="peaks" in settings.reductions,
            stationary=fixed is None,
            t=T(plan.t0),
            h=T(plan.h),
            mu_minus_1=T(mu_minus_1),
            sigma=T(sigma),
            start=T(process.deviation if fixed is None else fixed),
        )


class Reductions:
    """Reductions over paths, accumulated one time window at a time."""

    def __init__(self, solver: Solver, times: int) -> None:
        self.solver, self.times = solver, times
        shape = (times, solver.outputs)
        requested = solver.settings.reductions
        self.levels = [
            q for one in requested if isinstance(one, Quantiles) for q in one.probabilities
        ]
        self.paths: Any = None
        self.mean: Any = None
        self.variance: Any = None
        self.quantiles: Any = None
        if "paths" in requested:
            self.paths = np.empty((*shape, solver.plan.paths), solver.plan.dtype)
        if "moments" in requested:
            self.mean, self.variance = np.empty(shape), np.empty(shape)
        if self.levels:
            self.quantiles = np.empty((len(self.levels), *shape))

    def take(self, first: int, window: Any) -> None:
        """Reduce (times, outputs, paths) numbers of times from number `first` on."""
        solver, paths = self.solver, self.solver.plan.paths
        loops = reductions.loops(solver.device)
        rows_of_times = slice(first, first + window.shape[0])
        count = window.shape[0] * window.shape[1]
        if self.paths is not None and solver.device.kind == "cuda":
            window.copy_to_host(self.paths[rows_of_times])
        rows = window.reshape((count, paths))
        if self.mean is not None:
            mean, squares = (solver.empty((count,), np.float64) for _ in range(2))
            loops.moments(rows, mean, squares)
            self.mean[rows_of_times] = solver.to_host(mean).reshape(-1, solver.outputs)
            spread = solver.to_host(squares).reshape(-1, solver.outputs)
            self.variance[rows_of_times] = spread / (paths - 1) if paths > 1 else np.nan
        if self.quantiles is not None:
            self.quantiles[:, rows_of_times] = self._quantiles(loops, rows)

    def _quantiles(self, loops: reductions.Loops, rows: Any) -> np.ndarray:
        """Return quantiles of the rows, interpolated linearly between order statistics."""
        solver, paths = self.solver, self.solver.plan.paths
        position = np.array(self.levels) * (paths - 1)
        low = np.floor(position).astype(np.int64)
        ends = [0, paths - 1]  # NaN is sorted to an end
        ranks = np.unique(np.concatenate([low, np.minimum(low + 1, paths - 1), ends]))
        order_statistics = solver.empty((rows.shape[0], ranks.size))
        loops.order(rows, solver.to_device(ranks, ranks.dtype), order_statistics)
        values = solver.to_host(order_statistics).astype(np.float64)
        below = values[:, np.searchsorted(ranks, low)]
        above = values[:, np.searchsorted(ranks, np.minimum(low + 1, paths - 1))]
        with np.errstate(invalid="ignore"):
            between = below + (position - low) * (above - below)
        between = np.where(position == low, below, between)
        between[np.isnan(values[:, [0, -1]]).any(axis=1)] = np.nan
        return between.T.reshape(len(self.levels), -1, solver.outputs)

    def result(self, t: np.ndarray) -> Result:
        """Return the result for the saved times t."""
        solver = self.solver
        loops = reductions.loops(solver.device)
        nonfinite = loops.count_nonfinite(solver.o, solver.x, solver.failed)
        return Result(
            t=t if solver.saves else t[:0],
            outputs=solver.plan.problem.outputs,
            work=solver.plan.work(),
            status="diverged" if any(nonfinite) else "success",
            message=_message(solver.plan.paths, *nonfinite),
            paths=self.paths,
            mean=self.mean,
            variance=self.variance,
            quantiles=self.quantiles,
            peaks=solver.to_host(solver.peaks) if "peaks" in solver.settings.reductions else None,
            probabilities=tuple(self.levels),
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
    from rode._solver.problem_functions import fields_of

    problem, scheme, fields = plan.problem, plan.scheme, None
    if plan.kind == "separable":
        assert scheme.make_separable_step is not None  # `Plan.checked` has seen to it
        step = scheme.make_separable_step(problem.H)
        fields = fields_of(problem.G, problem.g)
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
        uses_fine_steps=scheme.uses_fine_steps,
        dimension=problem.dimension,
        parameters=problem.parameters.shape[0],
        table_rows=problem.parameters.shape[0] + len(problem.start_numbers),
    )
