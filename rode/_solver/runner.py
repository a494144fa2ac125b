"""The run of a plan: arrays on its device, windows of time, and the reductions of each window."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from hetero import philox, region
from hetero.arrays import Array, Workspace
from hetero.devices import Device
from hetero.distributed.cancellation import StoppedError, current_flag
from rode import _solver
from rode._solver import kernel_arguments
from rode._solver.excited import ExcitationArrays, Shape
from rode._solver.memory_forecast import require_memory, times_of_window
from rode._solver.plan import Plan
from rode._solver.reductions.peaks import PEAKS
from rode._solver.reductions.reduction import Fold, Rows, State, joint_fold
from rode._solver.schemes.scheme import Scheme
from rode.problems.frame_functions import KINDS
from rode.problems.problem import Problem

LOGGER = logging.getLogger(__name__)

PROGRESS_STEPS = 100
"""Number of parts of a run between which a progress bar advances."""


class Window(NamedTuple):
    """Coarse steps number `begin` to `end`, after which the saved times among them are reduced.

    `times` are the numbers of these times; the first one, 0, is the start.
    """

    begin: int
    end: int
    times: range


@dataclass(frozen=True, eq=False)
class Outcome:
    """Outcome of a run of a plan, or of a part of one.

    Attributes
    ----------
    states : state of each reduction
    failures : numbers of paths that are infinite or NaN at the end, and of others whose outputs
        are at some time
    """

    states: list[State]
    failures: tuple[int, int]


def describe_failures(outcomes: Sequence[Outcome], paths: int) -> str:
    """Return how many of all paths are infinite or NaN in words; an empty text if none is."""
    at_end, at_times = np.sum([one.failures for one in outcomes], axis=0).tolist()
    texts = []
    if at_end:
        texts.append(f"{at_end} of {paths} paths are infinite or NaN at the end")
    if at_times:
        texts.append(f"outputs of {at_times} of {paths} paths are infinite or NaN at some time")
    return ", ".join(texts)


def compute(plan: Plan, device: Device) -> Outcome:
    """Run a part of a plan on a device."""
    return run(replace(plan, device=device))


def run(plan: Plan, *, show_progress: bool = False) -> Outcome:
    """Run a plan on its device, if the memory suffices."""
    LOGGER.info(
        "%s: %d paths, %d steps by %s with %s fine steps each, %s, on %s",
        *(plan.problem.name, plan.paths, plan.steps, plan.scheme.name),
        *(plan.fine_steps or "exact sums instead of", plan.dtype, plan.device),
    )
    with plan.device.active(), region("rode solve"):
        require_memory(plan)
        try:
            return Solver(plan).run(show_progress=show_progress)
        except Exception as error:
            from rode.problems.compile_errors import explain

            explain(error, plan.problem, plan.dtype)
            raise


class Solver:
    """Arrays and states of one run."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.outputs = plan, len(plan.problem.outputs)
        shape, excitation = (None, None) if plan.problem.excitation is None else plan.excited()
        self.states: list[State] = [one.begin(plan.extent) for one in plan.reductions]
        fold = joint_fold(plan.reductions)
        self.folds = fold is not None
        self.spec = spec = kernel_spec_of(plan, fold, shape)
        matrices = self.matrices(excitation)
        self.workspace = work = Workspace(plan.device)
        sent: dict[int, Array] = {}  # many are one array that stands for none
        for name, array in matrices.items():
            if id(array) not in sent:
                sent[id(array)] = work.input(name, array, plan.dtype).reshape(array.shape)
            matrices[name] = sent[id(array)]
        none = np.zeros((1, 1), np.int64), np.zeros((1, 1), np.uint32)
        switches, numbers = none if plan.branches is None else plan.branches
        storeys = plan.problem.dimension if plan.kind == "frame" else 0
        folds = (spec.fold.numbers * self.outputs, plan.paths) if self.folds else (1, 1)
        self.arrays = kernel_arguments.RunArrays(
            **matrices,
            o=work.output((plan.paths,), plan.dtype),
            x=work.output((spec.dimension + storeys, plan.paths), plan.dtype, flat=False),
            saved=work.output((1, 1, 1), plan.dtype, flat=False),
            folds=work.output(folds, plan.dtype, flat=False),
            failed=work.input("failed", np.zeros(plan.paths, np.uint8), np.uint8),
            switches=work.input("switches", switches, np.int64).reshape(switches.shape),
            numbers=work.input("numbers", numbers, np.uint32).reshape(numbers.shape),
        )
        self.stop = current_flag()
        self.loops = _solver.loops(plan.device)

    def matrices(self, excitation: ExcitationArrays | None) -> dict[str, np.ndarray]:
        """Return the arrays that loops read, by their names in `RunArrays`."""
        plan, spec, none = self.plan, self.spec, np.zeros((1, 1))
        arrays = dict.fromkeys(("rows", "drawing", *ExcitationArrays._fields), none)
        arrays |= {"transfers": np.zeros((5, 1, 1)), "given": np.zeros((1, 1, 1, 1))}
        arrays["parameters"] = plan.problem.table
        if plan.kind == "separable":
            return arrays
        arrays["rows"] = plan.scheme.forms(plan.h, plan.fine_steps)
        if excitation is not None:
            arrays |= excitation._asdict()
        if plan.kind == "frame":
            codes = [(KINDS.index(kind), storey) for kind, storey in plan.problem.frame or ()]
            arrays["transfers"] = np.array(codes, float)[:, :, None]
        if plan.kind == "exact":
            from rode._solver.formulas.stage_formulas import block_of, exact_blocks

            distribution, size = plan.sums_distribution(), spec.form_count + 1
            drawing = np.zeros((size, 1 + exact_blocks(spec) * block_of(spec).size))
            drawing[:, 0], drawing[:, 1 : 1 + size] = distribution.mean, distribution.factor
            arrays["drawing"] = drawing
        if plan.device.kind == "cuda" and plan.stretches > 1:
            arrays["transfers"] = plan.transfers()
        return arrays

    # ---- the run ----

    def run(self, *, show_progress: bool) -> Outcome:
        """Solve window by window, and return the states of the reductions."""
        plan, loops = self.plan, self.loops
        saved_rows = None  # loops on a CPU write all saved times where a reduction keeps them
        takers = []
        for one, state in zip(plan.reductions, self.states, strict=True):
            if one.keeps_rows and plan.device.kind == "cpu":
                saved_rows = state[one.keeps_rows]
            elif one.needs_times:
                takers.append((one, state))
        buffer: Array = None
        if saved_rows is None and plan.saves_times:
            shape = times_of_window(plan), self.outputs, plan.paths
            buffer = self.workspace.output(shape, plan.dtype, flat=False)
        longest = math.ceil(plan.steps / PROGRESS_STEPS) if show_progress else plan.steps
        calls: Iterable[tuple[Window, int, int]] = self.calls(longest)
        if show_progress:
            from hetero.display.progress_bar import progress

            calls = progress(list(calls), plan.problem.name, enabled=True)
        for window, begin, end in calls:
            arrays, times = self.arrays, slice(window.times.start, window.times.stop)
            if window.times:
                saved = buffer[: len(window.times)] if saved_rows is None else saved_rows[times]
                arrays = arrays._replace(saved=saved)
            call = self.parameters(window)
            if (begin, end) != (window.begin, window.end):
                call = kernel_arguments.part_of(call, begin - window.begin, end - begin)
            loops.integrate(self.spec, call, arrays, self.stop)
            if self.stop[0]:
                raise StoppedError("another part of this work failed or was interrupted")
            if takers and window.times and end == window.end:
                from rode._solver import statistics

                rows = Rows(statistics.loops(plan.device), self.workspace, arrays.saved, times)
                for one, state in takers:
                    one.take(state, rows)
        arrays = self.arrays
        if self.folds:
            folded = self.workspace.result(arrays.folds, (self.outputs, -1, plan.paths))
            end = 0
            for one, state in zip(plan.reductions, self.states, strict=True):
                if (fold := one.fold) is not None:
                    begin, end = end, end + fold.numbers
                    one.finish(state, folded[:, begin:end])
        failures = loops.count_nonfinite(arrays.o, arrays.x, arrays.failed)
        return Outcome(self.states, failures)

    def calls(self, longest: int) -> Iterator[tuple[Window, int, int]]:
        """Yield windows with the first and last coarse step of each call, at most `longest`."""
        for window in self.windows():
            for begin in range(window.begin, window.end, longest):
                yield window, begin, min(begin + longest, window.end)

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

    def parameters(self, window: Window) -> kernel_arguments.RunParameters:
        """Return the numbers of a call that computes a whole window."""
        plan, process = self.plan, self.plan.problem.process
        fine_steps, real = plan.fine_steps or 1, np.dtype(plan.dtype).type
        mu_minus_1, sigma = process.step(plan.h / fine_steps)
        fixed = plan.problem.start_process
        every = plan.save_every if window.times else 0
        stretches, threads = 1, 1
        if plan.device.kind == "cuda":
            stretches, threads = plan.stretches, plan.threads_per_path()
        return kernel_arguments.RunParameters(
            counter=kernel_arguments.Counter(
                *plan.key,
                stream=np.uint32(philox.STREAMS["rode.solve"]),
                first_path=np.uint32(plan.first_path),
            ),
            done=window.begin,
            coarse_steps=window.end - window.begin,
            fine_steps=fine_steps,
            stretch_blocks=0 if stretches == 1 else fine_steps // (stretches * plan.block),
            own_stretches=stretches // threads,
            threads_per_path=threads,
            saving=kernel_arguments.Saving(
                every=every, row=0 if 0 in window.times else -1, until=every, folds=self.folds
            ),
            stationary=fixed is None,
            t=real(plan.t0),
            h=real(plan.h),
            mu_minus_1=real(mu_minus_1),
            sigma=real(sigma),
            start=real(process.deviation if fixed is None else fixed),
        )


def kernel_spec_of(
    plan: Plan, fold: Fold | None, shape: Shape | None
) -> kernel_arguments.KernelSpec:
    """Return the functions that a plan compiles, with the fold of its reductions.

    Runs without a fold have that of the peaks, so that they share the code of one that has it.
    `shape` is that of the excitation.
    """
    from rode._solver.formulas.excited_formulas import make_observe
    from rode.problems.functions import fields_of

    problem, scheme = plan.problem, plan.scheme
    parameters, rows = problem.parameters.shape[0], len(problem.start_numbers)
    if plan.kind == "frame":  # functions that all frames share
        from rode._solver.formulas.frame_loops import keep_forms, make_start, observe_value

        step, observe, start = keep_forms, observe_value, make_start(scheme.form_count)
        parameters, rows = 1, 0
    else:
        step, observe, start = step_of(problem, scheme), problem.observe, problem.start
        observe = observe if shape is None else make_observe(observe, shape)
    return kernel_arguments.KernelSpec(
        kind=plan.kind,
        step=step,
        observe=observe,
        start=start,
        fold=fold or PEAKS.fold,
        fields=fields_of(problem.G, problem.g) if plan.kind == "separable" else None,
        dtype=plan.dtype,
        normals=plan.normals,
        form_count=scheme.form_count,
        averages=scheme.averages if scheme.uses_fine_steps else "start",
        dimension=problem.dimension if shape is None else shape.unknowns,
        parameters=parameters,
        table_rows=parameters + rows,
        branches=plan.branches is not None,
        excited=shape,
    )


def step_of(problem: Problem, scheme: Scheme) -> Any:
    """Return the compiled step of a scheme for a problem, which `make_plan` has seen to fit."""
    if problem.f is not None:
        assert scheme.make_general_step is not None
        return scheme.make_general_step(problem.f)
    if problem.G is not None:
        assert scheme.make_separable_step is not None
        return scheme.make_separable_step(problem.H)
    if scheme.linear_only and not problem.linear:
        assert scheme.make_nonlinear_step is not None
        derivatives = problem.first_derivative, problem.second_derivative
        return scheme.make_nonlinear_step(problem.H, problem.B, *derivatives)
    return scheme.make_additive_step(problem.H, problem.B)
