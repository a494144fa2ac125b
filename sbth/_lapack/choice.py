"""The choice of the method: loops of this package, LAPACK's drivers, or the GPU's vendor's solver.

The constants for one thread are crossovers of processor time on an AMD EPYC with SciPy 1.17 and
NumPy 2.4 (OpenBLAS 0.3.31), at the orders 20, 100, 200, 400, 1000, 2000 and 4000, those for two
threads of times of `python -m studies run sbth-plane` on an Intel Xeon, which compares what they
choose with SciPy. Those for three and more are estimates from them. A method that is slower than
another one by a tenth may be chosen.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hetero import Device, validation
from hetero.cpu.threads import threads
from hetero.devices import device_of, parse
from sbth._selection import Selection

METHODS = {"cpu": ("auto", "sbth", "lapack"), "cuda": ("auto", "sbth", "cusolver")}
"""Values of `method` on each kind of device."""

_NAMES = tuple(dict.fromkeys(METHODS["cpu"] + METHODS["cuda"]))

_DEVICES = {"lapack": "cpu", "cusolver": "cuda"}
"""The kind of device that a method implies if none is named."""

_NEVER = 1 << 62
"""Order above those of all matrices."""

_TRIDIAGONAL = {
    **{(1, False): _NEVER, (2, False): _NEVER, (3, False): 300},
    **{(1, True): 1500, (2, True): 1500, (3, True): 700},
}
"""Order from which on this package is faster for all eigenvalues of a tridiagonal matrix (False) or
all eigenvectors, too (True), on one thread, on two, and on three or more. On two threads bisection
takes 1.05 to 1.15 times as long as LAPACK, for n = 500 to 4000, with a fraction of its errors."""

_SMALLEST_TRIDIAGONAL = {
    vectors: min(order for key, order in _TRIDIAGONAL.items() if key[1] == vectors)
    for vectors in (False, True)
}
"""The smallest of these orders over all numbers of threads."""

_SOME_VALUES = 150
"""Order from which on bisection computes a part of the eigenvalues, not LAPACK all of them."""

_BANDS: dict[tuple[int, bool], tuple[tuple[int, int, int], ...]] = {
    (1, False): ((1000, 48, 126), (2000, 48, 512), (4000, 20, 1000)),
    (2, False): ((1000, 64, 126), (2000, 24, 256), (4000, 20, 512)),
    (3, False): ((1000, 24, 126), (2000, 12, 256), (4000, 12, 512)),
    (1, True): ((2000, 24, 96),),
    (2, True): ((1000, 24, 256), (2000, 12, 512)),
    (3, True): ((1000, 24, 256), (2000, 12, 512)),
}
"""From each order on, the least number of subdiagonals for which this package is faster than LAPACK
and the least one for which it no longer is; keys as above."""


_SMALLEST_BAND = min(first for entries in _BANDS.values() for first, *_ in entries)
"""The smallest of these orders."""


def requested_device(method: str, device: str | Device | None, *arrays: Any) -> Any:
    """Return `device`, or the one that `method` implies if neither it nor an array says where.

    Raises
    ------
    ValueError
        There is no such method.
    """
    validation.check_choice("method", method, _NAMES)
    if method not in _DEVICES or parse(device) is not None:
        return device
    on_host = all(device_of(a) is None for a in arrays)
    return _DEVICES[method] if on_host else device


def require_method(method: str, device: Device, *, full: bool = False, name: str = "") -> None:
    """Raise ValueError if `method` does not exist on `device`, or not for this kind of matrix."""
    if method not in METHODS[device.kind]:
        allowed = ", ".join(map(repr, METHODS[device.kind]))
        raise ValueError(f"method must be one of {allowed} on {device}, got {method!r}")
    if method == "cusolver" and not full:
        raise ValueError(
            f"method='cusolver' solves full matrices only, by eigh and eigvalsh; {name or 'here'} "
            "takes 'auto' or 'sbth' on a GPU"
        )


def require_lapack(name: str, method: str) -> None:
    """Raise ValueError if this package's loops are asked for a complex matrix."""
    if method == "sbth":
        raise ValueError(
            f"method='sbth' reduces real matrices only, and {name} is complex: use 'auto'"
        )


def tridiagonal_driver(method: str, order: int, selection: Selection, vectors: bool) -> str:
    """Return "sbth" or "lapack" for a real tridiagonal matrix on the CPU."""
    if method != "auto":
        return method
    if not vectors and selection.kind != "a":
        return "lapack" if order < _SOME_VALUES else "sbth"
    if order < _SMALLEST_TRIDIAGONAL[vectors]:
        return "lapack"  # without the number of threads, for which Numba takes a microsecond
    return "sbth" if order >= _TRIDIAGONAL[_threads(), vectors] else "lapack"


def band_driver(method: str, order: int, width: int, dtype: Any, vectors: bool) -> str:
    """Return "sbth", "band" or "dense" for a band matrix on the CPU.

    LAPACK reduces the band by rotations ("band"), or the matrix as a full one ("dense").
    """
    is_complex = np.dtype(dtype).kind == "c"
    if not is_complex:
        if method == "sbth" or width <= 1:
            return "sbth"  # nothing is to be reduced for a width of 1
        if method == "auto" and order >= _SMALLEST_BAND and _is_faster(order, width, vectors):
            return "sbth"
    return "dense" if _is_full_faster(order, width, vectors) else "band"


def _is_full_faster(order: int, width: int, vectors: bool) -> bool:
    """Return whether LAPACK solves a band faster as a full matrix.

    On several threads OpenBLAS divides even small full matrices among them, which takes longer than
    one thread (n = 200: 2 to 4 times as long), where the band is solved by one. With
    less than 24 subdiagonals LAPACK reduces small bands (n < 200) in at most the time of full ones.
    """
    if not vectors:
        if width < 24 or 8 * width <= order:
            return False
        return order >= _PARALLEL_ORDER or 4 * width > order or _threads() == 1
    if order < 200:
        return order >= 50 and width >= 24 and 10 * width >= 3 * order
    if _threads() == 1:
        return width >= (16 if order < _PARALLEL_ORDER else 4)
    if order < _PARALLEL_ORDER:
        return 2 * width >= order
    return width >= (24 if order < _PARALLEL_VECTORS else 8)


_PARALLEL_ORDER = 300
"""Order from which on several threads of BLAS solve a full matrix at least as fast as one."""

_PARALLEL_VECTORS = 1000
"""Order from which on they compute its eigenvectors faster than one."""


def _is_faster(order: int, width: int, vectors: bool) -> bool:
    """Return whether this package reduces a real band faster than LAPACK."""
    low, high = 1, 0
    for first, *widths in _BANDS[_threads(), vectors]:
        if order >= first:
            low, high = widths
    return low <= width < high


def full_driver(method: str, dtype: Any) -> str:
    """Return "sbth" or "lapack" for a full matrix on the CPU; "sbth" was faster at no order."""
    return "sbth" if method == "sbth" and np.dtype(dtype).kind != "c" else "lapack"


def _threads() -> int:
    """Return the key of the tables above for the threads that loops use."""
    return min(threads(), 3)
