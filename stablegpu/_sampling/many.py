"""Random numbers of distributions whose parameters are arrays, by Chambers, Mallows and Stuck."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hetero import philox
from hetero.validation import check_shape
from stablegpu._density.pointwise.evaluate import check_arguments
from stablegpu._numerics.arrays_in_parts import require_host_array
from stablegpu._parameters import PARAMETERS

_NEAR = 0.1  # distance of alpha from 1 within which large terms of S1 and of zeta cancel


def draw(parameters: tuple[Any, ...], parameterization: str, size: Any, rng: Any) -> Any:
    """Draw a number for each element of the parameters, which broadcast to `size`."""
    for name, values in zip(PARAMETERS, parameters, strict=True):
        require_host_array(name, values)
    named, shape = check_arguments((0.0, *parameters), parameterization)
    full_shape = shape if size is None else check_shape("size", size)
    try:
        fits = np.broadcast_shapes(shape, full_shape) == full_shape
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(
            f"size must be a shape to which alpha, beta, loc and scale broadcast, which have the "
            f"shape {shape}, got {size}"
        )
    alpha, beta, loc, scale = (np.broadcast_to(named[n], full_shape) for n in PARAMETERS)
    generator = np.random.default_rng(philox.key(rng))
    angle = math.pi * (generator.random(full_shape) - 0.5)
    exponential = generator.standard_exponential(full_shape)
    # With epsilon = 1 - alpha, T = tan(pi alpha/2), G = cos(epsilon U) + beta T sin(epsilon U) and
    # B = (G/(W cos U))^(epsilon/alpha), the S1 variable is
    # B (beta T cos(alpha U) + sin(alpha U))/cos U, and that of S0 is less by beta T. alpha = 1 is
    # replaced by the next float.
    alpha_or_next = np.where(alpha == 1.0, math.nextafter(1.0, 0.0), alpha)
    epsilon = 1.0 - alpha_or_next
    skew = beta / np.tan(0.5 * math.pi * epsilon)
    skew = np.where(alpha == 2.0, 0.0, skew)
    small = epsilon * angle
    cosine = np.cos(angle)
    with np.errstate(over="ignore", divide="ignore"):
        bent = np.cos(small) + skew * np.sin(small)
        log_power = epsilon / alpha_or_next * np.log(bent / (exponential * cosine))
        power = np.exp(log_power)
        in_s1 = power * (skew * np.cos(alpha * angle) + np.sin(alpha * angle)) / cosine
        in_s0 = power * (np.sin(alpha * angle) / cosine + skew * np.tan(angle) * np.sin(small))
        in_s0 += skew * (np.expm1(log_power) * np.cos(small) - 2.0 * np.sin(0.5 * small) ** 2)
    near = np.abs(epsilon) < _NEAR
    if parameterization == "S0":
        result = np.where(near, in_s0, in_s1 - skew)
    else:
        of_scale = beta * (2.0 / math.pi) * np.log(scale)
        result = np.where(near, in_s0 + np.where(alpha == 1.0, of_scale, skew), in_s1)
    return (loc + scale * result)[()]
