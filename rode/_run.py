"""The run of `solve`: arrays on the device, windows of time, and the reductions of each."""

from __future__ import annotations

import numpy as np

from hetero.jit import twin
from rode import schemes
from rode._forecast import rows_of_window
from rode._march import Arrays, Program, Run, Tables
from rode._stopping import StoppedError, current_flag
from rode.montecarlo import STREAM, Quantiles, Result


class Solver:
    """State of one run; `run` makes the Result."""

    def __init__(self, plan, wanted, every, first_path, width, key, device):
        self.plan, self.wanted, self.every, self.device = plan, wanted, every, device
        self.first_path, self.width, self.key = first_path, width, key
        self.program = program_of(plan)
        self.outputs = len(plan.problem.outputs)
        self.T = np.dtype(plan.dtype).type
        self.saves = any(one != "peaks" for one in wanted)
        self.tables = Tables(
            *(self.to_device(np.ascontiguousarray(a, plan.dtype)) for a in self.matrices())
        )
        self.o = self.empty((plan.paths,))
        self.x = self.empty((plan.problem.dimension, plan.paths))
        self.peaks = self.empty((self.outputs, plan.paths if "peaks" in wanted else 1))
        self.failed = self.to_device(np.zeros(plan.paths, np.uint8))
        self.stop = current_flag()

    # ---- memory ----

    def to_device(self, array):
        if self.device.kind == "cpu":
            return array
        from hetero._driver import cuda

        return cuda.to_device(array)

    def empty(self, shape, dtype=None):
        dtype = dtype or self.plan.dtype
        if self.device.kind == "cpu":
            return np.empty(shape, dtype)
        from hetero._driver import cuda

        return cuda.device_array(shape, dtype)

    def to_host(self, array) -> np.ndarray:
        return array if self.device.kind == "cpu" else array.copy_to_host()

    def matrices(self):
        """rows, law, transfers, parameters: see `Tables`."""
        plan = self.plan
        if plan.kind == "fields":
            return np.zeros((1, 1)), np.zeros((1, 1)), np.zeros((1, 1, 1)), plan.problem.table
        fine = None if plan.exact and plan.fine is None else plan.fine
        rows = schemes.forms(plan.scheme, plan.K, plan.h, fine)
        law = np.zeros((1, 1))
        if plan.kind == "law":
            from rode._march_math import block_of, law_blocks

            found, size = plan.law(), plan.degree + 2
            law = np.zeros((size, 1 + law_blocks(self.program) * block_of(self.program).size))
            law[:, 0], law[:, 1 : 1 + size] = found.mean, found.factor
        return rows, law, plan.transfers(self.width), plan.problem.table

    # ---- the run ----

    def run(self) -> Result:
        plan, every = self.plan, self.every
        last = plan.steps // every
        kept = Kept(self, last + 1)
        if self.saves:
            rows = rows_of_window(plan, self.wanted, last + 1, self.device)
            # On a CPU the paths are written where they stay.
            stays = kept.paths is not None and self.device.kind == "cpu"
            buffer = None if stays else self.empty((rows, self.outputs, plan.paths))
            done = 0
            while done < last:
                start = done == 0
                count = min(rows - start, last - done)
                first = 0 if start else done + 1
                size = count + start
                window = kept.paths[first : first + size] if stays else buffer[:size]
                self.march(done * every, count * every, every, window)
                kept.take(first, window)
                done += count
        if not self.saves or last * every < plan.steps:
            done = last * every if self.saves else 0
            self.march(done, plan.steps - done, 0, self.empty((1, 1, 1)))
        return kept.result(plan.t0 + plan.h * every * np.arange(last + 1))

    def march(self, done: int, count: int, every: int, saved) -> None:
        plan, T, process = self.plan, self.T, self.plan.problem.process
        fine = plan.fine or 1
        em1, sigma = process.step(plan.h / fine)
        fixed = plan.problem.start_process
        start = process.deviation if fixed is None else fixed
        run = Run(
            *(*self.key, np.uint32(STREAM), np.uint32(self.first_path)),
            *(done, count, fine, self.width, every, 0 if every and not done else -1, every),
            *("peaks" in self.wanted, fixed is None),
            *map(T, (plan.t0, plan.h, em1, sigma, start)),
        )
        arrays = Arrays(self.o, self.x, saved, self.peaks, self.failed)
        twin("rode._march", self.device).march(self.program, run, self.tables, arrays, self.stop)
        if self.stop[0]:
            raise StoppedError("another part of this work failed or was interrupted")


class Kept:
    """What is kept of the paths, filled window by window."""

    def __init__(self, solver: Solver, times: int):
        self.solver, self.times = solver, times
        shape = (times, solver.outputs)
        wanted = solver.wanted
        self.levels = [q for one in wanted if isinstance(one, Quantiles) for q in one.probabilities]
        self.paths = None
        if "paths" in wanted:
            self.paths = np.empty((*shape, solver.plan.paths), solver.plan.dtype)
        self.mean, self.variance = (
            (np.empty(shape), np.empty(shape)) if "moments" in wanted else (None, None)
        )
        self.quantiles = np.empty((len(self.levels), *shape)) if self.levels else None

    def take(self, first: int, window) -> None:
        """Reduce (times, outputs, paths) numbers of times from number `first` on."""
        solver, paths = self.solver, self.solver.plan.paths
        reduce = twin("rode._reduce", solver.device)
        here = slice(first, first + window.shape[0])
        count = window.shape[0] * window.shape[1]
        if self.paths is not None and solver.device.kind == "cuda":
            window.copy_to_host(self.paths[here])
        rows = window.reshape((count, paths))
        if self.mean is not None:
            mean, squares = (solver.empty((count,), np.float64) for _ in range(2))
            reduce.moments(rows, mean, squares)
            self.mean[here] = solver.to_host(mean).reshape(-1, solver.outputs)
            spread = solver.to_host(squares).reshape(-1, solver.outputs)
            self.variance[here] = spread / (paths - 1) if paths > 1 else np.nan
        if self.quantiles is not None:
            self.quantiles[:, here] = self._quantiles(reduce, rows)

    def _quantiles(self, reduce, rows) -> np.ndarray:
        solver, paths = self.solver, self.solver.plan.paths
        place = np.array(self.levels) * (paths - 1)
        low = np.floor(place).astype(np.int64)
        ends = [0, paths - 1]  # where a NaN is, if there is one
        ranks = np.unique(np.concatenate([low, np.minimum(low + 1, paths - 1), ends]))
        found = solver.empty((rows.shape[0], ranks.size))
        on_device = ranks
        if solver.device.kind == "cuda":
            from hetero._driver import cuda

            on_device = cuda.to_device(ranks)
        reduce.order(rows, on_device, found)
        values = solver.to_host(found).astype(np.float64)
        below = values[:, np.searchsorted(ranks, low)]
        above = values[:, np.searchsorted(ranks, np.minimum(low + 1, paths - 1))]
        with np.errstate(invalid="ignore"):
            between = below + (place - low) * (above - below)
        between = np.where(place == low, below, between)
        between[np.isnan(values[:, [0, -1]]).any(axis=1)] = np.nan
        return between.T.reshape(len(self.levels), -1, solver.outputs)

    def result(self, t) -> Result:
        solver = self.solver
        lost = twin("rode._reduce", solver.device).lost(solver.o, solver.x, solver.failed)
        return Result(
            t=t if solver.saves else t[:0],
            outputs=solver.plan.problem.outputs,
            work=solver.plan.work(),
            status="diverged" if any(lost) else "success",
            message=_message(solver.plan.paths, *lost),
            paths=self.paths,
            mean=self.mean,
            variance=self.variance,
            quantiles=self.quantiles,
            peaks=solver.to_host(solver.peaks) if "peaks" in solver.wanted else None,
        )


def _message(paths: int, at_the_end: int, in_outputs: int) -> str:
    parts = []
    if at_the_end:
        parts.append(f"{at_the_end} of {paths} paths are infinite or NaN at the end")
    if in_outputs:
        parts.append(f"outputs of {in_outputs} of {paths} paths are infinite or NaN at some time")
    return ", ".join(parts) or "all paths are finite"


_programs: dict = {}


def program_of(plan) -> Program:
    """The functions that a plan compiles; the same object for the same problem and scheme."""
    from rode import _problems_math, _schemes_math

    problem = plan.problem
    key = (problem.H, problem.B, problem.G, problem.g, problem.observe, problem.start)
    key += (plan.scheme, plan.kind, plan.degree, plan.dtype, plan.normals)
    key += (problem.dimension, problem.parameters.shape[0])
    if key not in _programs:
        fields = None
        if plan.kind == "fields":
            step = _schemes_math.separable(plan.scheme, problem.H)
            fields = _problems_math.fields_of(problem.G, problem.g)
        else:
            step = _schemes_math.additive(plan.scheme, problem.H, problem.B)
        _programs[key] = Program(
            *(plan.kind, step, problem.observe, problem.start, fields, plan.dtype, plan.normals),
            *(plan.degree, problem.dimension, problem.parameters.shape[0]),
            problem.parameters.shape[0] + len(problem.start_numbers),
        )
    return _programs[key]
