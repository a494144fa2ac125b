"""Routines of LAPACK that a caller names as in SciPy, and kinds of problems that SciPy solves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import scipy.linalg

from hetero.devices import device_of, parse, resolve

_PLAIN: dict[str, Any] = {"driver": None, "lapack_driver": "auto", "type": 1}
"""Arguments by which a caller of SciPy chooses a routine or a kind of problem, and the values with
which this package chooses."""

NAMES = frozenset(_PLAIN)

_OWN = "method", "progress", "device"
"""Arguments that SciPy's functions do not have."""


def solve_by_scipy(function: str, arguments: Sequence[Any], options: dict[str, Any]) -> Any:
    """Return what a function of `scipy.linalg` returns; None if the call names nothing of SciPy's.

    Raises
    ------
    ValueError
        The arrays or the device are those of a GPU, or the method is not LAPACK.
    """
    named = {n: options[n] for n in NAMES & options.keys() if options[n] != _PLAIN[n]}
    if not named:
        return None
    described = ", ".join(f"{name}={value!r}" for name, value in named.items())
    method = options.get("method", "auto")
    by_name = (options.get(name) for name in ("a", "b", "d", "e"))
    arrays = [x for x in (*arguments[:2], *by_name) if x is not None]
    device = options.get("device")
    if parse(device) is None and all(device_of(x) is None for x in arrays):
        device = "cpu"
    device = resolve(device, *arrays)
    if device.kind != "cpu" or method not in ("auto", "lapack"):
        raise ValueError(
            f"{described} asks for a routine of LAPACK, which runs on a CPU: leave it out for "
            f"method={method!r} on {device}"
        )
    others = {name: x for name, x in options.items() if name not in _OWN}
    if others.get("tol", 0.0) is None:
        others["tol"] = 0.0
    if "select" in others and "tridiagonal" not in function:
        raise ValueError(f"select must not be given beside {described}: use subset_by_index")
    result: Any = getattr(scipy.linalg, function)(*arguments, **others)
    return result
