"""Averages and Riemann sums over coarse steps of a path in memory (the paper's chapter 10)."""

from __future__ import annotations

import math
from numbers import Integral

import numpy as np

from hetero import errors, region
from hetero.arrays import Workspace, as_real, device_of
from hetero.devices import resolve
from hetero.jit import twin
from rode.schemes import MOST

BREAK_EVEN = 4_000_000
"""Elements from which a GPU is faster although they are copied to it."""


def average(path, steps: int, *, device=None):
    """A_1 = 1/M sum of O_j over j < M, for each stretch of M = `steps` elements.

    Parameters
    ----------
    path : (n M,) array, float32 or float64 (others become float64); on a GPU it stays there
    steps : M

    Returns
    -------
    (n,) array in the path's library and type

    Raises
    ------
    TypeError, ValueError
        Naming the argument.
    """
    return _weighted(path, steps, 1, device, lambda sums, x, M: [sums[0] / M])[0]


def double_average(path, steps: int, *, device=None):
    """A_2 = 2/M^2 sum of (M - j) O_j over j < M; as `average`. Of O = 1 it is 1 + 1/M."""
    return _weighted(path, steps, 2, device, lambda sums, x, M: [2.0 / M * sums[1]])[0]


def riemann_sums(path, steps: int, delta: float, count: int, *, device=None):
    """T_d = delta/d! sum over j = 1 .. M of (h - j delta)^d (O_j - O_0), d < `count`, h = M delta.

    The paper's (10.3). `path` has n M + 1 elements, stretches share their ends; the result is a
    list of `count` arrays of shape (n,).
    """
    delta = errors.within("delta", delta, 0.0, math.inf, closed="neither")
    if not isinstance(count, Integral) or not 1 <= count <= MOST:
        raise ValueError(f"count must be an integer from 1 to {MOST}, got {count!r}")

    def finish(sums, x, M):
        h, found = M * delta, []
        for d in range(count):
            ones = float(np.sum((np.arange(M) / M) ** d)) if d else float(M)
            inner = sums[d] - x[:-1:M] + (x[M::M] if d == 0 else 0.0)
            found.append(delta * h**d / math.factorial(d) * (inner - ones * x[:-1:M]))
        return found

    return _weighted(path, steps, count, device, finish, 1)


def _weighted(path, steps, count, device, finish, extra=0):
    """What `finish` makes of the sums over each stretch and of the path."""
    dtype = np.float32 if str(getattr(path, "dtype", "")).endswith("float32") else np.float64
    if device_of(path) is None:
        path = as_real("path", path, dtype)
    size = math.prod(path.shape)
    if not isinstance(steps, Integral) or steps < 1:
        raise ValueError(f"steps must be an integer >= 1, got {steps!r}")
    if len(path.shape) != 1 or size <= extra or (size - extra) % steps:
        raise ValueError(
            f"path must have a multiple of steps = {steps} elements"
            f"{' and one more' if extra else ''}, got shape {tuple(path.shape)}"
        )
    device = resolve(device, path, work=size, break_even=BREAK_EVEN)
    windows = (size - extra) // steps
    with device.active(), region("averages"):
        work = Workspace(device, path)
        x = work.input("path", path, dtype)
        sums = work.output((count, windows), dtype)
        shaped = sums.reshape((count, windows))
        twin("rode._averages", device).sums(x, int(steps), shaped, work.stream)
        host = work.result(sums, (count, windows))
        return finish(host, path, int(steps))
