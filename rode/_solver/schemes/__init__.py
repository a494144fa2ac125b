"""The schemes: one file each, with everything that the package knows about it.

To add a scheme, add a file with a `Scheme`, and name the object in `SCHEMES`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hetero import validation
from rode._solver.schemes.averaged_euler import AVERAGED_EULER
from rode._solver.schemes.averaged_heun import AVERAGED_HEUN
from rode._solver.schemes.euler import EULER
from rode._solver.schemes.heun import HEUN
from rode._solver.schemes.rode_taylor import RODE_TAYLOR
from rode._solver.schemes.scheme import Scheme

if TYPE_CHECKING:
    from rode.problems.problem import Problem

SCHEMES: dict[str, Scheme] = {
    scheme.name: scheme for scheme in (EULER, HEUN, AVERAGED_EULER, AVERAGED_HEUN, *RODE_TAYLOR)
}
"""Every scheme by the name that `rode.solve` takes."""

_PRINTED = {
    f"{scheme.name}-printed": replace(scheme, name=f"{scheme.name}-printed", averages="printed")
    for scheme in (AVERAGED_EULER, AVERAGED_HEUN)
}
"""Schemes with the averages as they are printed, for comparisons with (Riesinger 2017)."""

METHODS = SCHEMES | _PRINTED
"""Every value of the argument `method`."""


def find_scheme(method: str) -> Scheme:
    """Return the scheme of this name; raise ValueError if there is none."""
    return METHODS[validation.check_choice("method", method, tuple(METHODS))]


def require_scheme(scheme: Scheme, problem: Problem, is_exact: bool) -> None:
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
