"""Checked arguments of `solve`, and the quantities that follow from them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hetero import philox, validation
from hetero.devices import Device, resolve
from rode._problems.checks import try_functions
from rode._solver.joint_quantiles import Between, Brackets
from rode._solver.path_sums import (
    GaussianDistribution,
    integrals_distribution,
    sums_distribution,
    transfer,
)
from rode._solver.schemes import SCHEMES, find_scheme
from rode._solver.schemes.scheme import Scheme
from rode._solver.stability import largest_step
from rode.normals import float_type
from rode.problems import Problem
from rode.results import Quantiles, Reduction, Work

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from rode.normals import Seed

BREAK_EVEN = 2_000_000
"""Number of fine steps of all paths above which a GPU is faster (measured)."""

MAX_STEPS = 2**31
"""Bound of the numbers of coarse steps and of fine steps in one; of all fine steps, its square."""

REDUCTIONS = ("paths", "moments", "peaks")
"""Names of reductions; the others are `Quantiles`."""


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
    reductions : what is kept of the paths; shares of a run have those of `joint_quantiles`, too
    dtype, normals : types of the solver and of the normal numbers
    key : Philox's key
    device : the device that solves
    threads_per_path : threads that share a path on a GPU; 1 on a CPU
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
    reductions: tuple[Reduction | Brackets | Between, ...]
    dtype: str
    normals: str
    key: tuple[np.uint32, np.uint32]
    device: Device
    threads_per_path: int

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
        reduction: Reduction | Sequence[Reduction] | None = None,
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
        scheme = _scheme_of(problem, method)
        is_exact = _is_exact(problem, sampling)
        name = float_type(dtype).name
        normals = name if normals is None else normals
        kinds = {"float64": ("float64", "float32"), "float32": ("float32", "fast")}[name]
        validation.check_choice("normals", normals, kinds)
        t0, t1 = _span_of(t_span)
        try_functions(problem, (t0,))
        deviation, largest = problem.process.deviation, float(np.finfo(name).max)
        if deviation > math.sqrt(largest):
            raise ValueError(
                f"process must have a standard deviation of at most {math.sqrt(largest):.3g} in "
                f"{name}, got {deviation:.3g}: use other units, or dtype='float64'"
            )
        h = validation.check_in_range("h", h, 0.0, math.inf, closed="neither")
        steps = _ratio("h", h, "t_span", t1 - t0)
        paths = validation.check_integer("paths", paths, 1, 2**32)
        if problem.sets not in (1, paths):
            raise ValueError(f"parameters are for {problem.sets} paths, but paths={paths}")
        if problem.linear and h > (largest := largest_step(problem, scheme)):
            raise ValueError(
                f"h={h:g} is not stable: {method!r} needs h <= {largest:.6g} s for {problem.name!r}"
            )
        fine_steps = _fine_steps(scheme, h, delta, is_exact)
        if steps >= MAX_STEPS or (not is_exact and (fine_steps or 1) >= MAX_STEPS):
            raise ValueError(
                f"h={h:g} gives {steps:.6g} coarse steps of {fine_steps or 1:.6g} fine steps: both "
                f"must be below {MAX_STEPS}. Use a shorter t_span, or a larger delta (None: "
                "h^order) or sampling='exact'"
            )
        reductions = _reductions_of(reduction)
        save_every = validation.check_integer("save_every", save_every, 1, steps)
        first_path = validation.check_integer("first_path", first_path, 0, 2**32 - paths)
        work = paths * steps * (1 if is_exact else fine_steps or 1)
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
            threads_per_path=1,
        )
        return replace(plan, threads_per_path=choose_threads_per_path(plan, threads_per_path))

    @property
    def kind(self) -> str:
        """Kind of the compiled solver; see `KernelSpec`."""
        return "separable" if self.problem.B is None else ("exact" if self.is_exact else "path")

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
            "process": repr(problem.process),
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
        }

    @property
    def times(self) -> int:
        """Number of times at which outputs are saved, the start included."""
        return self.steps // self.save_every + 1

    @property
    def saves_times(self) -> bool:
        """True if outputs are saved at some times, and not only peaks are wanted."""
        return any(one != "peaks" for one in self.reductions)

    @property
    def work(self) -> Work:
        """Work that the run does."""
        fine_steps, done = self.fine_steps or 1, self.paths * self.steps
        if self.is_exact:
            return Work(self.paths, self.steps, done, done * (self.scheme.form_count + 1))
        return Work(self.paths, self.steps, done * fine_steps, done * fine_steps)

    def sums_distribution(self) -> GaussianDistribution:
        """Return the distribution of (O_h, F_0, F_1, ..) or (O_h, J_0, J_1, ..) given O_0."""
        process, degree = self.problem.process, self.scheme.form_count - 1
        if self.fine_steps is None:
            return integrals_distribution(process, self.h, degree)
        return sums_distribution(process, self.h / self.fine_steps, degree, self.fine_steps)

    def transfers(self) -> np.ndarray:
        """Return T^(L 2^k), k < 5, for stretches of L fine steps, one of each thread of a path."""
        size, fine_steps = self.scheme.form_count + 1, self.fine_steps or 1
        if self.threads_per_path == 1:
            return np.zeros((5, size, size))
        process, delta = self.problem.process, self.h / fine_steps
        stretch = fine_steps // self.threads_per_path
        return np.array([transfer(process, delta, size - 2, stretch << k) for k in range(5)])


def _scheme_of(problem: Problem, method: str) -> Scheme:
    """Return the scheme of a method, if it is for problems of this kind."""
    scheme, is_separable = find_scheme(method), problem.B is None
    lacks_step = is_separable and scheme.make_separable_step is None
    if not lacks_step and (problem.linear or not scheme.linear_only):
        return scheme
    has_nonlinear_step = scheme.make_nonlinear_step is not None and not is_separable
    if has_nonlinear_step and problem.derivatives >= scheme.derivatives:
        return scheme
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
        f"method {method!r} is for {kind}, and {problem.name!r} is {reason}; use one of "
        f"{', '.join(others)}"
    )


def _is_exact(problem: Problem, sampling: str) -> bool:
    """Return whether sums are drawn from their distribution, if the problem allows."""
    is_exact = validation.check_choice("sampling", sampling, ("path", "exact")) == "exact"
    if is_exact and problem.B is None:
        raise ValueError(
            "sampling='exact' needs noise that enters linearly (rode.additive): averages of "
            "G(t, O) and g(t, O) have no joint normal distribution; use sampling='path'"
        )
    return is_exact


def _fine_steps(scheme: Scheme, h: float, delta: float | None, is_exact: bool) -> int | None:
    """Return M = h/delta, or None for the limit of ever finer steps."""
    if delta is None:
        return None if is_exact else scheme.fine_steps(h)
    delta = validation.check_positive("delta", delta)
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


def _span_of(t_span: Sequence[float]) -> tuple[float, float]:
    """Return the two times as floats."""
    if isinstance(t_span, str) or not np.iterable(t_span) or len(ends := tuple(t_span)) != 2:
        raise TypeError(f"t_span must hold two times, begin and end, got {t_span!r}")
    begin, end = (validation.check_finite("t_span", t) for t in ends)
    if end <= begin:
        raise ValueError(f"t_span must end after it begins, got {t_span!r}")
    return begin, end


def _reductions_of(
    reduction: Reduction | Sequence[Reduction] | None,
) -> tuple[Reduction, ...]:
    """Check the argument `reduction` of `solve`; None stands for "paths"."""
    requested = "paths" if reduction is None else reduction
    reductions = tuple(requested) if isinstance(requested, tuple | list) else (requested,)
    for one in reductions:
        if not isinstance(one, Quantiles):
            validation.check_choice("reduction", one, REDUCTIONS)
    return reductions


def choose_threads_per_path(plan: Plan, requested: int | None) -> int:
    """Return the threads of a path, which share the fine steps of a coarse one in equal blocks."""
    block = 2 if plan.normals == "float64" else 4
    shared = plan.fine_steps or 1  # 1 is shared by no threads
    divisors = [w for w in (1, 2, 4, 8, 16, 32) if w == 1 or shared % (w * block) == 0]
    if requested is not None:
        requested = validation.check_integer("threads_per_path", requested, 1, 32)
        if requested & (requested - 1):
            raise ValueError(f"threads_per_path must be a power of two up to 32, got {requested}")
        if requested not in divisors or (requested > 1 and plan.kind != "path"):
            raise ValueError(
                f"threads_per_path={requested} needs sampling='path', additive noise and h/delta "
                f"divisible by {requested * block}"
            )
        return requested
    if plan.device.kind == "cpu" or plan.kind != "path":
        return 1
    from hetero.cuda import launch

    enough = 512 * launch.multiprocessors()
    useful = [w for w in divisors if w == 1 or shared // w >= 8 * block]
    return next((w for w in useful if plan.paths * w >= enough), useful[-1])
