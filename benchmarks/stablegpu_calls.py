"""stablegpu: times of single calls with 1000 numbers, from NumPy arrays to NumPy arrays."""

from __future__ import annotations

import itertools

import numpy as np

import hetero
import stablegpu
from benchmarks.measurements import Measurement, milliseconds
from benchmarks.stablegpu_density import SHAPES, plans, thousand_points
from benchmarks.stablegpu_fit import SIZE, one

FIT_ALPHAS = (0.7, 1.5, 1.8)
"""Stability indices of the fitted samples."""

STEP = 1e-9
"""Change of alpha that makes a distribution new to all caches."""


def run(device: hetero.Device, quick: bool) -> list[Measurement]:
    """Measure all figures of the suite, in a few seconds."""
    figures = []
    for alpha, beta in SHAPES[:1] if quick else SHAPES:
        figures.append(thousand_points(device, alpha, beta))
        figures.append(_new_distributions(device, alpha, beta))
        figures.append(_same_distribution(device, alpha, beta))
        figures.append(_new_quantiles(device, alpha, beta))
        figures.append(plans(device, alpha, beta, "nodes"))
    figures += [one(device, alpha) for alpha in (FIT_ALPHAS[1:2] if quick else FIT_ALPHAS)]
    return figures


def _new_distributions(device: hetero.Device, alpha: float, beta: float) -> Measurement:
    """Time 1000 points of a distribution of its own for each call."""
    x, numbers = np.linspace(-10, 10, SIZE), itertools.count()

    def evaluate() -> None:
        stablegpu.stable(alpha - STEP * next(numbers), beta, device=device).pdf_cdf(x)

    name = (
        f"stable(...).pdf_cdf of {SIZE} points, each call another alpha near {alpha}, beta {beta}"
    )
    note = "NumPy in, NumPy out: the object, its nodes and transfers in"
    return milliseconds(name, evaluate, device, note)


def _same_distribution(device: hetero.Device, alpha: float, beta: float) -> Measurement:
    """Time 1000 points of a distribution whose nodes are in memory."""
    x, distribution = np.linspace(-10, 10, SIZE), stablegpu.stable(alpha, beta, device=device)
    name = f"pdf and cdf of {SIZE} points of a distribution used before, alpha {alpha}, beta {beta}"
    note = "NumPy in, NumPy out: transfers in"
    return milliseconds(name, lambda: distribution.pdf_cdf(x), device, note)


def _new_quantiles(device: hetero.Device, alpha: float, beta: float) -> Measurement:
    """Time 1000 quantiles of a distribution of its own for each call."""
    p, numbers = np.linspace(0.001, 0.999, SIZE), itertools.count()

    def invert() -> None:
        stablegpu.stable(alpha - STEP * next(numbers), beta, device=device).ppf(p)

    name = f"{SIZE} quantiles of a new distribution, alpha {alpha}, beta {beta}"
    return milliseconds(name, invert, device, "NumPy in, NumPy out; each call another alpha")
