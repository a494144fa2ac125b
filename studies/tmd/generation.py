"""Generation of the polynomials of sub-domains as published: the hierarchical method.

Fortin, Gouicem and Graillat (2016, section 5) expand a function once for 2^40 arguments, write the
polynomial for sub-domain i as a sum of r_j(i) binom(x, j), j <= 2, and compute successive r_j(i) by
additions: the host moves the r_j on to the first sub-domain of each packet, and the device goes
on from there by tabulated differences. Times belong to tables 4 and 5. `tmd.search` does without:
it keeps the polynomial and expands it again once for each packet.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from hetero.cpu.threads import threads, use_threads
from hetero.measurement.benchmarking import benchmark
from studies.papers.printed import SEARCH_SECONDS, SEARCH_SECONDS_OF_BINADES
from studies.study import Study
from studies.tmd.differences import Loops, loops
from studies.tmd.domains import random_windows
from tmd._search import make_batch
from tmd._search.planning import Plan
from tmd._search.taylor_models import FRACTION_BITS, Models, Scale, make_model
from tmd.formats import Format
from tmd.functions import load_function
from tmd.functions.function import Function

LENGTH = 15
"""log2 of the arguments of a sub-domain."""

LOG2_EXPANDED = 40
"""log2 of the arguments of an expansion."""

LOG2_STEPS = 10
"""log2 of the sub-domains of a packet, which one thread computes (not tuned)."""

DEGREE_IN_X = 2
"""Degree of the polynomials of sub-domains."""

ARGUMENTS = 2.0**53
"""Arguments of a binade: doubles, and the numbers between them."""

SETTINGS = {(1, 2): (6, 5), (128, 256): (10, 7)}
"""Degree of the expansion and 64-bit words of a coefficient, by binade (section 6.3)."""

PUBLISHED = {
    ((1, 2), "1 thread"): SEARCH_SECONDS["polynomials"][0],
    **{
        (binade, way): SEARCH_SECONDS_OF_BINADES["polynomials"][2 * k + place]
        for k, way in enumerate(("all threads", "GPU"))
        for place, binade in enumerate(((1, 2), (128, 256)))
    },
}
"""Printed seconds: one core, six cores of a Xeon X5650, and a C2070 (tables 4 and 5)."""


class Interpolation(NamedTuple):
    """The polynomials r_j of an expansion, in the binomial basis.

    Attributes
    ----------
    differences : Delta^k r_j (0) at [j][k], exact integers
    bits : their unit is 2^-bits test units
    """

    differences: tuple[tuple[int, ...], ...]
    bits: int


def coefficients_of(words: np.ndarray) -> list[int]:
    """Return the signed coefficients of a `Model` as integers in units of 2^-128."""
    rows = (sum(int(w) << (64 * (2 - i)) for i, w in enumerate(row)) for row in words)
    return [c - (1 << 192) if c >> 191 else c for c in rows]


def interpolate(coefficients: Sequence[int], size: int, length: int = LENGTH) -> Interpolation:
    """Return the r_j of sum C_k w^k with w = x / 2^size, for sub-domains of 2^length arguments."""
    degree = len(coefficients) - 1

    def value(x: int) -> int:
        return sum(c * x**k << (size * (degree - k)) for k, c in enumerate(coefficients))

    table = [[value((i << length) + m) for m in range(DEGREE_IN_X + 1)] for i in range(degree + 1)]
    in_x = [forward_differences(row) for row in table]
    differences = tuple(
        tuple(forward_differences([row[j] for row in in_x])) for j in range(DEGREE_IN_X + 1)
    )
    return Interpolation(differences, FRACTION_BITS + size * degree)


def forward_differences(values: Sequence[int]) -> list[int]:
    """Return the differences of order 0, 1, .. at the first of equidistant values."""
    row, differences = list(values), []
    while row:
        differences.append(row[0])
        row = [b - a for a, b in itertools.pairwise(row)]
    return differences


def move_on(differences: Sequence[int], starts: Sequence[int]) -> list[list[int]]:
    """Return the differences at each of `starts`: the straightforward shift, exactly.

    The matrix of binomials times an upper triangular Toeplitz matrix is one product of integers.
    """
    from flint import fmpz_mat

    count = len(differences)
    binomials = [[math.comb(i, m) for m in range(count)] for i in starts]
    toeplitz = [[differences[k + m] if k + m < count else 0 for k in range(count)]
                for m in range(count)]  # fmt: skip
    product = fmpz_mat(binomials) * fmpz_mat(toeplitz)
    return [[int(product[i, k]) for k in range(count)] for i in range(len(binomials))]


def to_words(rows: Sequence[Sequence[int]], bits: int, words: int) -> np.ndarray:
    """Round integers in units of 2^-bits down to `words` words, of which the highest is whole.

    Returns uint64 (coefficients, words, polynomials), the lowest word first, in two's complement.
    """
    shift, mask = bits - 64 * (words - 1), (1 << (64 * words)) - 1
    data = b"".join(
        ((c >> shift if shift > 0 else c << -shift) & mask).to_bytes(8 * words, "little")
        for row in rows
        for c in row
    )
    array = np.frombuffer(data, "<u8").reshape((len(rows), len(rows[0]), words))
    return np.ascontiguousarray(array.transpose(1, 2, 0))


def generate(
    target: Loops, interpolation: Interpolation, words: int, log2_steps: int, outs: Sequence[Any]
) -> None:
    """Fill outs[j] with r_j of successive sub-domains, 2^log2_steps of them in each column.

    While a GPU computes the values of one r_j, the host moves the next one on.
    """
    starts = range(0, outs[0].shape[2] << log2_steps, 1 << log2_steps)
    for differences, out in zip(interpolation.differences, outs, strict=True):
        moved = move_on(differences, starts)
        target.advance(target.upload(to_words(moved, interpolation.bits, words)), out)
    target.wait()


def expand(f: Function, plan: Plan, degree: int) -> Interpolation:
    """Expand the function for the 2^40 arguments from the first of a block on."""
    model = make_model(Models(f, plan.block, plan.scale, LOG2_EXPANDED, degree), 0)
    return interpolate(coefficients_of(model.words), LOG2_EXPANDED)


def run(study: Study) -> dict:
    """Time the generation in two binades, with one thread and with all, or on a GPU."""
    f, rows = load_function("exp"), list[tuple]()
    is_cpu = study.device.kind == "cpu"
    packets = 8 if study.quick else 1 << (8 if is_cpu else 15)
    log2_steps = 3 if study.quick else LOG2_STEPS
    outs = [
        study.empty(2 * (packets << log2_steps), "uint64").reshape((2, 1 << log2_steps, packets))
        for _ in range(DEGREE_IN_X + 1)
    ]
    targets = {"1 thread": 1, "all threads": threads()} if is_cpu else {"GPU": threads()}
    scale = Scale.for_rounding("directed")
    for (lo, hi), (degree, words) in SETTINGS.items():
        (plan,) = random_windows(
            f, lo, hi, 1, LOG2_EXPANDED, 33, fmt=Format.create(53, 54), scale=scale
        )
        begin = time.perf_counter()
        interpolation = expand(f, plan, degree)
        expansion = (time.perf_counter() - begin) * ARGUMENTS / 2.0**LOG2_EXPANDED
        arguments = float(packets << (log2_steps + LENGTH))
        for name, count in targets.items():
            call = partial(generate, loops(study.device), interpolation, words, log2_steps, outs)
            with use_threads(count), study.device.active():
                timing = benchmark(call, repeats=5, min_time=0.0, device=study.device)
            seconds = timing.median * ARGUMENTS / arguments
            rows.append((f"[{lo}, {hi})", f"hierarchical, {name}", degree, words * 64, expansion,
                         seconds, PUBLISHED.get(((lo, hi), name))))  # fmt: skip
        rows.append((f"[{lo}, {hi})", "Taylor models of tmd.search", plan.degree, 192,
                     _time_models(f, plan), None, None))  # fmt: skip
    heads = (
        *("binade", "method", "degree", "bits of a coefficient", "expansions, s a binade"),
        *("polynomials, s a binade", "Fortin et al. 2016, s"),
    )
    study.table("Generation of polynomials, scaled to 2^53 arguments", heads, rows)
    return {"rows": rows, "sub-domains": packets << log2_steps}


def _time_models(f: Function, plan: Plan) -> float:
    """Return the seconds of a binade's Taylor models, from those of the first super-block."""
    make_batch(f, plan, 0, 1)  # the first call compiles
    begin = time.perf_counter()
    make_batch(f, plan, 0, 1)
    return (time.perf_counter() - begin) * ARGUMENTS / 2.0**plan.shape.super_block
