"""Paths of Ornstein-Uhlenbeck processes in memory."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from hetero import memory, philox, region, validation
from hetero.arrays import Workspace, as_real
from hetero.devices import device_of, resolve
from rode._paths.fill import PathFiller
from rode._paths.process import Process, process_of
from rode.normals import float_type, places_of

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from hetero.devices import Device
    from rode.normals import Seed

METHODS = ("bridge", "scan", "sweeps")

BREAK_EVEN = 1_000_000
"""Elements from which a GPU is faster although they are copied to the host."""


def ornstein_uhlenbeck(
    size: int | tuple[int, ...] | None,
    delta: float,
    *,
    process: Process | None = None,
    start: float | None = None,
    end: float | None = None,
    method: str | None = None,
    noise: Any = None,
    dtype: DTypeLike = np.float64,
    normals: str | None = None,
    rng: Seed = None,
    first_path: int = 0,
    out: Any = None,
    device: Device | str | None = None,
) -> Any:
    """Compute O_1, O_2, .. of dO = -O/tau dt + sqrt(c) dW at steps of delta, one path or many.

    Parameters
    ----------
    size : int, or (paths, steps); taken from `out` or `noise` where it is None
    delta : step, s
    process : `rode.Process(tau, c)`; tau = c = 1 if None
    start : O_0; None draws it from the stationary distribution, for each path
    end : value of the last step; the paths are those of the process that end there
        With `start` they are bridges between two values, such as the ends of a gap in data. For
        arrays on the host only.
    method : {"bridge", "scan", "sweeps"}
        - "scan": O' = mu O + sigma n, as a prefix sum in one pass; the noise is drawn on the way,
          or is `noise`
        - "bridge": the same distribution, but another function of the noise. The values at the
          ends of tiles are drawn first (as a path that is 1024 times coarser in float32); then
          each tile is computed and bent to its end. No tile waits for another.
        - "sweeps": up-sweep, down-sweep and fix-up of given noise (Riesinger 2017, section 9.2)

        None: "bridge" for one path without noise, else "scan".
    noise : array of standard normal numbers, of the shape of the result; on a GPU it stays there
    dtype : {float64, float32}
    normals : None or, for float32, "fast": the normal numbers of method "box-muller-fast"
    rng : None, int, SeedSequence or NumPy Generator
    first_path : number of the first path
    out : array to fill
    device : the device that computes; by default a GPU if one is usable and the work is large

    Returns
    -------
    array of the shape `size`, or `out`

    Raises
    ------
    TypeError, ValueError
        If an argument is invalid; the message names it.

    Notes
    -----
    float32 keeps tau for steps down to 1e-8 tau: drift and noise are added in an order in which
    the noise carries the small drift (see `_paths.step_formulas.advance`).
    """
    process = process_of(process)
    delta = validation.check_positive("delta", delta)
    start = None if start is None else validation.check_finite("start", start)
    end = None if end is None else validation.check_finite("end", end)
    dtype = float_type(dtype, out)
    if noise is not None and device_of(noise) is None:
        noise = as_real("noise", noise, dtype)
    if size is None:
        template = out if out is not None else noise
        if template is None:
            raise ValueError("size must be given if neither out nor noise is given")
        size = tuple(template.shape)
    shape = validation.check_shape("size", size)
    if len(shape) not in (1, 2) or 0 in shape:
        raise ValueError(f"size must be steps or (paths, steps), at least one, got {size!r}")
    if method is None:
        method = "bridge" if noise is None and len(shape) == 1 else "scan"
    validation.check_choice("method", method, METHODS)
    if method == "sweeps" and noise is None:
        raise ValueError("method='sweeps' needs noise, for example noise=rode.normal(size)")
    if method == "bridge" and noise is not None:
        raise ValueError("method='bridge' draws its noise: use method='scan' with noise=")
    if noise is not None and tuple(noise.shape) != shape:
        raise ValueError(f"noise must have shape {shape}, got {tuple(noise.shape)}")
    last = 2**32 - math.prod(shape[:-1])
    first_path = validation.check_integer("first_path", first_path, 0, last)
    normals = dtype.name if normals is None else normals
    validation.check_choice(
        "normals", normals, (dtype.name, "fast") if dtype == np.float32 else (dtype.name,)
    )
    if end is not None and not (device_of(out) is None and device_of(noise) is None):
        raise ValueError("end= needs out and noise on the host, got an array on a GPU")
    key = philox.key(rng)
    device = resolve(device, out, noise, work=math.prod(shape), break_even=BREAK_EVEN)
    with device.active(), region("Ornstein-Uhlenbeck"):
        like = next((a for a in (out, noise) if device_of(a) is not None), None)
        memory.require_array("steps", shape, dtype, places_of(device, out, like))
        work = Workspace(device, like)
        array = work.output(shape, dtype, out)
        source = None if noise is None else work.input("noise", noise, dtype)
        filler = PathFiller(process, delta, dtype, normals, key, device, work.stream)
        rows = (1, *shape)[-2:]
        source = None if source is None else source.reshape(rows)
        filler.fill(method, start, first_path, source, array.reshape(rows))
        result = work.result(array, shape, out)
    if end is not None:
        bend(result.reshape(rows), end, process, delta, start is not None)
    return result


def bend(paths: np.ndarray, end: float, process: Process, delta: float, has_start: bool) -> None:
    """Bend paths, (paths, steps), so that they end at `end`: a Gaussian process given its end.

    The distance by which a path misses its end is taken from each value times Cov(O_i, O_N) over
    Var(O_N), which is mu^(N-i) or, between given ends, sinh(i a)/sinh(N a) with a = delta/tau.
    """
    steps = paths.shape[1]
    a, i = delta / process.tau, np.arange(1, steps + 1)
    weights = np.exp(-a * (steps - i))
    if has_start:
        weights *= np.expm1(-2.0 * a * i) / np.expm1(-2.0 * a * steps)
    misses = end - paths[:, -1].astype(float)
    for row, miss in zip(paths, misses, strict=True):
        row += (miss * weights).astype(row.dtype)
    paths[:, -1] = end
