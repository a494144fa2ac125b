"""A slow, obvious oracle: Fourier inversion of the characteristic function in mpmath.

It shares no formula with the package's evaluators. For alpha of about 0.7 and more and moderate x:
below, the integrand decays too slowly for patience.
"""

from __future__ import annotations

from typing import Any


def pdf_cdf(x: float, alpha: float, beta: float, digits: int = 20) -> tuple[Any, Any]:
    """Return density and distribution function of the standard distribution in S0.

    Both are mpmath numbers.

    The characteristic function is exp(-t^alpha - i beta tan(pi alpha/2) (t - t^alpha)) for t > 0,
    and exp(-t - i beta (2/pi) t log t) for alpha = 1 (Nolan 1997).
    """
    from mpmath import mp

    with mp.workdps(digits + 10):
        x, alpha, beta = mp.mpf(x), mp.mpf(alpha), mp.mpf(beta)

        def phase(t: Any) -> Any:
            if alpha == 1:
                return x * t + 2 / mp.pi * beta * t * mp.log(t)
            return x * t + beta * mp.tan(mp.pi * alpha / 2) * (t - t**alpha)

        end = (digits * mp.log(10)) ** (1 / alpha)
        # Equal pieces for the oscillation, dyadic ones toward the branch point 0.
        pieces = max(8, int(end * (1 + abs(x)) / 3))
        nodes = [0, *(end / pieces / 2**k for k in range(40, 0, -4))]
        nodes += [end * k / pieces for k in range(1, pieces + 1)]
        density = mp.quad(lambda t: mp.exp(-(t**alpha)) * mp.cos(phase(t)), nodes)
        below = mp.quad(lambda t: mp.exp(-(t**alpha)) * mp.sin(phase(t)) / t, nodes)
        return density / mp.pi, mp.mpf(1) / 2 + below / mp.pi
