"""Runner of `solve`: arrays on the device, windows of time, and the reductions of each window."""

from __future__ import annotations

import numpy as np

from hetero import philox
from hetero.jit import loops_for
from rode._solver import schemes as solver_schemes
from rode._solver.kernel_arguments import KernelSpec, RunArrays, RunParameters, RunTables
from rode._solver.memory_forecast import rows_of_window
from rode._solver.stopping import StoppedError, current_flag
from rode.results import Quantiles, Result


class Solver:
    """State of one run; `run` returns the Result."""

    def __init__(self, plan, reductions, every, first_path, threads_per_path, key, device):
        self.plan, self.reductions, self.every, self.device = plan, reductions, every, device
        self.first_path, self.threads_per_path, self.key = first_path, threads_per_path, key
        self.spec = kernel_spec_of(plan)
        self.outputs = len(plan.problem.outputs)
        self.T = np.dtype(plan.dtype).type
        self.saves = any(one != "peaks" for one in reductions)
        self.tables = RunTables(
            *(self.to_device(np.ascontiguousarray(a, plan.dtype)) for a in self.matrices())
        )
        self.o = self.empty((plan.paths,))
        self.x = self.empty((plan.problem.dimension, plan.paths))
        self.peaks = self.empty((self.outputs, plan.paths if "peaks" in reductions else 1))
        self.failed = self.to_device(np.zeros(plan.paths, np.uint8))
        self.stop = current_flag()

    # ---- memory ----

    def to_device(self, array):
        """Return the array on the run's device."""
        if self.device.kind == "cpu":
            return array
        from hetero.cuda.driver import cuda

        return cuda.to_device(array)

    def empty(self, shape, dtype=None):
        """Return a new array on the run's device, of the solver's data type unless told."""
        dtype = dtype or self.plan.dtype
        if self.device.kind == "cpu":
            return np.empty(shape, dtype)
        from hetero.cuda.driver import cuda

        return cuda.device_array(shape, dtype)

    def to_host(self, array) -> np.ndarray:
        """Return the device array as a NumPy array."""
        return array if self.device.kind == "cpu" else array.copy_to_host()

    def matrices(self):
        """Return rows, law, transfers and parameters; see `RunTables`."""
        plan = self.plan
        if plan.kind == "separable":
            return np.zeros((1, 1)), np.zeros((1, 1)), np.zeros((1, 1, 1)), plan.problem.table
        fine = None if plan.exact and plan.fine is None else plan.fine
        rows = solver_schemes.forms(plan.scheme, plan.K, plan.h, fine)
        law = np.zeros((1, 1))
        if plan.kind == "exact":
            from rode._solver.stage_formulas import block_of, exact_blocks

            law_of_step, size = plan.law(), plan.degree + 2
            law = np.zeros((size, 1 + exact_blocks(self.spec) * block_of(self.spec).size))
            law[:, 0], law[:, 1 : 1 + size] = law_of_step.mean, law_of_step.factor
        return rows, law, plan.transfers(self.threads_per_path), plan.problem.table

    # ---- the run ----

    def run(self) -> Result:
        """Solve window by window, and return the reductions."""
        plan, every = self.plan, self.every
        last = plan.steps // every
        reduced = Reductions(self, last + 1)
        if self.saves:
            rows = rows_of_window(plan, self.reductions, last + 1, self.device)
            # On a CPU the paths are written where they stay.
            stays = reduced.paths is not None and self.device.kind == "cpu"
            buffer = None if stays else self.empty((rows, self.outputs, plan.paths))
            done = 0
            while done < last:
                start = done == 0
                count = min(rows - start, last - done)
                first = 0 if start else done + 1
                size = count + start
                window = reduced.paths[first : first + size] if stays else buffer[:size]
                self.integrate(done * every, count * every, every, window)
                reduced.take(first, window)
                done += count
        if not self.saves or last * every < plan.steps:
            done = last * every if self.saves else 0
            self.integrate(done, plan.steps - done, 0, self.empty((1, 1, 1)))
        return reduced.result(plan.t0 + plan.h * every * np.arange(last + 1))

    def integrate(self, done: int, count: int, every: int, saved) -> None:
        """Advance all paths by `count` coarse steps after the first `done`."""
        plan, T, process = self.plan, self.T, self.plan.problem.process
        fine = plan.fine or 1
        mu_minus_1, sigma = process.step(plan.h / fine)
        fixed = plan.problem.start_process
        start = process.deviation if fixed is None else fixed
        run = RunParameters(
            *self.key,
            stream=np.uint32(philox.STREAMS["rode.solve"]),
            path=np.uint32(self.first_path),
            done=done,
            count=count,
            steps=fine,
            threads_per_path=self.threads_per_path,
            every=every,
            row=0 if every and not done else -1,
            until=every,
            peaks="peaks" in self.reductions,
            stationary=fixed is None,
            t=T(plan.t0),
            h=T(plan.h),
            mu_minus_1=T(mu_minus_1),
            sigma=T(sigma),
            start=T(start),
        )
        arrays = RunArrays(self.o, self.x, saved, self.peaks, self.failed)
        loops_for("rode._solver", self.device).integrate(
            self.spec, run, self.tables, arrays, self.stop
        )
        if self.stop[0]:
            raise StoppedError("another part of this work failed or was interrupted")


class Reductions:
    """Reductions over paths, accumulated one time window at a time."""

    def __init__(self, solver: Solver, times: int):
        self.solver, self.times = solver, times
        shape = (times, solver.outputs)
        reductions = solver.reductions
        self.levels = [
            q for one in reductions if isinstance(one, Quantiles) for q in one.probabilities
        ]
        self.paths = None
        if "paths" in reductions:
            self.paths = np.empty((*shape, solver.plan.paths), solver.plan.dtype)
        self.mean, self.variance = (
            (np.empty(shape), np.empty(shape)) if "moments" in reductions else (None, None)
        )
        self.quantiles = np.empty((len(self.levels), *shape)) if self.levels else None

    def take(self, first: int, window) -> None:
        """Reduce (times, outputs, paths) numbers of times from number `first` on."""
        solver, paths = self.solver, self.solver.plan.paths
        reduce = loops_for("rode._solver.reductions", solver.device)
        rows_of_times = slice(first, first + window.shape[0])
        count = window.shape[0] * window.shape[1]
        if self.paths is not None and solver.device.kind == "cuda":
            window.copy_to_host(self.paths[rows_of_times])
        rows = window.reshape((count, paths))
        if self.mean is not None:
            mean, squares = (solver.empty((count,), np.float64) for _ in range(2))
            reduce.moments(rows, mean, squares)
            self.mean[rows_of_times] = solver.to_host(mean).reshape(-1, solver.outputs)
            spread = solver.to_host(squares).reshape(-1, solver.outputs)
            self.variance[rows_of_times] = spread / (paths - 1) if paths > 1 else np.nan
        if self.quantiles is not None:
            self.quantiles[:, rows_of_times] = self._quantiles(reduce, rows)

    def _quantiles(self, reduce, rows) -> np.ndarray:
        """Return quantiles of the rows, interpolated linearly between order statistics."""
        solver, paths = self.solver, self.solver.plan.paths
        position = np.array(self.levels) * (paths - 1)
        low = np.floor(position).astype(np.int64)
        ends = [0, paths - 1]  # NaN is sorted to an end
        ranks = np.unique(np.concatenate([low, np.minimum(low + 1, paths - 1), ends]))
        order_statistics = solver.empty((rows.shape[0], ranks.size))
        device_ranks = ranks
        if solver.device.kind == "cuda":
            from hetero.cuda.driver import cuda

            device_ranks = cuda.to_device(ranks)
        reduce.order(rows, device_ranks, order_statistics)
        values = solver.to_host(order_statistics).astype(np.float64)
        below = values[:, np.searchsorted(ranks, low)]
        above = values[:, np.searchsorted(ranks, np.minimum(low + 1, paths - 1))]
        with np.errstate(invalid="ignore"):
            between = below + (position - low) * (above - below)
        between = np.where(position == low, below, between)
        between[np.isnan(values[:, [0, -1]]).any(axis=1)] = np.nan
        return between.T.reshape(len(self.levels), -1, solver.outputs)

    def result(self, t) -> Result:
        """Return the result for the saved times t."""
        solver = self.solver
        nonfinite = loops_for("rode._solver.reductions", solver.device).count_nonfinite(
            solver.o, solver.x, solver.failed
        )
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
            peaks=solver.to_host(solver.peaks) if "peaks" in solver.reductions else None,
        )


def _message(paths: int, at_the_end: int, in_outputs: int) -> str:
    parts = []
    if at_the_end:
        parts.append(f"{at_the_end} of {paths} paths are infinite or NaN at the end")
    if in_outputs:
        parts.append(f"outputs of {in_outputs} of {paths} paths are infinite or NaN at some time")
    return ", ".join(parts) or "all paths are finite"


_kernel_specs: dict = {}


def kernel_spec_of(plan) -> KernelSpec:
    """Return the functions that a plan compiles: one object for each problem and scheme."""
    from rode._solver import problem_functions, scheme_formulas

    problem = plan.problem
    key = (problem.H, problem.B, problem.G, problem.g, problem.observe, problem.start)
    key += (plan.scheme, plan.kind, plan.degree, plan.dtype, plan.normals)
    key += (problem.dimension, problem.parameters.shape[0])
    if key not in _kernel_specs:
        fields = None
        if plan.kind == "separable":
            step = scheme_formulas.separable(plan.scheme, problem.H)
            fields = problem_functions.fields_of(problem.G, problem.g)
        else:
            step = scheme_formulas.additive(plan.scheme, problem.H, problem.B)
        _kernel_specs[key] = KernelSpec(
            kind=plan.kind,
            step=step,
            observe=problem.observe,
            start=problem.start,
            fields=fields,
            dtype=plan.dtype,
            normals=plan.normals,
            degree=plan.degree,
            dimension=problem.dimension,
            parameters=problem.parameters.shape[0],
            table_rows=problem.parameters.shape[0] + len(problem.start_numbers),
        )
    return _kernel_specs[key]
