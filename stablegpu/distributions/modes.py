"""The mode of a stable distribution."""

from __future__ import annotations

import functools

import numpy as np

from stablegpu._density.choose import evaluate
from stablegpu._parameters import Parameters
from stablegpu.distributions.base import Distribution

_DEGREE = 32
"""Degree of the polynomials through values of the density. After a few bisections their error is
1e-13 of the density."""


def mode(distribution: Distribution | Parameters) -> float:
    """Return the mode of a stable distribution, which has exactly one.

    It is the zero of the derivative of a polynomial through values of the density. The error is
    about 1e-12 of the width of the density's peak; for alpha < 0.9 this holds for the distance from
    S1's loc.
    """
    parameters = Parameters.of(distribution)
    standardized = parameters.converted(_parameterization_of_standard_mode(parameters.alpha))
    return standardized.loc + standardized.scale * _standard_mode(parameters.alpha, parameters.beta)


def _parameterization_of_standard_mode(alpha: float) -> str:
    """Return the parameterization in which the standard mode is computed.

    Below 0.9 the peak may be narrow, and lies at S1's loc; near 1 that loc is far away.
    """
    return "S1" if alpha < 0.9 else "S0"


@functools.lru_cache(maxsize=256)
def _standard_mode(alpha: float, beta: float) -> float:
    """Compute the mode for loc 0 and scale 1 in `_parameterization_of_standard_mode`."""
    if beta == 0.0 or alpha == 2.0:
        return 0.0
    standard = Parameters.checked(alpha, beta, 0.0, 1.0, _parameterization_of_standard_mode(alpha))
    nodes = np.polynomial.chebyshev.chebpts2(_DEGREE + 1)
    low, high = -10.0, 10.0
    while True:
        x = 0.5 * (low + high) + 0.5 * (high - low) * nodes
        values = evaluate(x, standard, names=("pdf",), device="cpu").pdf
        best = int(np.argmax(values))
        fit = np.polynomial.Chebyshev.fit(x, values, _DEGREE, domain=(low, high))
        if np.abs(fit.coef[-3:]).max() < 1e-13 * np.abs(fit.coef).max():
            break
        low, high = x[max(best - 1, 0)], x[min(best + 1, _DEGREE)]
    zeros = fit.deriv().roots()
    zeros = zeros[np.abs(zeros.imag) < 1e-6 * (high - low)].real
    zeros = zeros[(zeros >= low) & (zeros <= high)]
    return float(zeros[np.argmax(fit(zeros))])
