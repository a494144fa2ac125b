"""Filtering of phases 1 and 2 by tangents and by chords, and the rounds that it costs.

Fortin, Gouicem and Graillat (2016) test tangents at the first argument of each sub-domain: their
distance from the polynomial is up to c2 N^2. `tmd.search` tests chords, half a sagitta away, whose
distance is c2 N^2/8; a chord therefore passes eight times fewer arguments where this distance is
the width of the window (tables 2, 6 and 7). Section 6.3 says that Lefevre's test wins in [128, 256)
because the regular one filters less; with N = 2^15 nearly all sub-domains fail phase 1 there, so
that phases 2 and 3 decide. With N = 2^12 phase 1 filters. The counts are made on the CPU.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from studies.study import Study
from studies.tmd.domains import PUBLISHED, plan_first_block, random_windows
from studies.tmd.rounds import PLAIN, Window, count_rounds, count_warp_rounds
from tmd._search import make_batch
from tmd._search.formulas.boolean_test_formulas import UNIT_BITS
from tmd._search.formulas.line_formulas import Shape
from tmd._search.planning import Plan
from tmd._search.taylor_models import FRACTION_BITS, Models, Scale, make_model
from tmd.formats import Format
from tmd.functions import load_function
from tmd.functions.function import Function

DOUBLES_AND_BETWEEN = Format.create(53, 54)
"""Doubles and the numbers between them as arguments, as in the published counts."""

PRINTED = {
    ("1 + 2^-13", "lefevre"): (100 * 3.6e9 / 2**40, 100 * 8.9e6 / 2**40),
    ("1 + 2^-13", "regular"): (100 * 1.8e10 / 2**40, 100 * 5.9e7 / 2**40),
    ("2", "lefevre"): (100 * 3.19e13 / 9.01e15, 100 * 7.65e10 / 9.01e15),
    ("2", "regular"): (100 * 1.62e14 / 9.01e15, 100 * 5.14e11 / 9.01e15),
    ("256", "lefevre"): (100 * 8.97e15 / 9.01e15, 100 * 4.19e14 / 9.01e15),
    ("256", "regular"): (100.0, 100 * 9.00e14 / 9.01e15),
}
"""Printed % of the arguments in phases 2 and 3, by end of the domain and test, for N = 2^15."""

SPLITS = {"1 + 2^-13": (3, 3), "2": (3, 3), "256": (4, 5)}
"""log2 of the pieces of a sub-domain, for Lefevre's and the regular test (section 6.3)."""

WIDTHS = {2: 34, 256: 31}
"""log2 of the arguments of each random window, by end of the binade; the latter cost more."""

TESTS = {"lefevre": PLAIN, "regular": "alternating"}
"""Tests that take a quotient a round, by their published names: Algorithms 1 and 2."""


class Counts(NamedTuple):
    """Counts of a search of some arguments.

    Attributes
    ----------
    arguments : all of them
    second, third : those that reach phases 2 and 3
    rounds : rounds of the warps in phases 1 and 2 together
    first_rounds : those of phase 1
    """

    arguments: int
    second: int
    third: int
    rounds: int
    first_rounds: int

    def plus(self, other: Counts) -> Counts:
        """Return the sums of two searches."""
        return Counts(*(a + b for a, b in zip(self, other, strict=True)))


def tangent_window(f: Function, plan: Plan, number: int, length: int) -> Window:
    """Return the window of tangents over 2^length arguments of a super-block.

    It holds the values within a case's distance of an integer, and the distance of the polynomial
    from the tangent on either side, as inequality (1) of the paper has it.
    """
    size = plan.shape.super_block
    model = make_model(Models(f, plan.block, plan.scale, size, plan.degree), number)
    inner = size - length
    error = plan.scale.case_distance(plan.bits) + model.error
    error += (model.bounds[0] >> (2 * inner)) + (model.bounds[1] >> (3 * inner)) + 2
    offset = (error >> (FRACTION_BITS - 63)) + 1
    bound = (2 * offset >> (63 - UNIT_BITS[float])) + (1 << length) + 3
    one = 1 << UNIT_BITS[float]
    return Window(min(offset, 1 << 62), float(min(bound, one - 1)))


def count_block(f: Function, plan: Plan, test: str, line: str) -> Counts:
    """Count the arguments and rounds of phases 1 and 2 in a block of whole super-blocks.

    A warp has neighbouring sub-domains in phase 1, and in phase 2 neighbours of the pieces of the
    sub-domains that failed.
    """
    size, subdomain, piece, _ = plan.shape
    total = Counts(0, 0, 0, 0, 0)
    for number in range(plan.super_blocks):
        batch = make_batch(f, plan, number, 1)
        windows = [
            Window(int(batch.offsets[0]), float(batch.bounds[0])),
            Window(int(batch.piece_offsets[0]), float(batch.piece_bounds[0])),
        ]
        if line == "tangent":
            windows = [tangent_window(f, plan, number, n) for n in (subdomain, piece)]
        arguments = min(1 << size, plan.block.run.count - (number << size))
        starts = np.arange(arguments >> subdomain, dtype=np.uint64) << np.uint64(subdomain)
        words, w = batch.table[0], windows
        rounds, failed = count_rounds(test, line, words, starts, size, subdomain, w[0])
        inside = np.arange(1 << (subdomain - piece), dtype=np.uint64) << np.uint64(piece)
        pieces = (starts[failed][:, None] + inside).ravel()
        more_rounds, pieces_failed = count_rounds(test, line, words, pieces, size, piece, w[1])
        first = count_warp_rounds(rounds)
        second = int(failed.sum()) << subdomain
        third = int(pieces_failed.sum()) << piece
        both = first + count_warp_rounds(more_rounds)
        total = total.plus(Counts(starts.size << subdomain, second, third, both, first))
    return total


def count_plans(
    f: Function, plans: Sequence[Plan], test: str, line: str, lengths: tuple[int, int]
) -> Counts:
    """Count in all blocks, with sub-domains and pieces of 2^lengths arguments."""
    total = Counts(0, 0, 0, 0, 0)
    for plan in plans:
        shape = Shape(plan.shape.super_block, *lengths, 0)
        resized = replace(plan, shape=shape, division="float64")
        total = total.plus(count_block(f, resized, TESTS[test], line))
    return total


def run(study: Study) -> dict:
    """Count in the published example and in random windows of two binades."""
    f = load_function("exp")
    directed = Scale.for_rounding("directed")
    _, example = plan_first_block("exp", *PUBLISHED, DOUBLES_AND_BETWEEN, 33, "directed")
    run_of_block = example.block.run
    if study.quick:
        run_of_block = run_of_block.slice(0, 1 << 24)
    example = replace(example, block=replace(example.block, run=run_of_block))
    domains: dict[str, list[Plan]] = {"1 + 2^-13": [example]}
    for lo, hi in ((1, 2), (128, 256)):
        width = 22 if study.quick else WIDTHS[hi]
        domains[str(hi)] = random_windows(
            f, lo, hi, 4, width, 33, fmt=DOUBLES_AND_BETWEEN, scale=directed
        )
    heads = (
        *("domain", "log2 N", "line", "test", "phase 2, %", "phase 3, %"),
        *("rounds of a warp per 2^15 arguments, phase 1", "phases 1 and 2"),
        *("printed phase 2, %", "printed phase 3, %"),
    )
    rows = study.table("Arguments in phases 2 and 3, and rounds", heads, _count(f, domains))
    return {
        "rows": rows,
        "arguments": {end: sum(p.block.run.count for p in plans) for end, plans in domains.items()},
    }


def _count(f: Function, domains: Mapping[str, Sequence[Plan]]) -> Iterator[tuple]:
    """Yield a row for each domain, size of sub-domains, line and test."""
    for end, plans in domains.items():
        begin = "128" if end == "256" else "1"
        for log2_n in (15, 12) if end == "256" else (15,):
            for line in ("tangent", "chord"):
                for test, split in zip(TESTS, SPLITS[end], strict=True):
                    counts = count_plans(f, plans, test, line, (log2_n, log2_n - split))
                    printed = PRINTED[end, test] if log2_n == 15 else (None, None)
                    name = f"[{begin}, {end})", log2_n, line, test
                    yield (*name, *_figures(counts), *printed)


def _figures(c: Counts) -> tuple[float, float, float, float]:
    """Return shares in %, and the rounds of a thread's warp for 2^15 arguments."""
    scale = 2.0**15 * 32 / c.arguments
    shares = 100 * c.second / c.arguments, 100 * c.third / c.arguments
    return (*shares, scale * c.first_rounds, scale * c.rounds)
