"""Stable random numbers: Chambers-Mallows-Stuck from counter-based words."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from hetero import Device, philox, region, validation
from hetero.arrays import Array, Workspace
from hetero.devices import resolve
from hetero.distributed.agreement import agree_on_key
from hetero.distributed.engines import Engine
from stablegpu import _sampling
from stablegpu._density.half_line import half_lines
from stablegpu._numerics.arrays_in_parts import Range, fill_in_parts, require_host_array
from stablegpu._parameters import Parameters, tan_half_pi, zeta

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from stablegpu._sampling.formulas import Sampler, SamplerHalf

BREAK_EVEN = 300_000
"""Samples from which a GPU is faster although they are copied to the host."""

NEAR = 0.1
"""Distance of alpha from 1 within which the S0 variable is drawn directly."""

_STREAM = philox.STREAMS["stablegpu.rvs"]


def sampler_of(
    parameters: Parameters, dtype: DTypeLike = np.float64
) -> tuple[SamplerHalf, SamplerHalf, Sampler]:
    """Return the constants of draws of (x - loc)/scale in this parameterization."""
    from stablegpu._sampling.formulas import Sampler, SamplerHalf

    near = abs(parameters.alpha - 1.0) < NEAR
    offset = parameters.offset[0]
    if parameters.alpha == 1.0 or near == (parameters.parameterization == "S0"):
        offset = -offset if parameters.alpha == 1.0 else 0.0
    elif near:  # drawn: S0 = S1 + zeta
        offset = -offset
    # At alpha = 1 the distribution of the next float is drawn: it differs by less than a rounding.
    alpha = math.nextafter(1.0, 0.0) if parameters.alpha == 1.0 else parameters.alpha
    real: Any = np.dtype(dtype).type

    def half(beta: float) -> SamplerHalf:
        side = half_lines(alpha, beta)[0]
        start, slope = alpha * side.length, 1.0 - alpha
        # eta or pi - eta: without cancellation, or the one that may become small.
        if side.tail_gap < start if near else slope < 0.0:
            start, slope = side.tail_gap, -slope
        lengths = (side.length / math.pi, side.tail_gap / math.pi, start / math.pi)
        return SamplerHalf(*map(real, (*lengths, slope, beta)))

    secant = math.hypot(1.0, zeta(alpha, parameters.beta))
    front = secant if near else secant ** (1.0 / alpha)
    sampler = Sampler(
        *(real(alpha), real((1.0 - alpha) / alpha), real(front)),
        *(real(tan_half_pi(alpha)), real(offset), near),
    )
    return half(parameters.beta), half(-parameters.beta), sampler


def sample(
    parameters: Parameters,
    size: int | tuple[int, ...] | None = None,
    *,
    rng: Any = None,
    dtype: Any = None,
    out: Any = None,
    engine: Engine,
) -> Any:
    """Draw independent numbers.

    Parameters
    ----------
    size : int, tuple of int or None
        Shape; None draws one number, or as many as `out` holds.
    rng : None, int, SeedSequence, numpy Generator or RandomState
        The same seed gives the same words on every device, and the same draws up to the last
        digits. Draw i depends on the seed and i only, in float32 as in float64.
    dtype : {float64, float32}, optional
        float64, or that of `out`.
    out : array, optional
        Array to fill, in host memory or (say a CuPy array) on a GPU, where the draws then stay.
    engine : who draws; the numbers do not depend on how they are shared out

    Returns
    -------
    NumPy array of `dtype` (a scalar for size None), or `out`.

    Raises
    ------
    TypeError, ValueError
        If an argument, the dtype or the shape of `out` is not allowed; the message names it.

    Notes
    -----
    Chambers, Mallows and Stuck's transform of two uniform numbers of 64 bits. Both data types hold
    them as distances from the nearer end of (0, 1), with full relative precision, so that tails
    are exact up to probabilities of 2^-64. For alpha >= 0.5 a float64 draw differs from the
    exact transform by some 5 eps max(1, |x|), and a float32 draw from the same one by as many
    float32 eps; below, the error grows as 1/alpha, with that of the power 1/alpha itself. Where
    alpha is small draws exceed the range of the data type and are +-inf: more than one in 10^6 in
    float32 for alpha < 0.15, in float64 for alpha < 0.02.
    """
    if out is not None and not hasattr(out, "dtype"):
        raise TypeError(f"out must be an array, got {validation.describe(out)}")
    shape = (
        tuple(out.shape)
        if size is None and out is not None
        else validation.check_shape("size", size)
    )
    if dtype is None:
        dtype = "float64" if out is None else str(out.dtype).removeprefix("torch.")
    dtype = validation.check_dtype("dtype", dtype, ("float64", "float32"))
    key = philox.key(rng)
    if not engine.is_single:
        require_host_array("out", out)
        if engine.comm is not None:  # fresh entropy differs between ranks
            key = agree_on_key(engine.comm, key, rng)
        workspace = Workspace(Device("cpu"), out)
        array = workspace.output(shape, dtype, out)
        task = functools.partial(_draw_range, parameters, dtype, key)
        if array.size:
            fill_in_parts(engine, task, (), (array,), "stable samples")
        return workspace.result(array, shape, out)
    target = resolve(engine.local, out, work=math.prod(shape), break_even=BREAK_EVEN)
    with target.active(), region("stable samples"):
        workspace = Workspace(target, out)
        array = workspace.output(shape, dtype, out)
        if array.size:
            _draw(parameters, dtype, key, 0, array, workspace)
        return workspace.result(array, shape, out)


def _draw(
    parameters: Parameters, dtype: str, key: Any, first: int, array: Array, workspace: Workspace
) -> None:
    """Fill an array of the workspace with the draws from number `first` on."""
    from stablegpu._sampling.formulas import RandomStream  # imports Numba

    _sampling.loops(workspace.device).fill(
        RandomStream(np.uint32(0), np.uint32(_STREAM), *key),
        sampler_of(parameters, dtype),
        parameters.loc,
        parameters.scale,
        first,
        array,
        workspace.stream,
    )


def _draw_range(
    parameters: Parameters, dtype: str, key: Any, part: Range, device: Device
) -> tuple[np.ndarray]:
    """Return the draws of a range."""
    with device.active(), region("stable samples"):
        workspace, shape = Workspace(device), (part.end - part.begin,)
        out = part.outputs[0] if part.outputs else None
        array = workspace.output(shape, dtype, out)
        _draw(parameters, dtype, key, part.begin, array, workspace)
        return (workspace.result(array, shape, out),)
