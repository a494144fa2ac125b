"""Stable random numbers: Chambers-Mallows-Stuck from counter-based words."""

from __future__ import annotations

import math

from hetero import errors, philox, region
from hetero.arrays import Workspace
from hetero.devices import resolve
from hetero.jit import twin
from stablegpu._parameters import Parameters, sides, tan_half_pi, zeta
from stablegpu._sample_math import Sampler

BREAK_EVEN = 20_000
"""Samples from which a GPU is faster although they are copied to the host."""

NEAR = 0.1
"""Distance of alpha from 1 within which the S0 variable is drawn directly."""

_STREAM = 0x57AB1E  # of the Philox counter: rvs shares no words with other uses of a seed


def sampler_of(parameters: Parameters) -> Sampler:
    """The constants of a draw that ends in (x - loc)/scale of this parameterisation."""
    alpha, beta = parameters.alpha, parameters.beta
    near = abs(alpha - 1.0) < NEAR
    centre = zeta(alpha, beta)
    if alpha == 1.0:
        offset = -parameters.offset[0]
    elif near:  # drawn: S0 = S1 + zeta
        offset = 0.0 if parameters.parameterization == "S0" else -centre
    else:  # drawn: S1
        offset = centre if parameters.parameterization == "S0" else 0.0
    side = sides(alpha, beta)[0]
    tangent = 0.0 if alpha == 1.0 else tan_half_pi(alpha)
    cosine = 1.0 / math.hypot(1.0, centre)
    return Sampler(alpha, beta, side.length, side.gap, side.rest, cosine, tangent, offset, near)


def sample(parameters: Parameters, size=None, *, random_state=None, out=None, device=None):
    """Independent draws.

    Parameters
    ----------
    size : int, tuple of int or None
        Shape; None draws one number. Taken from `out` where that is given.
    random_state : None, int, SeedSequence, numpy Generator or RandomState
        The same seed gives the same words on every device, and the same draws up to the last
        digits of log, sin and pow.
    out : float64 array, optional
        To fill in place, on the host or (say a CuPy array) on a GPU, where the draws then stay.

    Returns
    -------
    float, NumPy float64 array, or `out`.
    """
    shape = tuple(out.shape) if size is None and out is not None else errors.shape("size", size)
    key = philox.key(random_state, "random_state")
    device = resolve(device, out, work=math.prod(shape), break_even=BREAK_EVEN)
    with device.active(), region("stable samples"):
        work = Workspace(device, out)
        array = work.output(shape, out=out)
        if array.size:
            twin("stablegpu._sample", device).fill(
                key,
                0,
                _STREAM,
                philox.ROUNDS,
                sampler_of(parameters),
                parameters.loc,
                parameters.scale,
                array,
                work.stream,
            )
        return work.result(array, shape, out)
