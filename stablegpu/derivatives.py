"""Derivatives of the log-density with respect to x and to all four parameters.

log pdf = L(z; alpha, beta) - log scale with z = (x - loc)/scale in S0 leaves three functions: L_z,
L_alpha and L_beta. Each is a difference quotient of exact values, extrapolated to step 0 from steps
that halve (Richardson); of the extrapolations the one that agrees best with its neighbours is taken
(Ridders 1982). loc, scale and S1 follow by the chain rule.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from hetero import errors
from hetero.arrays import as_real, device_of
from stablegpu._parameters import PARAMETERIZATIONS, tan_half_pi
from stablegpu.broadcast import checked, evaluate

LEVELS = 9  # steps of each quotient
NEAR_END = 1e-2  # distance from the end of a range under which quotients may be one-sided


class Gradient(NamedTuple):
    """Derivatives of log pdf, float64 arrays of one shape."""

    x: Any
    alpha: Any
    beta: Any
    loc: Any
    scale: Any


def dlogpdf(x, alpha, beta, loc=0.0, scale=1.0, *, parameterization="S1", device=None) -> Gradient:
    """Derivatives of log pdf with respect to x, alpha, beta, loc and scale.

    Parameters
    ----------
    x, alpha, beta, loc, scale : array_like of float in host memory
        As for `stablegpu.pdf`.
    parameterization : {"S1", "S0"}
        What the other arguments mean while one of them changes. In S1 the derivative with respect
        to alpha is NaN at alpha = 1, where S1 jumps, unless beta = 0.
    device : None, "auto", "cpu", "cuda", "cuda:N" or hetero.Device
        Where the density is computed.

    Returns
    -------
    Gradient
        NaN outside the support and for infinite x. One-sided at alpha = 2 and beta = -1, 1.

    Raises
    ------
    TypeError, ValueError, hetero.DeviceUnavailableError
        As `stablegpu.pdf`; TypeError for arrays on a GPU.

    Notes
    -----
    Error at most 1e-9 of max(1, |derivative|) on the reference points with |x - zeta| > 1e-4,
    median 1e-13 (x) and 5e-13 (alpha). Nearer, the rounding of x - zeta is what counts in S0, and
    within some 1e-14 of it derivatives may be lost. A point takes some sixty values of the density.
    """
    errors.one_of("parameterization", parameterization, PARAMETERIZATIONS)
    named = dict(
        zip(("x", "alpha", "beta", "loc", "scale"), (x, alpha, beta, loc, scale), strict=True)
    )
    for name, values in named.items():
        if device_of(values) is not None:
            raise TypeError(f"{name} must be in host memory, got an array on {device_of(values)}")
        named[name] = checked(name, as_real(name, values))
    x, alpha, beta, loc, scale = np.broadcast_arrays(*named.values())
    shape = x.shape
    x, alpha, beta, loc, scale = (v.ravel() for v in (x, alpha, beta, loc, scale))
    with np.errstate(all="ignore"):
        found = _gradient(x, alpha, beta, loc, scale, parameterization == "S1", device)
    return Gradient(*(v.reshape(shape)[()] for v in found))


def _gradient(x, alpha, beta, loc, scale, s1, device):
    unit = (x - loc) / scale
    one = alpha == 1.0
    tangent = np.array([0.0 if a == 1.0 else tan_half_pi(a) for a in alpha])
    # What S1 adds to reach the S0 variable z, and how it changes.
    shift = np.where(one, -beta * (2.0 / math.pi) * np.log(scale), -beta * tangent)
    by_alpha = np.where(
        one, np.where(beta == 0.0, 0.0, np.nan), -beta * 0.5 * math.pi * (1.0 + tangent**2)
    )
    by_beta = np.where(one, -(2.0 / math.pi) * np.log(scale), -tangent)
    z = unit + shift if s1 else unit
    y = unit if s1 else unit + beta * tangent  # distance from zeta
    y = np.where(one, z, y)
    # Near alpha = 1, S0 is smooth and S1 is not; elsewhere S1 is, also next to zeta.
    smooth = np.abs(alpha - 1.0) < 0.25
    points = np.where(smooth, z, y)

    def log_density(dx=0.0, da=0.0, db=0.0):
        arguments = np.broadcast_arrays(points + dx, alpha + da, beta + db)
        found = np.empty(arguments[0].shape)
        for name, chosen in (("S0", smooth), ("S1", ~smooth)):
            if chosen.any():
                part = (*(v[:, chosen] for v in arguments), 0.0, 1.0)
                found[:, chosen] = evaluate(part, name, ("logpdf",), device=device)["logpdf"]
        return found

    light = (alpha < 1.0) & (np.abs(beta) == 1.0)
    width = np.minimum(
        np.where(smooth & ~light, np.inf, _width(y, alpha, tangent * beta, light)), 1.0 + np.abs(z)
    )
    l_z, _ = _slope(lambda h: log_density(dx=h), 0.2 * width, np.zeros(alpha.size))
    l_alpha = _within(lambda h: log_density(da=h), alpha, 0.0, 2.0, 0.1 * alpha)
    l_beta = _within(lambda h: log_density(db=h), beta, -1.0, 1.0, 0.25)
    # From fixed y to fixed z or the other way round.
    sign = np.where(smooth, 1.0, -1.0) * np.where(smooth == s1, 1.0, 0.0)
    l_alpha = l_alpha + np.where(sign == 0.0, 0.0, sign * by_alpha * l_z)
    l_beta = l_beta + np.where(sign == 0.0, 0.0, sign * by_beta * l_z)
    moved = unit + (np.where(one, beta * (2.0 / math.pi), 0.0) if s1 else 0.0)
    return l_z / scale, l_alpha, l_beta, -l_z / scale, -(1.0 + moved * l_z) / scale


def _width(y, alpha, zeta, light):
    """The distance from zeta, or over how much of it the density is nearly the same there."""
    log_width = _log_gamma(1.0 + 1.0 / alpha) - _log_gamma(1.0 + 2.0 / alpha)
    flat = np.exp(log_width + 0.5 * np.log1p(zeta**2) / alpha)
    return np.maximum(np.abs(y), np.where(light, 0.0, flat))


_log_gamma = np.vectorize(math.lgamma, otypes=[float])


def _within(function, value, low, high, most):
    """The derivative with respect to `value` from steps within its range.

    Near an end both kinds of quotients are tried: steps to both sides are short there, which is
    right where the density changes much on the way to the end, and rough where it does not.
    """
    room = np.minimum(value - low, high - value)
    best, least = _slope(function, np.minimum(0.9 * room, most), np.zeros(value.size))
    if np.any(room < NEAR_END):
        inward = np.where(value - low < high - value, 1.0, -1.0)
        other, doubt = _slope(function, most * np.ones(value.size), inward)
        best = np.where((room < NEAR_END) & ~(least < doubt), other, best)
    return best


def _slope(function, step, side):
    """The derivative at 0 of a function of arrays, and its estimated error.

    From steps, one for each point, that halve; `side` is -1, 0 or 1: 0 for both sides.
    """
    h = step * 0.5 ** np.arange(LEVELS)[:, None]
    after, before = np.where(side == 0.0, h, side * h), np.where(side == 0.0, -h, 0.0)
    table = (function(after) - function(before)) / (after - before)
    ratio = np.where(side == 0.0, 4.0, 2.0)  # of errors: even powers of h alone, or all
    best, least = table[0], np.full(step.shape, np.inf)
    for m in range(1, LEVELS):
        better = table[1:] + (table[1:] - table[:-1]) / (ratio**m - 1.0)
        doubt = np.maximum(np.abs(better - table[1:]), np.abs(better - table[:-1]))
        for value, error in zip(better, doubt, strict=True):
            best, least = np.where(error < least, value, best), np.fmin(error, least)
        table = better
    return np.where(least < np.inf, best, np.nan), least
