"""Checked arguments of `solve`, and the quantities that follow from them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hetero import validation
from hetero.devices import Device
from rode._solver.excited import ExcitationArrays, Shape, describe
from rode._solver.path_sums import (
    GaussianDistribution,
    integrals_distribution,
    sums_distribution,
    transfer,
)
from rode._solver.reductions.reduction import Extent, Reduction
from rode._solver.schemes.scheme import Scheme
from rode._solver.statistics.leaves import leaf_size
from rode.problems import Problem

FRAME_LOOPS = 8
"""Storeys of a linear frame beyond which its matrices are arrays in loops, on a CPU. Other code is
written out for a number of storeys, which takes the compiler half a minute for 10."""

MAX_UNROLLED = 50
"""Storeys of a linear frame beyond which it has no other code: compiling it takes many minutes."""

STRETCHES = 32
"""Largest number of stretches of a coarse step; each may have a thread of a warp."""

MIN_BLOCKS = 8
"""Smallest number of blocks of normal numbers in a stretch; with fewer, joining them counts."""


@dataclass(frozen=True)
class Work:
    """Work of a run: paths, coarse steps of each, fine steps of all, normal numbers drawn."""

    paths: int
    coarse_steps: int
    fine_steps: int
    normals: int


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A checked description of what a run computes, and where.

    Attributes
    ----------
    problem, scheme : the equation and how it is solved
    t0, h : start and coarse step, s
    steps : number of coarse steps
    fine_steps : M, the number of fine steps in a coarse one; None for the limit of ever finer steps
    is_exact : whether sums are drawn from their distribution instead of fine steps
    paths, first_path : how many paths, and the number of the first
    save_every : coarse steps from one saved time to the next
    reductions : what is kept of the paths
    dtype, normals : types of the solver and of the normal numbers
    key : Philox's key
    device : the device that solves
    requested_threads : threads that share a path on a GPU, if the caller says
    whole : numbers of the paths of the run, of which this plan may be a part
    branches : switches and numbers of `RunArrays`, if paths change their numbers on the way
    kind : kind of the compiled solver; see `KernelSpec`
    times, saves_times : number of times, the start included, at which outputs are saved if a
        reduction takes them; and whether one does
    block : number of normal numbers that a block of random words gives
    stretches : number of stretches of a coarse step on a GPU, whose sums are joined in pairs
        It depends on no device and no number of paths, so that neither does the order of a sum.
    extent : sizes of what reductions take
    """

    problem: Problem
    scheme: Scheme
    t0: float
    h: float
    steps: int
    fine_steps: int | None
    is_exact: bool
    paths: int
    first_path: int
    save_every: int
    reductions: tuple[Reduction, ...]
    dtype: str
    normals: str
    key: tuple[np.uint32, np.uint32]
    device: Device
    requested_threads: int | None
    whole: range
    branches: tuple[np.ndarray, np.ndarray] | None = None
    kind: str = field(init=False)
    times: int = field(init=False)
    saves_times: bool = field(init=False)
    block: int = field(init=False)
    stretches: int = field(init=False)
    extent: Extent = field(init=False)

    def __post_init__(self) -> None:
        """Compute what follows from the others."""
        outputs, first = len(self.problem.outputs), self.first_path - self.whole.start
        times = self.steps // self.save_every + 1
        kind = "separable" if self.problem.G is not None else ("exact" if self.is_exact else "path")
        kind = kind if self.problem.excitation is None else "excited"
        if is_large_frame(self.problem) and self.device.kind == "cuda":
            raise ValueError(
                f"device must be 'cpu' for a frame of more than {MAX_UNROLLED} storeys, got "
                f"{str(self.device)!r}"
            )
        storeys = 0 if self.problem.frame is None else self.problem.dimension // 2
        if storeys > FRAME_LOOPS and self.scheme.linear_only and self.device.kind == "cpu":
            kind = "frame"
        block = 2 if self.normals == "float64" else 4
        facts = {
            "kind": kind,
            "times": times,
            "saves_times": any(one.needs_times for one in self.reductions),
            "block": block,
            "stretches": 1 if kind != "path" else _stretches(self.fine_steps, block),
            "extent": Extent(times, outputs, self.paths, self.dtype, first, len(self.whole)),
        }
        for name, value in facts.items():
            object.__setattr__(self, name, value)

    def part(self, low: int, high: int) -> Plan:
        """Return the plan for the paths from `low` to `high`, counted from the first."""
        problem = self.problem
        if problem.sets > 1:
            problem = replace(problem, parameters=problem.parameters[:, low:high])
        first = self.first_path + low
        return replace(self, problem=problem, paths=high - low, first_path=first)

    def split(self, parts: int) -> list[Plan]:
        """Return at most this many parts, nearly equal, of whole leaves of the tree of moments."""
        size = leaf_size(self.paths)
        leaves = -(-self.paths // size)
        parts = min(parts, leaves)
        ends = [min(k * leaves // parts * size, self.paths) for k in range(parts + 1)]
        return [self.part(low, high) for low, high in itertools.pairwise(ends)]

    @property
    def settings(self) -> dict[str, Any]:
        """Everything but the problem's functions that makes the results, as values of JSON."""
        problem = self.problem
        return {
            "problem": problem.name,
            "outputs": list(problem.outputs),
            "parameters": problem.parameters[:, 0].tolist()
            if problem.sets == 1
            else "of each path",
            "process": repr(problem.excitation or problem.process),
            "start_process": problem.start_process,
            "start_numbers": list(problem.start_numbers),
            "method": self.scheme.name,
            "t0": self.t0,
            "h": self.h,
            "steps": self.steps,
            "fine_steps": self.fine_steps,
            "sampling": "exact" if self.is_exact else "path",
            "save_every": self.save_every,
            "reduction": [repr(one) for one in self.reductions],
            "dtype": self.dtype,
            "normals": self.normals,
            "key": [int(word) for word in self.key],
        } | (
            {}
            if problem.excitation is None
            else {"hash of excitation": self.excited(drawn=False)[1].digest()}
        )

    @property
    def work(self) -> Work:
        """Work that the run does."""
        fine_steps, done = self.fine_steps or 1, self.paths * self.steps
        if self.problem.excitation is not None:
            sources = self.problem.excitation.sources()
            numbers = sum(len(s.F) + len(s.C) * (self.scheme.form_count + 1) for s in sources)
            return Work(self.paths, self.steps, done, done * numbers)
        if self.is_exact:
            return Work(self.paths, self.steps, done, done * (self.scheme.form_count + 1))
        return Work(self.paths, self.steps, done * fine_steps, done * fine_steps)

    def sums_distribution(self) -> GaussianDistribution:
        """Return the distribution of (O_h, F_0, F_1, ..) or (O_h, J_0, J_1, ..) given O_0."""
        process, degree = self.problem.process, self.scheme.form_count - 1
        if self.fine_steps is None:
            return integrals_distribution(process, self.h, degree)
        return sums_distribution(process, self.h / self.fine_steps, degree, self.fine_steps)

    def excited(self, drawn: bool = True) -> tuple[Shape, ExcitationArrays]:
        """Return sizes and arrays of the excitation, with what is drawn at the start of each path
        unless `drawn` is False."""
        excitation = self.problem.excitation
        assert excitation is not None
        if drawn:
            paths = range(self.first_path, self.first_path + self.paths)
            excitation = excitation.for_paths(self.key, paths, self.whole)
        forms = self.scheme.form_count
        dimension = forms + 1 if self.kind == "frame" else self.problem.dimension
        return describe(excitation, dimension, self.t0, self.h, self.steps, forms)

    def transfers(self) -> np.ndarray:
        """Return T^(L 2^k), k < 5, for stretches of L fine steps."""
        size, fine_steps = self.scheme.form_count + 1, self.fine_steps or 1
        process, delta = self.problem.process, self.h / fine_steps
        stretch = fine_steps // self.stretches
        return np.array([transfer(process, delta, size - 2, stretch << k) for k in range(5)])

    def threads_per_path(self) -> int:
        """Return how many threads share the stretches of a path: on a GPU, enough to fill it.

        Raises ValueError if the caller has asked for a number that does not divide them.
        """
        requested, stretches = self.requested_threads, self.stretches
        if requested is not None:
            requested = validation.check_integer("threads_per_path", requested, 1, STRETCHES)
            if requested & (requested - 1):
                raise ValueError(
                    f"threads_per_path must be a power of two up to {STRETCHES}, got {requested}"
                )
            if requested > stretches:
                least = requested * MIN_BLOCKS * self.block
                raise ValueError(
                    f"threads_per_path={requested} needs sampling='path', additive noise and "
                    f"h/delta divisible by {requested * self.block} and at least {least}"
                )
            return requested
        if self.device.kind == "cpu" or stretches == 1:
            return 1
        from hetero.cuda import launch

        enough, threads = 512 * launch.multiprocessors(), 1
        while threads < stretches and self.paths * threads < enough:
            threads *= 2
        return threads


def is_large_frame(problem: Problem) -> bool:
    """Return whether a problem is a frame that only loops on a CPU solve."""
    return problem.frame is not None and problem.dimension > 2 * MAX_UNROLLED


def _stretches(fine_steps: int | None, block: int) -> int:
    """Return the largest number of stretches of whole blocks of normal numbers that pays."""
    shared = fine_steps or 1
    useful = [w for w in (32, 16, 8, 4, 2) if shared % (w * block) == 0]
    return next(iter([w for w in useful if shared // w >= MIN_BLOCKS * block]), 1)
