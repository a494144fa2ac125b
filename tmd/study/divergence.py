"""How evenly the loops of the Boolean tests run side by side (paper, section 4.3, table 3, fig. 6).

Rounds of the main loop for the sub-domains of [1, 1 + 2^-13) of exp, 54-bit arguments, N = 2^15;
threads of a warp take neighbouring sub-domains. NMDM of a warp: 1 - mean / max.
"""

from __future__ import annotations

import numba
import numpy as np

from hetero.jit import parallel
from tmd import _tests_math as tests
from tmd._scan_math import Shape, as_float, lines, taylor
from tmd.formats import Format
from tmd.plan import Plan, batch
from tmd.study.domains import PAPER, plan_of

CASES = {
    "Lefevre, Algorithm 1": ("lefevre", "float64"),
    "Lefevre with swap, Algorithm 3": ("swap", "float64"),
    "regular, Algorithm 2": ("alternating", "float64"),
    "regular unrolled, Algorithm 4": ("regular", "float64"),
    "clipped": ("clipped", "float64"),
}


def _loop(test):
    @parallel(cache=False)
    def count(table, offset, bound, size, domain, n, rounds, failed):
        for i in numba.prange(rounds.size):
            x = np.uint64(i) << np.uint64(domain)
            t = taylor(table, 0, x, np.uint64(size))
            b, _, _, _, a, _, _ = lines(t, size - domain, size, domain)
            fails, k = test(as_float(a[0]), as_float(b[0] + offset), n, bound)
            rounds[i], failed[i] = k, fails

    return count


def rounds(algorithm: str, division: str, plan: Plan, f, domain: int, subdomains: int):
    """Rounds of the loop, and whether the test fails, for the first sub-domains of a block."""
    size = plan.shape.size
    made = batch(f, Plan(**{**vars(plan), "shape": Shape(size, domain, domain - 3, 0)}), 0, 1)
    counts, failed = np.empty(subdomains, np.int64), np.empty(subdomains, np.bool_)
    _loop(tests.made(algorithm, division))(
        made.table,
        made.offsets[0],
        made.bounds[0],
        size,
        domain,
        float(1 << domain),
        counts,
        failed,
    )
    return counts, failed


def nmdm(counts: np.ndarray) -> np.ndarray:
    """Normalised mean deviation to the maximum of each warp."""
    warps = counts[: counts.size // 32 * 32].reshape(-1, 32)
    return 1.0 - warps.mean(axis=1) / warps.max(axis=1)


def run(study) -> dict:
    f, plan = plan_of("exp", *PAPER, Format.checked(53, 54), 33, "directed")
    subdomains = 1 << (12 if study.quick else 20)
    rows, figure = [], study.figure()
    axes = figure.subplots(1, len(CASES), sharey=True)
    for ax, (name, (algorithm, division)) in zip(axes, CASES.items(), strict=True):
        counts, failed = rounds(algorithm, division, plan, f, 15, subdomains)
        spread = nmdm(counts)
        rows.append(
            (name, int(counts.min()), int(counts.max()), float(counts.mean()),
             100 * float(spread.mean()), 100 * float(failed.mean()))
        )  # fmt: skip
        ax.hist(100 * spread, bins=40, range=(0, 80))
        ax.set_title(name.replace(", ", "\n"), fontsize=8)
        ax.set_xlabel("NMDM, %")
    axes[0].set_ylabel("warps")
    study.save(figure, "tmd-divergence.png")
    heads = ("test", "least", "most", "mean rounds", "mean NMDM %", "fails %")
    study.table(f"Rounds of the main loop, {subdomains} sub-domains of 2^15 arguments", heads, rows)
    return {"subdomains": subdomains, "rows": rows}
