"""Strong errors of the schemes on x' = -x + O, by NumPy and path by path."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy import signal

from rode._paths.process import Process
from rode._solver.schemes import find_scheme
from rode._solver.schemes.scheme import Scheme

PATHS = 48


def strong_errors(
    method: str,
    powers: Sequence[int],
    fine: Callable[[int], int] | None = None,
    paths: int = PATHS,
    seed: int = 1,
) -> np.ndarray:
    """Return root mean square errors at t = 1 for h = 2^-k, k in `powers`, tau = c = 1, O_0 = 0.

    Parameters
    ----------
    fine : function of k that gives log2(M); None: delta = h^order
    """
    scheme = find_scheme(method)
    log2_fine = fine or (lambda k: k * (scheme.order - 1))
    # The reference solution needs a finer path than the schemes: its own error is O(delta).
    finest = min(22, max(k + log2_fine(k) for k in powers) + 4)
    steps, delta = 2**finest, 2.0**-finest
    mu_minus_1, sigma = Process().step(delta)
    rng, weights = np.random.default_rng(seed), np.exp(-(1.0 - delta * np.arange(steps + 1)))
    squares = np.zeros(len(powers))
    for _ in range(paths):
        noise = sigma * rng.standard_normal(steps)
        o = np.concatenate([[0.0], signal.lfilter([1.0], [1.0, -(1.0 + mu_minus_1)], noise)])
        exact = delta * (weights @ o - 0.5 * (weights[0] * o[0] + weights[-1] * o[-1]))
        for index, k in enumerate(powers):
            coarse = o[:: 2 ** (finest - k - log2_fine(k))]
            squares[index] += (_solution(scheme, 2.0**-k, 2 ** log2_fine(k), coarse) - exact) ** 2
    return np.sqrt(squares / paths)


def slope(powers: Sequence[int], errors: np.ndarray) -> float:
    """Return the order by regression over h = 2^-k."""
    return float(-np.polyfit(powers, np.log2(errors), 1)[0])


def _solution(scheme: Scheme, h: float, M: int, o: np.ndarray) -> float:
    """Return x at t = 1 by a scheme, for the process o at the fine steps."""
    left, weight = M - np.arange(1, M + 1), np.ones(M)
    table, sums = o[1:].reshape(-1, M), []
    for d in range(scheme.form_count):
        sums.append(table @ weight)
        weight = weight * (left - d) / (d + 1)
    forms = scheme.forms(h, M) @ np.vstack([o[:-1:M], o[M::M], *sums])
    x, ones = np.zeros(1), np.ones(scheme.form_count)
    for n, values in enumerate(forms.T):
        x = scheme.reference_step(np.negative, x, h, o[n * M : n * M + 1], values[:, None], ones)
    return float(x[0])
