"""Averages and Riemann sums over coarse steps of a path in memory (Riesinger 2017, chapter 10)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from hetero import region, validation
from hetero.arrays import Workspace, as_real
from hetero.devices import Device, device_of, resolve
from rode._paths import averages
from rode._solver.schemes.rode_taylor import MAX_ORDER

BREAK_EVEN = 4_000_000
"""Elements from which a GPU is faster although they are copied to it."""


def average(path: Any, steps: int, *, device: Device | str | None = None) -> Any:
    """Compute A_1 = 1/M sum of O_j over j < M, for each stretch of M = `steps` elements.

    Parameters
    ----------
    path : (n M,) array, float32 or float64 (others become float64); on a GPU it stays there
    steps : M
    device : the device that computes; by default that of `path`, or a GPU if the path is long

    Returns
    -------
    (n,) array in the path's library and type

    Raises
    ------
    TypeError, ValueError
        If an argument is invalid; the message names it.
    """
    return _weighted(path, steps, device, lambda M: [(1.0 / M, 0.0, 0.0)])[0]


def double_average(path: Any, steps: int, *, device: Device | str | None = None) -> Any:
    """Compute A_2 = 2/M^2 sum of (M - j) O_j over j < M; the arguments are those of `average`.

    For O = 1 it is 1 + 1/M.
    """
    return _weighted(path, steps, device, lambda M: [(0.0, 0.0, 0.0), (2.0 / M, 0.0, 0.0)])[1]


def riemann_sums(
    path: Any, steps: int, delta: float, count: int, *, device: Device | str | None = None
) -> list[Any]:
    """Compute T_d = delta/d! sum over j = 1 .. M of (h - j delta)^d (O_j - O_0), h = M delta.

    There are `count` of them, for d = 0 and on.
    See Riesinger (2017, equation 10.3). `path` has n M + 1 elements, stretches share their ends;
    the result is a list of `count` arrays of shape (n,).
    """
    delta = validation.check_positive("delta", delta)
    count = validation.check_integer("count", count, 1, MAX_ORDER)

    def weights(M: int) -> list[tuple[float, float, float]]:
        h = M * delta
        scales = (delta * h**d / math.factorial(d) for d in range(count))
        ones = [float(M)] + [float(np.sum((np.arange(M) / M) ** d)) for d in range(1, count)]
        # The sums are over j = 0 .. M - 1; the start is subtracted, and for d = 0 the end is added.
        return [(s, -1.0 - ones[d], float(d == 0)) for d, s in enumerate(scales)]

    return _weighted(path, steps, device, weights, 1)


def _weighted(
    path: Any,
    steps: int,
    device: Device | str | None,
    weights: Callable[[int], list[tuple[float, float, float]]],
    extra: int = 0,
) -> list[Any]:
    """Return weighted sums of every stretch of M = `steps` elements.

    Row d of weights(M) is (scale, first, last); it gives scale (S_d + first O_0 + last O_M), where
    S_d is the sum of ((M - j)/M)^d O_j over j < M.
    """
    dtype = np.float32 if str(getattr(path, "dtype", "")).endswith("float32") else np.float64
    if device_of(path) is None:
        path = as_real("path", path, dtype)
    size = math.prod(path.shape)
    steps = validation.check_integer("steps", steps, 1)
    if len(path.shape) != 1 or size <= extra or (size - extra) % steps:
        raise ValueError(
            f"path must have a multiple of steps = {steps} elements"
            f"{' and one more' if extra else ''}, got shape {tuple(path.shape)}"
        )
    device = resolve(device, path, work=size, break_even=BREAK_EVEN)
    windows, factors = (size - extra) // steps, weights(steps)
    with device.active(), region("averages"):
        work = Workspace(device, path)
        x = work.input("path", path, dtype)
        flat = work.output((len(factors), windows), dtype)
        sums = flat.reshape((len(factors), windows))
        loops = averages.loops(device)
        loops.fill_sums(x, int(steps), sums, work.stream)
        loops.finish(x, int(steps), np.array(factors, dtype), sums, work.stream)
        result = work.result(flat, (len(factors), windows))
        return [result[d] for d in range(len(factors))]
