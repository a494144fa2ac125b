"""Strong errors of the schemes on x' = -x + O, by NumPy and path by path."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy import signal

from rode._solver import schemes as solver_schemes
from rode.process import Process

PATHS = 48


def strong_errors(
    scheme: str,
    K: int,
    powers: Sequence[int],
    fine: Callable[[int], int] | None = None,
    paths: int = PATHS,
    seed: int = 1,
) -> np.ndarray:
    """Return root mean square errors at t = 1 for h = 2^-k, k in `powers`, tau = c = 1, O_0 = 0.

    Parameters
    ----------
    fine : function of k that gives log2(M); None: delta = h^K, M = h^(1 - K)
    """
    log2_fine = fine or (lambda k: k * (K - 1))
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
            squares[index] += (
                _solution(scheme, K, 2.0**-k, 2 ** log2_fine(k), coarse) - exact
            ) ** 2
    return np.sqrt(squares / paths)


def slope(powers: Sequence[int], errors: np.ndarray) -> float:
    """Return the order by regression over h = 2^-k."""
    return float(-np.polyfit(powers, np.log2(errors), 1)[0])


def _solution(scheme: str, K: int, h: float, M: int, o: np.ndarray) -> float:
    """Return x at t = 1 by a scheme, for the process o at the fine steps."""
    rows = solver_schemes.forms(scheme, K, h, M)
    left, weight = M - np.arange(1, M + 1), np.ones(M)
    table = o[1:].reshape(-1, M)
    sums = []
    for d in range(K):
        sums.append(table @ weight)
        weight = weight * (left - d) / (d + 1)
    forms = rows @ np.vstack([o[:-1:M], o[M::M], *sums])
    x = 0.0
    for n, T in enumerate(forms.T):
        if scheme == "rode-taylor":
            f, total = -x + o[n * M], 0.0
            for d in range(K):
                total += (-1.0) ** d * (h ** (d + 1) / math.factorial(d + 1) * f + T[d])
            x += total
        elif scheme == "averaged-heun":
            y = x + h * (T[1] - x)
            x += 0.5 * h * (2.0 * T[0] - x - y)
        else:
            x += h * (T[0] - x)
    return x
