"""Monte Carlo over paths of a random ordinary differential equation."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from numbers import Integral

import numpy as np

from hetero import errors, philox, region
from hetero.devices import resolve
from rode import schemes
from rode.functionals import integrals_law, sums_law, transfer
from rode.problems import Problem
from rode.stability import largest_step

BREAK_EVEN = 2_000_000
"""Fine steps of all paths from which a GPU is faster."""

BUFFER = 256 * 2**20
"""Bytes of outputs that are kept at most while they are reduced."""

STREAM = 0x0DE
"""Of the Philox counter: solve shares no words with other uses of a seed."""

REDUCTIONS = ("paths", "moments", "peaks")


@dataclass(frozen=True)
class Quantiles:
    """A reduction: these quantiles over paths at every saved time (linear between ranks)."""

    probabilities: tuple[float, ...]

    def __init__(self, *probabilities: float):
        checked = tuple(errors.within("probabilities", q, 0.0, 1.0) for q in probabilities)
        if not checked:
            raise ValueError("Quantiles needs at least one probability")
        object.__setattr__(self, "probabilities", checked)


@dataclass(frozen=True)
class Work:
    """What a run did: paths, coarse steps of each, fine steps of all, normal numbers drawn."""

    paths: int
    coarse_steps: int
    fine_steps: int
    normals: int


@dataclass(frozen=True)
class Result:
    """Of `solve`. Arrays are NumPy; what was not asked for is None.

    Attributes
    ----------
    t : (times,) array
    outputs : names of the outputs
    paths : (times, outputs, paths) array
    mean, variance : (times, outputs) arrays; the variance divides by the number of paths less one
    quantiles : (probabilities, times, outputs) array
    peaks : (outputs, paths) array: the largest absolute value over the coarse steps of each path
    work : Work
    status : "success", or "diverged" where a path became infinite or NaN
    message : in words
    """

    t: np.ndarray
    outputs: tuple[str, ...]
    work: Work
    status: str
    message: str
    paths: np.ndarray | None = field(default=None, repr=False)
    mean: np.ndarray | None = field(default=None, repr=False)
    variance: np.ndarray | None = field(default=None, repr=False)
    quantiles: np.ndarray | None = field(default=None, repr=False)
    peaks: np.ndarray | None = field(default=None, repr=False)

    def index(self, output: str) -> int:
        """The place of an output's name."""
        errors.one_of("output", output, self.outputs)
        return self.outputs.index(output)


def solve(
    problem: Problem,
    method: str,
    *,
    t_span: tuple[float, float],
    h: float,
    delta: float | None = None,
    paths: int,
    sampling: str = "path",
    rng=None,
    reduction=None,
    save_every: int = 1,
    dtype=np.float64,
    normals=None,
    first_path: int = 0,
    threads_per_path: int | None = None,
    device=None,
) -> Result:
    """Solve for many paths of the process and reduce what they give.

    Parameters
    ----------
    problem : rode.Problem
    method : {"euler", "averaged-euler", "averaged-heun", "K-rode-taylor"}
        K from 1 to 8, for linear H only: "3-rode-taylor".
    t_span : begin and end, s
    h : coarse step, s; divides the span
    delta : fine step of the process, s; divides h. None: as fine as the method's order asks for
        (sampling "path"), or the limit of ever finer steps ("exact").
    paths : how many
    sampling : {"path", "exact"}
        "exact" draws what a coarse step needs of the path from its joint normal law, K + 1 numbers
        in place of h/delta; the law of the results is that of "path". For additive noise.
    rng : None, int, SeedSequence or NumPy Generator
    reduction : None or "paths", "moments", "peaks", `Quantiles(..)`, or a tuple of them
        The paths themselves are kept only if asked for.
    save_every : coarse steps from one saved time to the next; the start is saved too
    dtype : {float64, float32} of the solver
    normals : None, "float32" in a float64 solver, or "fast" in a float32 solver: those of the
        methods "box-muller" and "box-muller-fast" of `rode.normal`
    first_path : number of the first path: ranks that share the work take disjoint ranges
    threads_per_path : on a GPU, a power of two up to 32; None: enough to fill it. Sums are rounded
        in another order for another number, in the last digits.
    device : where

    Returns
    -------
    Result

    Raises
    ------
    TypeError, ValueError
        Before anything runs: h that is not stable or does not divide the span, delta that does not
        divide h, no paths, a Taylor scheme for a problem that is not linear, NaN.
    """
    plan = Plan.checked(problem, method, t_span, h, delta, paths, sampling, dtype, normals)
    wanted = reductions_of(reduction)
    save_every = count_of("save_every", save_every, 1, max(1, plan.steps))
    first_path = count_of("first_path", first_path, 0, 2**32 - paths)
    device = resolve(device, work=plan.work().fine_steps, break_even=BREAK_EVEN)
    width = width_of(plan, threads_per_path, device)
    key = philox.key(rng)
    with device.active(), region("rode solve"):
        from rode._run import Solver

        return Solver(plan, wanted, save_every, first_path, width, key, device).run()


@dataclass(frozen=True)
class Plan:
    """The checked arguments of a run. `fine` is M; None for the limit of ever finer steps."""

    problem: Problem
    scheme: str
    K: int
    t0: float
    h: float
    steps: int
    fine: int | None
    paths: int
    exact: bool
    dtype: str
    normals: str

    @classmethod
    def checked(cls, problem, method, t_span, h, delta, paths, sampling, dtype, normals) -> Plan:
        if not isinstance(problem, Problem):
            raise TypeError(f"problem must be a rode.Problem, got {type(problem).__name__}")
        scheme, K = schemes.parsed(method)
        if scheme == "rode-taylor" and not problem.linear:
            raise ValueError(
                f"method {method!r} is for linear problems x' = A x + B O: the terms that the "
                f"paper leaves out for others lower its order to 1. {problem.name!r} is not "
                "declared linear; take 'averaged-heun'"
            )
        exact = errors.one_of("sampling", sampling, ("path", "exact")) == "exact"
        if exact and problem.B is None:
            raise ValueError(
                "sampling='exact' needs noise that enters linearly (rode.additive): averages of "
                "G(t, O) and g(t, O) have no joint normal law; take sampling='path'"
            )
        dtype = errors.one_of("dtype", np.dtype(dtype).name, ("float64", "float32"))
        normals = dtype if normals is None else normals
        kinds = {"float64": ("float64", "float32"), "float32": ("float32", "fast")}[dtype]
        errors.one_of("normals", normals, kinds)
        t0, t1 = (errors.real("t_span", t) for t in t_span)
        h = errors.within("h", h, 0.0, math.inf, closed="neither")
        steps = _ratio("h", h, "t_span", t1 - t0)
        paths = count_of("paths", paths, 1, 2**32)
        if problem.sets not in (1, paths):
            raise ValueError(f"parameters are for {problem.sets} paths, but paths={paths}")
        if problem.linear and h > (most := largest_step(problem, scheme, K)):
            raise ValueError(
                f"h={h:g} is not stable: {method!r} needs h <= {most:.6g} s for {problem.name!r}"
            )
        if delta is None:
            fine = None if exact else schemes.fine_steps(method, h)
        else:
            delta = errors.within("delta", delta, 0.0, h, closed="right")
            fine = _ratio("delta", delta, "h", h)
        return cls(problem, scheme, K, t0, h, steps, fine, paths, exact, dtype, normals)

    @property
    def kind(self) -> str:
        return "fields" if self.problem.B is None else ("law" if self.exact else "sums")

    @property
    def degree(self) -> int:
        """D: sums F_0 .. F_D; for fields, 0 is the plain Euler scheme and 1 the averaged ones."""
        return int(self.scheme != "euler") if self.kind == "fields" else self.K - 1

    def law(self):
        """The law of (O_h, F_0, .., F_D) or (O_h, J_0, .., J_D) given O_0."""
        process = self.problem.process
        if self.fine is None:
            return integrals_law(process, self.h, self.degree)
        return sums_law(process, self.h / self.fine, self.degree, self.fine)

    def transfers(self, width: int) -> np.ndarray:
        """T^(L 2^k), k < 5, for stretches of L fine steps."""
        size = self.degree + 2
        if width == 1:
            return np.zeros((5, size, size))
        stretch, delta = self.fine // width, self.h / self.fine
        return np.array(
            [transfer(self.problem.process, delta, self.degree, stretch << k) for k in range(5)]
        )

    def work(self) -> Work:
        fine = self.fine or 1
        draws = self.K + 1 if self.kind == "law" else fine
        done = self.paths * self.steps
        return Work(self.paths, self.steps, done * (1 if self.exact else fine), done * draws)


def _ratio(name: str, step: float, whole: str, length: float) -> int:
    """How many steps make the length; an error that names the nearest step if not an integer."""
    count = length / step
    nearest = round(count)
    if nearest < 1 or abs(count - nearest) > 1e-9 * max(1.0, count):
        remedy = f"; {length / max(nearest, 1):.17g} does" if length > 0.0 else ""
        raise ValueError(f"{name}={step:g} does not divide {whole} of length {length:g}{remedy}")
    return nearest


def count_of(name: str, value, low: int, high: int) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or not low <= value <= high:
        raise ValueError(f"{name} must be an integer in [{low}, {high}], got {value!r}")
    return int(value)


def reductions_of(reduction) -> tuple:
    wanted = ("paths",) if reduction is None else reduction
    wanted = wanted if isinstance(wanted, tuple | list) else (wanted,)
    for one in wanted:
        if not isinstance(one, Quantiles):
            errors.one_of("reduction", one, REDUCTIONS)
    return tuple(wanted)


def width_of(plan: Plan, asked, device) -> int:
    """Threads of a path: the fine steps of a coarse one are shared in equal whole blocks."""
    block = 2 if plan.normals == "float64" else 4
    shared = plan.fine or 1  # 1 is shared by no threads
    fits = [w for w in (1, 2, 4, 8, 16, 32) if w == 1 or shared % (w * block) == 0]
    if asked is not None:
        if asked not in (1, 2, 4, 8, 16, 32):
            raise ValueError(f"threads_per_path must be a power of two up to 32, got {asked!r}")
        if asked not in fits or (asked > 1 and plan.kind != "sums"):
            raise ValueError(
                f"threads_per_path={asked} needs sampling='path', additive noise and h/delta "
                f"divisible by {asked * block}"
            )
        return asked
    if device.kind == "cpu" or plan.kind != "sums":
        return 1
    from hetero import launch

    enough = 512 * launch.multiprocessors()
    useful = [w for w in fits if w == 1 or plan.fine // w >= 8 * block]
    return next((w for w in useful if plan.paths * w >= enough), useful[-1])
