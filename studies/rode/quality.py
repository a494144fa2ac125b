"""Statistical tests of normality of all methods of `rode.normal`.

For every method and data type, on 2^30 numbers (a GPU; 2^24 on a CPU) and as many of another path:
moments to order 8, chi-square over 1000 equally likely intervals, Kolmogorov and Smirnov's distance
at 64,000 points, numbers beyond 4 and 5, correlations of x and of x^2 with later numbers and with
the other path. Everything as standard scores, and the worst as a probability.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special, stats

import rode
from rode.normals import METHODS
from studies.rode.normality import loops
from studies.rode.normality.formulas import BINS, LAGS, ORDERS, SUMS
from studies.study import Study

SEED = 20


def run(study: Study) -> dict:
    """Test the numbers of every method and data type."""
    size = 1 << (18 if study.quick else 30 if study.device.kind == "cuda" else 24)
    records = {}
    for dtype in ("float32", "float64"):
        x, y = study.empty(size, dtype), study.empty(size, dtype)
        for method in METHODS:
            if (method, dtype) in (("box-muller-fast", "float64"), ("inverse", "float64")):
                continue
            if study.quick and method not in ("box-muller", "wallace-uncorrected"):
                continue
            for path, out in ((0, x), (1, y)):
                rode.normal(rng=SEED, path=path, method=method, out=out, device=study.device)
            counts, sums = loops(study.device).tally(x, y)
            records[f"{method} {dtype}"] = scores(counts, sums)
    rows = [(key, *(v[key] for v in records.values())) for key in next(iter(records.values()))]
    title = f"Standard scores of {size:,} numbers, and probabilities of two distances"
    study.table(title, ("statistic", *records), rows)
    return {"numbers": size, "seed": SEED, "scores": records}


def scores(counts: np.ndarray, sums: np.ndarray) -> dict[str, float]:
    """Return standard scores of sums and tails; probabilities (p) of chi-square and KS."""
    n = int(counts.sum())
    records = {}
    for k in range(1, ORDERS + 1):
        moment = special.factorial2(k - 1) if k % 2 == 0 else 0.0
        spread = math.sqrt(special.factorial2(2 * k - 1) - moment**2)
        records[f"x^{k}"] = float((sums[k - 1] / n - moment) / spread * math.sqrt(n))
    groups = counts.reshape(1000, BINS // 1000).sum(axis=1)
    chi2 = float(((groups - n / 1000) ** 2).sum() / (n / 1000))
    records["chi2 p"] = float(stats.chi2.sf(chi2, 999))
    edges = counts.cumsum() / n - np.arange(1, BINS + 1) / BINS
    records["KS p"] = float(special.kolmogorov(abs(edges).max() * math.sqrt(n)))
    for index, level in ((SUMS - 2, 4.0), (SUMS - 1, 5.0)):
        expected = 2.0 * n * special.ndtr(-level)
        records[f"beyond {level:.0f}"] = float((sums[index] - expected) / math.sqrt(expected))
    serial = sums[ORDERS : ORDERS + LAGS] / math.sqrt(n)
    squares = sums[ORDERS + LAGS : ORDERS + 2 * LAGS] / (2.0 * math.sqrt(n))
    records["serial"] = float(max(serial, key=abs))
    records["serial x^2"] = float(max(squares, key=abs))
    records["cross"] = float(sums[SUMS - 4] / math.sqrt(n))
    records["cross x^2"] = float(sums[SUMS - 3] / (2.0 * math.sqrt(n)))
    return records
