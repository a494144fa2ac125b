"""The schemes: one file each, with everything that the package knows about it.

To add a scheme, add a file with a `Scheme`, and name the object in `SCHEMES`.
"""

from __future__ import annotations

from hetero import validation
from rode._solver.schemes.averaged_euler import AVERAGED_EULER
from rode._solver.schemes.averaged_heun import AVERAGED_HEUN
from rode._solver.schemes.euler import EULER
from rode._solver.schemes.rode_taylor import RODE_TAYLOR
from rode._solver.schemes.scheme import Scheme

SCHEMES: dict[str, Scheme] = {
    scheme.name: scheme for scheme in (EULER, AVERAGED_EULER, AVERAGED_HEUN, *RODE_TAYLOR)
}
"""Every scheme by the name that `rode.solve` takes."""


def find_scheme(method: str) -> Scheme:
    """Return the scheme of this name; raise ValueError if there is none."""
    return SCHEMES[validation.check_choice("method", method, tuple(SCHEMES))]
