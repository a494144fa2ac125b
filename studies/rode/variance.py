"""Variance of the ground's acceleration: by Monte Carlo, exact, and exact for each scheme.

Kanai-Tajimi with Housner's parameters: Var(u'') = c omega (1 + 4 zeta^2)/(4 zeta) for every tau.
Each scheme has its own stationary variance, by a discrete Lyapunov equation, which tends to that
with h. There are 2^20 paths on a GPU (2^12 on a CPU); the process starts from its stationary
distribution, and x at rest, so long before the end that its start does not matter.
"""

from __future__ import annotations

import math

import numpy as np

import rode
from rode import reference
from rode._solver.schemes import find_scheme
from studies.study import Study

TAUS = (0.05, 1.0, 2.0)
METHODS = ("averaged-heun", "3-rode-taylor")
EXACT = 16.036525
FINE = 16  # h/delta
END = 2.0  # s, 20 times the oscillator's damping time
SEED = 6


def run(study: Study) -> dict:
    """Compare variances for several schemes, steps and relaxation times."""
    paths = 1 << (8 if study.quick else 20 if study.device.kind == "cuda" else 12)
    powers = (5,) if study.quick else (5, 6, 7, 8, 9)
    rows: list[tuple] = []
    for tau in TAUS:
        for method in METHODS:
            for power in powers:
                rows.append(one(study, tau, method, 2.0**-power, paths, SEED + len(rows)))
    heads = ("tau", "scheme", "1/h", "Var(u'')", "the scheme's own", "score", "over the exact")
    study.table(f"Variance of u'' at t = {END:g} s, {paths:,} paths", heads, rows)
    return {"paths": paths, "seed": SEED, "columns": heads, "rows": rows}


def one(study: Study, tau: float, method: str, h: float, paths: int, seed: int) -> tuple:
    """Return a row of the table.

    The score is the distance from the scheme's own value in standard errors.
    """
    result = rode.solve(
        rode.kanai_tajimi(tau=tau, outputs=("acceleration",)),
        method,
        t_span=(0.0, END),
        h=h,
        delta=h / FINE,
        paths=paths,
        rng=seed,
        reduction="moments",
        save_every=round(END / h),
        device=study.device,
    )
    A, B, outputs = reference.kanai_tajimi(tau=tau)
    process, scheme = rode.Process(tau, 1.0), find_scheme(method)
    scheme_variance = reference.stationary_variance(A, B, scheme, h, FINE, process, outputs)[2]
    variance = float(np.asarray(result.variance)[-1, 0])
    score = (variance / scheme_variance - 1.0) / math.sqrt(2.0 / paths)
    return (
        tau,
        method,
        round(1.0 / h),
        variance,
        float(scheme_variance),
        float(score),
        variance / EXACT,
    )
