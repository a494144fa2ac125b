"""Checked arguments of `solve`, and the quantities that follow from them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hetero import philox, validation
from hetero.devices import CPU, Device, resolve
from rode._problems.checks import try_functions
from rode._solver.excited import ExcitationArrays, Shape, describe
from rode._solver.path_sums import (
    GaussianDistribution,
    integrals_distribution,
    sums_distribution,
    transfer,
)
from rode._solver.reductions import Requested, find_reductions
from rode._solver.reductions.reduction import Extent, Reduction
from rode._solver.schemes import METHODS, SCHEMES
from rode._solver.schemes.scheme import Scheme
from rode._solver.stability import largest_step
from rode._solver.statistics.leaves import leaf_size
from rode.problems import Problem

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from rode.normals import Seed

BREAK_EVEN = 2_000_000
"""Number of fine steps of all paths above which a GPU is faster (measured)."""

FRAME_LOOPS = 8
"""Storeys of a linear frame beyond which its matrices are arrays in loops, on a CPU. Other code is
written out for a number of storeys, which takes the compiler half a minute for 10."""

MAX_UNROLLED = 50
"""Storeys of a linear frame beyond which it has no other code: compiling it takes many minutes."""

MAX_STEPS = 2**31
"""Bound of the numbers of coarse steps and of fine steps in one; of all fine steps, its square."""

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

    @classmethod
    def checked(
        cls,
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
        """Check the arguments of `solve` and return the plan."""
        if not isinstance(problem, Problem):
            raise TypeError(f"problem must be a rode.Problem, got {type(problem).__name__}")
        scheme = METHODS[validation.check_choice("method", method, tuple(METHODS))]
        is_exact = validation.check_choice("sampling", sampling, ("path", "exact")) == "exact"
        name = validation.check_dtype("dtype", dtype, ("float32", "float64")).name
        normals = name if normals is None else normals
        kinds = {"float64": ("float64", "float32"), "float32": ("float32", "fast")}[name]
        validation.check_choice("normals", normals, kinds)
        if isinstance(t_span, str) or not np.iterable(t_span) or len(ends := tuple(t_span)) != 2:
            raise TypeError(f"t_span must hold two times, begin and end, got {t_span!r}")
        t0 = validation.check_finite("t_span", ends[0])
        t1 = validation.check_finite("t_span", ends[1])
        h = validation.check_in_range("h", h, 0.0, math.inf, closed="neither")
        delta = None if delta is None else validation.check_positive("delta", delta)
        paths = validation.check_integer("paths", paths, 1, 2**32)
        if problem.sets not in (1, paths):
            raise ValueError(f"parameters are for {problem.sets} paths, but paths={paths}")
        if t1 <= t0:
            raise ValueError(f"t_span must end after it begins, got {t_span!r}")
        _require_scheme(scheme, problem, is_exact)
        if t0 not in problem.known:
            try_functions(problem, (t0,))
            problem.known[t0] = True
        deviation, largest = problem.deviation, float(np.finfo(name).max)
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
                    f"h={h:g} is not stable: {method!r} needs h <= {largest:.6g} s for "
                    f"{problem.name!r}"
                )
        if problem.excitation is not None and delta is not None:
            raise ValueError(
                "delta must be None for a problem with excitation=: it has no fine steps"
            )
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
        if device is None and is_large_frame(problem):
            device = CPU
        device = resolve(device, work=work, break_even=BREAK_EVEN)
        plan = cls(
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
        if problem.excitation is not None and scheme.make_nonlinear_step is not None:
            _require_one_component(plan)
        if threads_per_path is not None:
            plan.threads_per_path()
        return plan

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


def _require_scheme(scheme: Scheme, problem: Problem, is_exact: bool) -> None:
    """Raise ValueError unless a scheme and the sampling are for problems of this kind."""
    is_separable = problem.G is not None
    if problem.excitation is not None and not is_exact:
        raise ValueError(
            "sampling must be 'exact' for a problem with excitation=, whose integrals over a "
            f"coarse step are drawn from their joint law, got 'path': {problem.name!r} has no fine "
            "steps"
        )
    if is_exact and is_separable:
        raise ValueError(
            "sampling='exact' needs noise that enters linearly (rode.additive): averages of "
            "G(t, O) and g(t, O) have no joint normal distribution; use sampling='path'"
        )
    if is_large_frame(problem) and not scheme.linear_only:
        raise ValueError(
            f"method must be one such as '3-rode-taylor' for a frame of more than {MAX_UNROLLED} "
            f"storeys, got {scheme.name!r}"
        )
    if problem.f is not None:
        if scheme.make_general_step is None:
            general = [repr(one.name) for one in SCHEMES.values() if one.make_general_step]
            raise ValueError(
                f"method {scheme.name!r} needs the form H(x) + B O or G(t, O) + g(t, O) H(x), and "
                f"{problem.name!r} is x' = f(t, x, O); use one of {', '.join(general)}"
            )
        return
    lacks_step = is_separable and scheme.make_separable_step is None
    if not lacks_step and (problem.linear or not scheme.linear_only):
        return
    has_nonlinear_step = scheme.make_nonlinear_step is not None and not is_separable
    if has_nonlinear_step and problem.derivatives >= scheme.derivatives:
        return
    kind = "linear problems x' = A x + B O" if scheme.linear_only else "x' = H(x) + B O"
    if has_nonlinear_step:
        names = " and ".join(("first_derivative", "second_derivative")[: scheme.derivatives])
        kind = f"{kind}, or others x' = H(x) + B O with {names}"
    reason = "not declared linear" if scheme.linear_only else "separable"
    others = (
        repr(other.name)
        for other in SCHEMES.values()
        if not other.linear_only and (other.make_separable_step or not is_separable)
    )
    raise ValueError(
        f"method {scheme.name!r} is for {kind}, and {problem.name!r} is {reason}; use one of "
        f"{', '.join(others)}"
    )


def _require_one_component(plan: Plan) -> None:
    """Raise ValueError if a nonlinear step of K-RODE-Taylor would get several components."""
    problem = plan.problem
    assert problem.excitation is not None
    if not problem.linear and problem.excitation.components > 1:
        raise ValueError(
            f"method {plan.scheme.name!r} takes one component of an excitation if H is not linear, "
            f"got {problem.excitation.components}; use 'averaged-heun'"
        )


def is_large_frame(problem: Problem) -> bool:
    """Return whether a problem is a frame that only loops on a CPU solve."""
    return problem.frame is not None and problem.dimension > 2 * MAX_UNROLLED


def _stretches(fine_steps: int | None, block: int) -> int:
    """Return the largest number of stretches of whole blocks of normal numbers that pays."""
    shared = fine_steps or 1
    useful = [w for w in (32, 16, 8, 4, 2) if shared % (w * block) == 0]
    return next(iter([w for w in useful if shared // w >= MIN_BLOCKS * block]), 1)


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
