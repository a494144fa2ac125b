"""Balance of the Boolean tests' loops within a warp.

Counts the rounds of the main loop for the sub-domains of [1, 1 + 2^-13) of exp, with 54-bit
arguments, N = 2^15 and the breakpoints of all rounding modes, half an ulp apart. The slope in this
unit decides the rounds: with the breakpoints of directed rounding alone Algorithm 1 has 332 at
most. The threads of a warp have neighbouring sub-domains. NMDM, the normalized mean deviation to
the maximum, is 1 - mean / max over a warp (Fortin, Gouicem and Graillat 2016, section 4.3, table 3
and figure 6). The rounds are counted on the CPU.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from studies.study import Study
from studies.tmd.domains import PUBLISHED, plan_first_block
from studies.tmd.rounds import PLAIN, Window, count_rounds, nmdm
from tmd._search import make_batch
from tmd._search.formulas.line_formulas import Shape
from tmd._search.planning import Plan
from tmd.formats import Format
from tmd.functions.function import Function

SUBDOMAIN = 15
"""log2 of the arguments of a sub-domain."""

CASES = {
    "Lefevre, Algorithm 1 as printed": PLAIN,
    "Lefevre, Algorithm 1": "lefevre",
    "Lefevre with swap, Algorithm 3": "swap",
    "regular, Algorithm 2": "alternating",
    "regular unrolled, Algorithm 4": "regular",
    "clipped": "clipped",
}
"""Tests by their titles. All but the first group rows of points into divisions."""


def count_domain_rounds(
    test: str, f: Function, plan: Plan, limit: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rounds of the first `limit` sub-domains of a block, and whether each test fails.

    The limit is a power of two, at most the number of sub-domains of a super-block or a multiple
    of it.
    """
    size = plan.shape.super_block
    count = min(limit, 1 << (size - SUBDOMAIN))
    starts = np.arange(count, dtype=np.uint64) << np.uint64(SUBDOMAIN)
    batch = make_batch(f, plan, 0, -(-limit // count))
    parts = [
        count_rounds(test, "chord", words, starts, size, SUBDOMAIN, Window(offset, bound))
        for words, offset, bound in zip(batch.table, batch.offsets, batch.bounds, strict=True)
    ]
    rounds, failed = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return rounds, failed


def run(study: Study) -> dict:
    """Count the rounds of all tests; write a table and histograms."""
    f, plan = plan_first_block("exp", *PUBLISHED, Format.create(53, 54), 33, "all")
    size = plan.shape.super_block
    plan = replace(plan, shape=Shape(size, SUBDOMAIN, SUBDOMAIN - 3, 0))
    subdomains = 1 << 12 if study.quick else plan.block.run.count >> SUBDOMAIN
    rows, figure = [], study.figure((11.0, 4.5))
    axes = figure.subplots(1, len(CASES), sharey=True)
    for ax, (name, test) in zip(axes, CASES.items(), strict=True):
        rounds, failed = count_domain_rounds(test, f, plan, subdomains)
        deviation = nmdm(rounds)
        rows.append(
            (name, int(rounds.min()), int(rounds.max()), float(rounds.mean()),
             100 * float(deviation.mean()), 100 * float(failed.mean()))
        )  # fmt: skip
        ax.hist(100 * deviation, bins=40, range=(0, 80))
        ax.set_title(name.replace(", ", "\n").replace(" as", "\nas"), fontsize=8)
        ax.set_xlabel("NMDM, %")
    axes[0].set_ylabel("warps")
    study.save(figure, "tmd-divergence.png")
    heads = ("test", "minimum", "maximum", "mean rounds", "mean NMDM %", "fails %")
    study.table(f"Rounds of the main loop, {subdomains} sub-domains of 2^15 arguments", heads, rows)
    return {"subdomains": subdomains, "rows": rows}
