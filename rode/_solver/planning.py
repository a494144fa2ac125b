"""Checks of the arguments of `rode.solve`, which make a plan."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from hetero import philox, validation
from hetero.devices import CPU, Device, resolve
from rode._problems.checks import try_functions
from rode._solver.plan import MAX_UNROLLED, Plan, is_large_frame
from rode._solver.reductions import Requested, find_reductions
from rode._solver.schemes import SCHEMES, find_scheme
from rode._solver.schemes.scheme import Scheme
from rode._solver.stability import largest_step
from rode.problems import Problem

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from rode.normals import Seed

BREAK_EVEN = 2_000_000
"""Number of fine steps of all paths above which a GPU is faster (measured)."""

MAX_STEPS = 2**31
"""Bound of the numbers of coarse steps and of fine steps in one; of all fine steps, its square."""


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
    scheme = find_scheme(method)
    is_exact = validation.check_choice("sampling", sampling, ("path", "exact")) == "exact"
    name = validation.check_dtype("dtype", dtype, ("float32", "float64")).name
    normals = name if normals is None else normals
    kinds = {"float64": ("float64", "float32"), "float32": ("float32", "fast")}[name]
    validation.check_choice("normals", normals, kinds)
    t0, t1 = check_span(t_span)
    h = validation.check_positive("h", h)
    delta = None if delta is None else validation.check_positive("delta", delta)
    paths = validation.check_integer("paths", paths, 1, 2**32)
    if problem.sets not in (1, paths):
        raise ValueError(f"parameters are for {problem.sets} paths, but paths={paths}")
    _require_scheme(scheme, problem, is_exact)
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
    if device is None and is_large_frame(problem):
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
        if problem.excitation is not None and problem.excitation.components > 1:
            raise ValueError(
                f"method {scheme.name!r} takes one component of an excitation if H is not linear, "
                f"got {problem.excitation.components}; use 'averaged-heun'"
            )
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
