"""Balance of the Boolean tests' loops within a warp.

Counts the rounds of the main loop for the sub-domains of [1, 1 + 2^-13) of exp, with 54-bit
arguments and N = 2^15; the threads of a warp have neighbouring sub-domains. NMDM, the normalized
mean deviation to the maximum, is 1 - mean / max over a warp (Fortin, Gouicem and Graillat 2016,
section 4.3, table 3 and figure 6).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numba
import numpy as np

from hetero.jit import parallel
from studies.study import Study
from studies.tmd.domains import PUBLISHED, plan_first_block
from tmd._search import boolean_test_formulas as tests
from tmd._search.line_formulas import (
    Shape,
    fraction_as_float,
    line_differences,
    taylor_coefficients,
)
from tmd._search.planning import Plan, make_batch
from tmd.formats import Format
from tmd.functions.function import Function

CASES = {
    "Lefevre, Algorithm 1": ("lefevre", "float64"),
    "Lefevre with swap, Algorithm 3": ("swap", "float64"),
    "regular, Algorithm 2": ("alternating", "float64"),
    "regular unrolled, Algorithm 4": ("regular", "float64"),
    "clipped": ("clipped", "float64"),
}


def _make_loop(test: Callable) -> Callable:
    """Make a loop that stores rounds and result of a test for each sub-domain."""

    @parallel
    def count(
        table: np.ndarray,
        offset: np.uint64,
        bound: float,
        shape: Shape,
        rounds: np.ndarray,
        failed: np.ndarray,
    ) -> None:
        size, subdomain = shape.super_block, shape.subdomain
        for i in numba.prange(rounds.size):
            x = np.uint64(i) << np.uint64(subdomain)
            t = taylor_coefficients(table, 0, x, np.uint64(size))
            b, _, _, _, a, _, _ = line_differences(t, size - subdomain, size, subdomain)
            b0 = fraction_as_float(b[0] + offset)
            fails, k = test(fraction_as_float(a[0]), b0, float(1 << subdomain), bound)
            rounds[i], failed[i] = k, fails

    return count


def count_rounds(
    algorithm: str, division: str, plan: Plan, f: Function, subdomain: int, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rounds of the loop, and whether the test fails, for the first sub-domains.

    There are `count` of them, of 2^subdomain arguments each.
    """
    shape = Shape(plan.shape.super_block, subdomain, subdomain - 3, 0)
    batch = make_batch(f, replace(plan, shape=shape), 0, 1)
    rounds, failed = np.empty(count, np.int64), np.empty(count, np.bool_)
    loop = _make_loop(tests.compile_test(algorithm, division))
    loop(batch.table, batch.offsets[0], batch.bounds[0], shape, rounds, failed)
    return rounds, failed


def nmdm(rounds: np.ndarray) -> np.ndarray:
    """Return the normalized mean deviation to the maximum of each warp."""
    warps = rounds[: rounds.size // 32 * 32].reshape(-1, 32)
    return 1.0 - warps.mean(axis=1) / warps.max(axis=1)


def run(study: Study) -> dict:
    """Count the rounds of all tests; write a table and histograms."""
    f, plan = plan_first_block("exp", *PUBLISHED, Format.create(53, 54), 33, "directed")
    subdomains = 1 << (12 if study.quick else 20)
    rows, figure = [], study.figure()
    axes = figure.subplots(1, len(CASES), sharey=True)
    for ax, (name, (algorithm, division)) in zip(axes, CASES.items(), strict=True):
        rounds, failed = count_rounds(algorithm, division, plan, f, 15, subdomains)
        deviation = nmdm(rounds)
        rows.append(
            (name, int(rounds.min()), int(rounds.max()), float(rounds.mean()),
             100 * float(deviation.mean()), 100 * float(failed.mean()))
        )  # fmt: skip
        ax.hist(100 * deviation, bins=40, range=(0, 80))
        ax.set_title(name.replace(", ", "\n"), fontsize=8)
        ax.set_xlabel("NMDM, %")
    axes[0].set_ylabel("warps")
    study.save(figure, "tmd-divergence.png")
    heads = ("test", "minimum", "maximum", "mean rounds", "mean NMDM %", "fails %")
    study.table(f"Rounds of the main loop, {subdomains} sub-domains of 2^15 arguments", heads, rows)
    return {"subdomains": subdomains, "rows": rows}
