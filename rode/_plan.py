"""The checked arguments of `solve`, and what follows from them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hetero import errors
from rode import schemes
from rode._checks import try_functions
from rode.functionals import integrals_law, sums_law, transfer
from rode.normals import float_type
from rode.problems import Problem
from rode.stability import largest_step

MOST_STEPS = 2**32 - 1
"""Coarse steps of a run, and fine ones in each: their numbers are words of the Philox counter."""


@dataclass(frozen=True)
class Work:
    """What a run did: paths, coarse steps of each, fine steps of all, normal numbers drawn."""

    paths: int
    coarse_steps: int
    fine_steps: int
    normals: int


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
        scheme, K = _scheme_of(problem, method)
        exact = _is_exact(problem, sampling)
        dtype = float_type(dtype).name
        normals = dtype if normals is None else normals
        kinds = {"float64": ("float64", "float32"), "float32": ("float32", "fast")}[dtype]
        errors.one_of("normals", normals, kinds)
        t0, t1 = span_of(t_span)
        try_functions(problem, (t0,))
        h = errors.within("h", h, 0.0, math.inf, closed="neither")
        steps = _ratio("h", h, "t_span", t1 - t0)
        paths = errors.whole("paths", paths, 1, 2**32)
        if problem.sets not in (1, paths):
            raise ValueError(f"parameters are for {problem.sets} paths, but paths={paths}")
        if problem.linear and h > (most := largest_step(problem, scheme, K)):
            raise ValueError(
                f"h={h:g} is not stable: {method!r} needs h <= {most:.6g} s for {problem.name!r}"
            )
        fine = _fine_steps(method, h, delta, exact)
        if steps >= MOST_STEPS or (not exact and fine >= MOST_STEPS):
            raise ValueError(
                f"h={h:g} makes {steps:.6g} coarse steps of {fine or 1:.6g} fine ones: both must "
                f"be below {MOST_STEPS}. Take a shorter t_span, or a larger delta (None: h^order) "
                "or sampling='exact'"
            )
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


def _scheme_of(problem: Problem, method: str) -> tuple[str, int]:
    scheme, K = schemes.parsed(method)
    if scheme == "rode-taylor" and not problem.linear:
        raise ValueError(
            f"method {method!r} is for linear problems x' = A x + B O: the terms that the "
            f"paper leaves out for others lower its order to 1. {problem.name!r} is not "
            "declared linear; take 'averaged-heun'"
        )
    return scheme, K


def _is_exact(problem: Problem, sampling: str) -> bool:
    exact = errors.one_of("sampling", sampling, ("path", "exact")) == "exact"
    if exact and problem.B is None:
        raise ValueError(
            "sampling='exact' needs noise that enters linearly (rode.additive): averages of "
            "G(t, O) and g(t, O) have no joint normal law; take sampling='path'"
        )
    return exact


def _fine_steps(method: str, h: float, delta, exact: bool) -> int | None:
    if delta is None:
        return None if exact else schemes.fine_steps(method, h)
    delta = errors.within("delta", delta, 0.0, h, closed="right")
    return _ratio("delta", delta, "h", h)


def _ratio(name: str, step: float, whole: str, length: float) -> int:
    """How many steps make the length; an error that names the nearest step if not an integer."""
    count = length / step
    if count == math.inf:
        raise ValueError(f"{name}={step:g} is too small for {whole} of length {length:g}")
    nearest = round(count)
    if nearest < 1 or abs(count - nearest) > 1e-9 * max(1.0, count):
        fits = length / max(nearest, 1)
        raise ValueError(
            f"{name}={step:g} does not divide {whole} of length {length:g}; {fits:.17g} does"
        )
    return nearest


def span_of(t_span) -> tuple[float, float]:
    """Begin and end as floats."""
    if isinstance(t_span, str) or not np.iterable(t_span) or len(ends := tuple(t_span)) != 2:
        raise TypeError(f"t_span must hold two times, begin and end, got {t_span!r}")
    begin, end = (errors.real("t_span", t) for t in ends)
    if end <= begin:
        raise ValueError(f"t_span must end after it begins, got {t_span!r}")
    return begin, end


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
