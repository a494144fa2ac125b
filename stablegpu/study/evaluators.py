"""The evaluators that are compared, SciPy among them, on laws in S0."""

from __future__ import annotations

import functools

import numpy as np

import stablegpu
from stablegpu._density.nodes import evaluate as nodes_evaluate
from stablegpu._density.polynomials.build import SMALLEST_ALPHA

OURS = ("quadrature", "nodes", "polynomials")
SCIPY = "SciPy"


def has(alpha: float, beta: float, evaluator: str) -> bool:
    """Return whether the evaluator handles this distribution and prepares it quickly."""
    if evaluator == "nodes":
        return nodes_evaluate.has_nodes(alpha)
    if evaluator == "polynomials":
        return nodes_evaluate.has_nodes(alpha) and alpha >= 2 * SMALLEST_ALPHA
    return True


def law_of(alpha: float, beta: float, evaluator: str, device=None):
    """The standard S0 law, with pdf, cdf, sf and ppf."""
    if evaluator == SCIPY:
        return _scipy()(alpha, beta)
    return stablegpu.stable(alpha, beta, parameterization="S0", evaluator=evaluator, device=device)


@functools.cache
def _scipy():
    from scipy import stats

    distribution = type(stats.levy_stable)(name="levy_stable")  # the switch below is per object
    distribution.parameterization = "S0"
    return distribution


def values(points, name: str, evaluator: str, device=None) -> np.ndarray:
    """pdf, cdf, sf or ppf at (alpha, beta, x or p); NaN where the evaluator has no such law."""
    result = np.full(len(points), np.nan)
    laws: dict = {}
    for i, (alpha, beta, x) in enumerate(points):
        if has(alpha, beta, evaluator):
            indices, arguments = laws.setdefault((alpha, beta), ([], []))
            indices.append(i)
            arguments.append(x)
    for (alpha, beta), (indices, arguments) in laws.items():
        function = getattr(law_of(alpha, beta, evaluator, device), name)
        with np.errstate(all="ignore"):
            result[indices] = np.asarray(function(np.array(arguments)), float)
    return result
