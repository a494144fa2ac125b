"""Checked arguments of `rode.solve`, and the quantities that follow from them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from hetero import philox, validation
from hetero.devices import CPU, Device, resolve
from rode._solver.excited import ExcitationArrays, Shape, describe
from rode._solver.path_sums import (
    GaussianDistribution,
    integrals_distribution,
    sums_distribution,
    transfer,
)
from rode._solver.reductions import Requested, find_reductions
from rode._solver.reductions.reduction import Extent, Reduction
from rode._solver.schemes import find_scheme, require_scheme
from rode._solver.schemes.scheme import Scheme
from rode._solver.schemes.stability import largest_step
from rode._solver.statistics.leaves import leaf_size
from rode.problems.checks import try_functions
from rode.problems.problem import Problem

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from rode.normals import Seed

FRAME_LOOPS = 8
"""Storeys of a linear frame beyond which its matrices are arrays in loops, on a CPU. Other code is
written out for a number of storeys, which takes the compiler half a minute for 10."""

MAX_UNROLLED = 50
"""Storeys of a linear frame beyond which it has no other code: compiling it takes many minutes."""

BREAK_EVEN = 2_000_000
"""Number of fine steps of all paths above which a GPU is faster (measured)."""

MAX_STEPS = 2**31
"""Bound of the numbers of coarse steps and of fine steps in one; of all fine steps, its square."""

STRETCHES = 32
"""Largest number of stretches of a coarse step; each may have a thread of a warp."""

MIN_BLOCKS = 8
"""Smallest number of blocks of normal numbers in a stretch; with fewer, joining them counts."""


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


def make_plan(
    problem: Problem,
    method: str,
    *,
    t_span: Sequence[float],
    h: float,
    paths: int,
    delta: float | None = None,
    sampling: str = "path",
    rng: Seed = None,
    reduction: Requested = None,
    save_every: int = 1,
    dtype: DTypeLike = np.float64,
    normals: str | None = None,
    first_path: int = 0,
    threads_per_path: int | None = None,
    device: Device | str | None = None,
) -> Plan:
    """Check the arguments of `rode.solve` and return the plan."""
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a rode.Problem, got {type(problem).__name__}")
    is_large = is_large_frame(problem)
    t0, t1 = check_span(t_span)
    is_exact = validation.check_choice("sampling", sampling, ("path", "exact")) == "exact"
    name = validation.check_dtype("dtype", dtype, ("float32", "float64")).name
    normals = name if normals is None else normals
    kinds = {"float64": ("float64", "float32"), "float32": ("float32", "fast")}[name]
    validation.check_choice("normals", normals, kinds)
    h = validation.check_positive("h", h)
    delta = None if delta is None else validation.check_positive("delta", delta)
    paths = validation.check_integer("paths", paths, 1, 2**32)
    if problem.sets not in (1, paths):
        raise ValueError(f"parameters are for {problem.sets} paths, but paths={paths}")
    scheme = find_scheme(method)
    require_scheme(scheme, problem, is_exact)
    if is_large and not scheme.linear_only:
        raise ValueError(
            f"method must be one such as '3-rode-taylor' for a frame of more than {MAX_UNROLLED} "
            f"storeys, got {scheme.name!r}"
        )
    if t0 not in problem.known:
        try_functions(problem, (t0,))
        problem.known[t0] = True
    deviation, largest = np.max(problem.deviations), float(np.finfo(name).max)
    if deviation > math.sqrt(largest):
        raise ValueError(
            f"process must have a standard deviation of at most {math.sqrt(largest):.3g} in "
            f"{name}, got {deviation:.3g}: use other units, or dtype='float64'"
        )
    steps = _ratio("h", h, "t_span", t1 - t0)
    if (linear := problem if problem.linear else problem.linearization) is not None:
        if scheme.name not in problem.known:
            problem.known[scheme.name] = largest_step(linear, scheme)
        if h > (largest := problem.known[scheme.name]):
            raise ValueError(
                f"h={h:g} is not stable: {method!r} needs h <= {largest:.6g} s for {problem.name!r}"
            )
    if problem.excitation is not None and delta is not None:
        raise ValueError("delta must be None for a problem with excitation=: it has no fine steps")
    fine_steps = _fine_steps(scheme, h, delta, is_exact)
    if steps >= MAX_STEPS or (not is_exact and (fine_steps or 1) >= MAX_STEPS):
        raise ValueError(
            f"h={h:g} gives {steps:.6g} coarse steps of {fine_steps or 1:.6g} fine steps: both "
            f"must be below {MAX_STEPS}. Use a shorter t_span, or a larger delta (None: "
            "h^order) or sampling='exact'"
        )
    save_every = validation.check_integer("save_every", save_every, 1, steps)
    first_path = validation.check_integer("first_path", first_path, 0, 2**32 - paths)
    reductions = find_reductions(reduction)
    work = paths * steps * (1 if is_exact else fine_steps or 1)
    if device is None and is_large:
        device = CPU
    device = resolve(device, work=work, break_even=BREAK_EVEN)
    plan = Plan(
        problem=problem,
        scheme=scheme,
        t0=t0,
        h=h,
        steps=steps,
        fine_steps=fine_steps,
        is_exact=is_exact,
        paths=paths,
        first_path=first_path,
        save_every=save_every,
        reductions=reductions,
        dtype=name,
        normals=normals,
        key=philox.key(rng),
        device=device,
        requested_threads=threads_per_path,
        whole=range(first_path, first_path + paths),
    )
    if threads_per_path is not None:
        plan.threads_per_path()
    return plan


def check_span(t_span: Sequence[float]) -> tuple[float, float]:
    """Return begin and end in s, checked."""
    if isinstance(t_span, str) or not np.iterable(t_span) or len(ends := tuple(t_span)) != 2:
        raise TypeError(f"t_span must hold two times, begin and end, got {t_span!r}")
    t0, t1 = (validation.check_finite("t_span", one) for one in ends)
    if t1 <= t0:
        raise ValueError(f"t_span must end after it begins, got {t_span!r}")
    return t0, t1


def _fine_steps(scheme: Scheme, h: float, delta: float | None, is_exact: bool) -> int | None:
    """Return M = h/delta, or None for the limit of ever finer steps."""
    if delta is None:
        return None if is_exact else scheme.fine_steps(h)
    if delta > h:
        raise ValueError(f"delta must lie in (0, h], where h is {h:g}, got {delta:g}")
    return _ratio("delta", delta, "h", h)


def _ratio(name: str, step: float, whole: str, length: float) -> int:
    """Return how many steps make the length; if not an integer, name the nearest step that fits."""
    count = length / step
    if count == math.inf:
        raise ValueError(f"{name}={step:g} is too small for {whole} of length {length:g}")
    nearest = round(count)
    if nearest < 1 or abs(count - nearest) > 1e-9 * max(1.0, count):
        divisor = length / max(nearest, 1)
        raise ValueError(
            f"{name}={step:g} does not divide {whole} of length {length:g}; {divisor:.17g} does"
        )
    return nearest


def is_large_frame(problem: Problem) -> bool:
    """Return whether a problem is a frame that only loops on a CPU solve."""
    return problem.frame is not None and problem.dimension > 2 * MAX_UNROLLED


def _stretches(fine_steps: int | None, block: int) -> int:
    """Return the largest number of stretches of whole blocks of normal numbers that pays."""
    shared = fine_steps or 1
    useful = [w for w in (32, 16, 8, 4, 2) if shared % (w * block) == 0]
    return next(iter([w for w in useful if shared // w >= MIN_BLOCKS * block]), 1)
