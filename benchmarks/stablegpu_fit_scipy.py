"""Likelihoods that `stablegpu.fit` and `scipy.stats.levy_stable.fit` reach; takes ten minutes."""

from __future__ import annotations

import time

import hetero
import stablegpu
from benchmarks.measurements import Measurement
from benchmarks.stablegpu_fit import distributions

SIZE = 100  # observations in a sample; SciPy takes a minute to fit so many


def run(device: hetero.Device, quick: bool) -> list[Measurement]:
    """Compare both on every twentieth distribution of the suite `fit`, with smaller samples."""
    chosen = distributions(200)
    return [against_scipy(device, k, chosen[k]) for k in ((0,) if quick else range(0, 200, 20))]


def against_scipy(device: hetero.Device, seed: int, distribution: stablegpu.Stable) -> Measurement:
    """Measure the gain in log-likelihood, by the exact density, and the times of both fits."""
    from scipy.stats import levy_stable

    x = distribution.rvs(SIZE, rng=seed)
    start = time.perf_counter()
    theirs = levy_stable.fit(x)
    seconds = time.perf_counter() - start
    stablegpu.fit(x, device=device)
    start = time.perf_counter()
    ours = stablegpu.fit(x, device=device)
    own_seconds = time.perf_counter() - start
    loglik = stablegpu.stable(*theirs).logpdf(x).sum()
    return Measurement(
        f"gain of log-likelihood over SciPy's fit, "
        f"alpha {distribution.alpha:.3f}, beta {distribution.beta:.3f}, "
        f"{SIZE} observations",
        float(ours.loglik - loglik),
        "",
        note=f"SciPy {seconds:.3g} s, here {own_seconds * 1e3:.3g} ms; SciPy found "
        + ", ".join(f"{v:.4g}" for v in theirs)
        + f"; here {ours.alpha:.4g}, {ours.beta:.4g}, {ours.loc:.4g}, {ours.scale:.4g}",
    )
