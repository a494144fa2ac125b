"""Small calls of the main functions, which compile the code these need: `python -m hetero warm`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def pdf(device: str) -> None:
    """Evaluate the density at a few points and at many."""
    from stablegpu import stable

    distribution = stable(1.5, 0.5, device=device)
    for count in (10, 100_000):
        distribution.pdf(np.linspace(-5.0, 5.0, count))


def cdf(device: str) -> None:
    """Evaluate the distribution function and its logarithm."""
    from stablegpu import stable

    distribution = stable(1.5, 0.5, device=device)
    distribution.cdf(np.linspace(-5.0, 5.0, 10))
    distribution.logcdf(np.linspace(-5.0, 5.0, 10))


def ppf(device: str) -> None:
    """Evaluate the quantile function."""
    from stablegpu import stable

    stable(1.5, 0.5, device=device).ppf(np.linspace(0.1, 0.9, 5))


def rvs(device: str) -> None:
    """Draw samples."""
    from stablegpu import stable

    stable(1.5, 0.5, device=device).rvs(10, 1)


def fit(device: str) -> None:
    """Fit one data set by maximum likelihood."""
    import stablegpu

    data = np.random.default_rng(1).standard_t(3.0, 1000)
    stablegpu.fit(data, device=device)


CALLS: dict[str, Callable[[str], None]] = {f.__name__: f for f in (pdf, cdf, ppf, rvs, fit)}
"""A call of each main function, which takes the name of a device."""
