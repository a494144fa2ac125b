"""Expectations of functions of a stable variable, by quadrature outwards from its centre."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from stablegpu._parameters import Parameters

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_PANEL = 0.25  # in u = asinh(x - centre), or alpha u for alpha < 1
_BATCH = 16  # panels that are evaluated at once
_ENDED = 1e-15  # part of the integral that a batch of panels may still add at its end
_LARGEST = 700.0  # of u


def integrate(
    parameters: Parameters,
    pdf: Callable[[Any], Any],
    func: Callable[[Any], Any],
    low: float,
    high: float,
) -> float:
    """Return the integral of func times the density `pdf` from `low` to `high`.

    The centre is the location of S1 for alpha < 0.9, where the density may have a narrow peak, else
    that of S0.
    """
    centred = parameters.converted("S1" if parameters.alpha < 0.9 else "S0")
    centre, alpha = centred.loc, min(parameters.alpha, 1.0)
    # Below alpha = 1 the peak at the centre narrows, to a width that its height gives.
    width = 1.0
    if alpha < 1.0:
        width = math.exp(math.lgamma(1.0 + 1.0 / alpha) - math.lgamma(1.0 + 2.0 / alpha))
    unit = centred.scale * width
    total = 0.0
    for sign in (1.0, -1.0):
        near, far = (low, high) if sign > 0.0 else (-high, -low)
        near, far = (near - sign * centre) / unit, (far - sign * centre) / unit
        if far <= 0.0:
            continue
        u, last = math.asinh(max(near, 0.0)), math.asinh(far) if far < math.inf else _LARGEST
        total += _integrate_side(pdf, func, (centre, sign * unit), u, last, far, alpha)
    return total


def _integrate_side(
    pdf: Callable[[Any], Any],
    func: Callable[[Any], Any],
    line: tuple[float, float],
    u: float,
    last: float,
    far: float,
    alpha: float,
) -> float:
    """Integrate over x = centre + unit sinh(u) from u to `last`; `line` is centre and unit."""
    centre, unit = line
    total, size, before, grows = 0.0, 0.0, math.inf, False
    while u < last:
        panel = _PANEL if u < 3.0 else _PANEL / alpha
        edges = np.minimum(u + panel * np.arange(_BATCH + 1), last)
        half = 0.5 * np.diff(edges)
        t = (edges[:-1] + half)[:, None] + half[:, None] * _NODES
        x = centre + unit * np.sinh(t)
        density = pdf(x)
        mass = abs(unit) * density * np.cosh(t) * half[:, None] * _WEIGHTS
        with np.errstate(invalid="ignore", over="ignore"):
            values = np.where(mass > 0.0, np.asarray(func(x)) * mass, 0.0)
        part, of_part = float(values.sum()), float(np.abs(values).sum())
        total, size, u = total + part, size + of_part, float(edges[-1])
        if of_part <= _ENDED * size and of_part <= before:
            break
        grows, before = of_part > 0.5 * before, of_part
    if far == math.inf and (u >= last or (grows and of_part == 0.0)):
        raise ValueError(
            "the expectation does not converge: func grows too fast for these tails; pass lb and ub"
        )
    return total
