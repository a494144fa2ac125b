"""The faster test in each binade of exp (Fortin, Gouicem and Graillat 2016, section 6.3).

They say that the regular test beats Lefevre's in 15 of 22 binades, which they do not name, with
sub-domains of 2^15 arguments, and propose to choose one of the two for each domain. Theirs of
Lefevre is Algorithm 3, here `swap`; `lefevre` is Algorithm 1. Here are the 22 binades from 2^-13 to
2^9, with sub-domains of that size and of the size that `tmd.search` takes, scaled up from random
windows; the totals compare the choice with each test alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from studies.study import Study
from studies.tmd.domains import random_windows
from studies.tmd.phases import with_subdomain_size
from studies.tmd.rates import time_binade
from tmd._search.planning import Plan
from tmd.functions import load_function
from tmd.functions.function import Function

EXPONENTS = tuple(range(-13, 9))
PUBLISHED = 15
"""Binades of 22 in which the published regular test is faster than Lefevre's."""

SUBDOMAIN, SPLIT = 15, 3
"""log2 of the arguments of a published sub-domain, and of its pieces."""

WIDTHS = {"quick": (22,), "cpu": (28, 31), "cuda": (36, 38, 40, 42)}
"""log2 of the arguments of a window; a longer one if a shorter is too fast."""

TESTS = ("regular", "lefevre", "swap", "clipped")
HEADS = (
    *("binade from 2^", "log2 N", "log2 of the window"),
    *("regular, s", "Lefevre, s", "swap, s", "clipped, s", "regular wins", "chosen, s"),
)


def run(study: Study) -> dict:
    """Time the three tests in all binades, and count where the regular one wins."""
    exponents = (0,) if study.quick else EXPONENTS
    rows = study.table(f"Seconds of a binade on {study.device.name}", HEADS, _measure(study))
    wins = {
        "N = 2^15": sum(row[-2] for row in rows[0::2]),
        "N of tmd.search": sum(row[-2] for row in rows[1::2]),
    }
    columns = [*range(3, 3 + len(TESTS)), len(HEADS) - 1]
    totals = [
        [name, *(sum(row[column] for row in rows[first::2]) for column in columns)]
        for first, name in enumerate(wins)
    ]
    heads = ("sub-domains", *(HEADS[column] for column in columns))
    study.table(
        "Seconds of all binades, by one test or by the better of the published", heads, totals
    )
    figure = study.figure()
    axis = figure.subplots()
    for first, style in ((0, "--"), (1, "-")):
        for column, test in enumerate(TESTS, 3):
            seconds = [row[column] for row in rows[first::2]]
            label = f"{test}, {list(wins)[first]}"
            axis.semilogy(exponents, seconds, style, marker="o", label=label, color=f"C{column}")
    axis.set(xlabel="log2 of the first argument", ylabel="s of a binade")
    axis.legend(fontsize=7)
    study.save(figure, "tmd-binades.png")
    return {"binades": len(exponents), "regular wins": wins, "published": PUBLISHED}


def _measure(study: Study) -> Iterator[tuple]:
    """Yield two rows for each binade: sub-domains of 2^15 arguments, and those of `tmd.search`."""
    f = load_function("exp")
    widths = WIDTHS["quick" if study.quick else study.device.kind]
    for exponent in (0,) if study.quick else EXPONENTS:
        lo = Fraction(2) ** exponent
        plans = [random_windows(f, lo, 2 * lo, 1, width, 32)[0] for width in widths]
        published = [with_subdomain_size(plan, SUBDOMAIN, SPLIT) for plan in plans]
        for tested in (published, plans):
            yield (exponent, tested[0].shape.subdomain, *_time_tests(f, tested, study))


def _time_tests(f: Function, plans: list[Plan], study: Study) -> tuple:
    """Return the window's size, seconds by test, whether the regular one beats swap, and the less.

    All tests take the window that is long enough for the regular one. Lefevre's has a few
    sub-domains with many rounds, whose time is that of a whole short window.
    """
    width, regular = time_binade(f, plans, "regular", "reciprocal", study.device)
    window = [plan for plan in plans if plan.block.run.count.bit_length() - 1 == width]
    others = [time_binade(f, window, test, "reciprocal", study.device)[1] for test in TESTS[1:]]
    swap = others[TESTS.index("swap") - 1]
    return width, regular, *others, regular < swap, min(regular, swap)
