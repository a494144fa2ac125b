"""The schemes: one file each, with everything that the package knows about it.

To add a scheme, add a file with a `Scheme`, and name the object in `SCHEMES`.
"""

from __future__ import annotations

from dataclasses import replace

from hetero import validation
from rode._solver.schemes.averaged_euler import AVERAGED_EULER
from rode._solver.schemes.averaged_heun import AVERAGED_HEUN
from rode._solver.schemes.euler import EULER
from rode._solver.schemes.heun import HEUN
from rode._solver.schemes.rode_taylor import RODE_TAYLOR
from rode._solver.schemes.scheme import Scheme

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
