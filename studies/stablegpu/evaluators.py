"""The evaluators that the studies compare, SciPy among them, for distributions in S0."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

import stablegpu
from hetero import Device
from stablegpu._density.nodes import evaluate as nodes_evaluate
from stablegpu._density.polynomials.build import SMALLEST_ALPHA

OURS = ("quadrature", "nodes", "polynomials")
SCIPY = "SciPy"


def handles(alpha: float, evaluator: str | None) -> bool:
    """Return whether the evaluator handles this distribution and prepares it quickly."""
    if evaluator == "nodes":
        return nodes_evaluate.has_nodes(alpha)
    if evaluator == "polynomials":
        return nodes_evaluate.has_nodes(alpha) and alpha >= 2 * SMALLEST_ALPHA
    return True


def distribution_of(
    alpha: float, beta: float, evaluator: str | None, device: str | Device | None = None
) -> Any:
    """Return the standard distribution in S0, with pdf, cdf, sf and ppf."""
    if evaluator == SCIPY:
        return _scipy()(alpha, beta)
    return stablegpu.stable(alpha, beta, parameterization="S0", evaluator=evaluator, device=device)


@functools.cache
def _scipy() -> Any:
    from scipy import stats

    distribution = type(stats.levy_stable)(name="levy_stable")  # the switch below is per object
    distribution.parameterization = "S0"
    return distribution


def values(
    points: Sequence[tuple[float, float, float]],
    name: str,
    evaluator: str | None,
    device: str | Device | None = None,
) -> np.ndarray:
    """Return pdf, cdf, sf or ppf at (alpha, beta, x or p).

    NaN marks points whose distribution the evaluator does not handle.
    """
    result = np.full(len(points), np.nan)
    by_distribution: dict[tuple[float, float], tuple[list, list]] = {}
    for i, (alpha, beta, x) in enumerate(points):
        if handles(alpha, evaluator):
            indices, arguments = by_distribution.setdefault((alpha, beta), ([], []))
            indices.append(i)
            arguments.append(x)
    for (alpha, beta), (indices, arguments) in by_distribution.items():
        function = getattr(distribution_of(alpha, beta, evaluator, device), name)
        with np.errstate(all="ignore"):
            result[indices] = np.asarray(function(np.array(arguments)), float)
    return result
