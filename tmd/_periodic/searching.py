"""Searches of windows of phases: their groups in batches, and the decision of what they find."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from hetero.devices import Device
from tmd._certificates.case_lists import KINDS
from tmd._certificates.periodic_records import Row
from tmd._periodic import loops
from tmd._periodic.columns import REAL_COLUMNS, WORD_COLUMNS
from tmd._periodic.groups import Groups, make_groups
from tmd._periodic.lattice import PHASE_BITS
from tmd._periodic.question import PeriodicQuestion
from tmd._search.decisions import measure_distance
from tmd.formats import Run
from tmd.functions.function import exponent_of_ball, nearest_integer, working_precision

GROUPS_PER_BATCH = {"cpu": 1 << 8, "cuda": 1 << 16}
"""Groups that are searched between two reports of progress.

An H200 has room for 51,000 threads with the registers that the kernel takes (not tuned).
"""

CAPACITY = 4
"""Survivors of a group that are stored at first; a batch with more is searched again."""

SLAB_SPREAD = 1.005
"""Largest ratio of the slabs of groups in one row of a certificate.

Slabs are one per cent higher than needed, so that the lowest of a row is high enough for all of it.
"""


@dataclass
class Findings:
    """Progress of a search: the phases up to `reached`, in `rows` and `points`.

    `points` are intervals next to zeros and poles, whose arguments are all in `numbers`, which
    holds besides them what survived in the windows.
    """

    reached: Fraction
    rows: list[Row] = field(default_factory=list)
    points: list[tuple[Fraction, Fraction]] = field(default_factory=list)
    numbers: set[int] = field(default_factory=set)
    windows: int = 0
    candidates: int = 0

    def add(self, groups: Groups) -> None:
        """Append groups to the last row, or to new ones where their slabs differ too much."""
        self.windows += (2 * groups.windows + 1) * groups.count * len(groups.ulps)
        sizes = groups.half_width, groups.windows, groups.ulps
        first = 0
        while first < groups.count:
            slabs = groups.slabs[:, first:]
            begin = groups.begin + first * groups.length
            row = self.rows[-1] if self.rows else None
            appended = 0
            if row and (row.end, row.half_width, row.windows, row.ulps) == (begin, *sizes):
                appended = _extend(row, slabs)
            if not appended:
                slab = tuple(slabs[:, 0].tolist())
                self.rows.append(Row(begin, 0, *sizes, slab, slab))
                appended = _extend(self.rows[-1], slabs)
            first += appended


def _extend(row: Row, slabs: np.ndarray) -> int:
    """Add groups with the slabs (ulps, groups) to a row; return how many do not differ too much."""
    low = np.minimum.accumulate(np.column_stack([row.slabs, slabs]), axis=1)
    high = np.maximum.accumulate(np.column_stack([row.highest_slabs, slabs]), axis=1)
    fits = np.all(high <= SLAB_SPREAD * low, axis=0)
    fitting = int(fits.sum()) - 1  # they are true up to the first that differs too much
    row.groups += fitting
    row.slabs, row.highest_slabs = (tuple(x[:, fitting].tolist()) for x in (low, high))
    return fitting


def search_windows(
    question: PeriodicQuestion,
    device: Device,
    advance: Callable[[float], Any],
    is_due: Callable[[], bool],
) -> Findings:
    """Search the windows of a question, one batch after another until `is_due` returns True."""
    findings = Findings(question.phases[0])
    for begin, end, is_near in question.intervals():
        if is_near:
            findings.numbers.update(question.lattice.points(begin, end))
            findings.points.append((begin, end))
            findings.reached = end
            continue
        size = GROUPS_PER_BATCH[device.kind]
        for batch in _prefetch(make_groups(question, begin, end, size), size):
            survivors, candidates = search_groups(batch, device)
            findings.numbers.update(itertools.chain.from_iterable(survivors))
            findings.candidates += candidates
            for groups in batch:
                findings.add(groups)
            reached = min(findings.rows[-1].end, end)
            advance(float(reached - findings.reached))
            findings.reached = reached
            if is_due():
                return findings
        if findings.reached < end:
            raise ArithmeticError(
                f"no window covers the phases from {float(findings.reached)} to {float(end)}: "
                "this is a bug in tmd, please report it"
            )
    return findings


def _prefetch(stretches: Iterator[Groups], count: int) -> Iterator[list[Groups]]:
    """Yield batches of `count` groups; the rows of the next are computed while one is searched."""
    with ThreadPoolExecutor(1) as thread:
        following = thread.submit(_take, stretches, count)
        while batch := following.result():
            following = thread.submit(_take, stretches, count)
            yield batch


def _take(stretches: Iterator[Groups], count: int) -> list[Groups]:
    """Return the next stretches, with `count` groups or a few more; fewer at the end."""
    following: list[Groups] = []
    taken = 0
    while taken < count and (groups := next(stretches, None)):
        following.append(groups)
        taken += groups.count
    return following


def search_groups(stretches: Sequence[Groups], device: Device) -> tuple[list[list[int]], int]:
    """Return the numbers m of the survivors of each group, and the number of candidates.

    The order is that of the rows: the ulps of a stretch after each other, with all of its groups.
    """
    reals = np.concatenate([g.reals.reshape(-1, REAL_COLUMNS) for g in stretches])
    words = np.concatenate([g.words.reshape(-1, WORD_COLUMNS) for g in stretches])
    windows = np.concatenate(
        [np.full(g.count * len(g.ulps), g.windows, np.int64) for g in stretches]
    )
    survivors, skipped, counts = _search_in_float32(reals, words, windows, device)
    candidates = int(counts[:, 1].sum())
    places: list[tuple[int, int, int]] = []
    found: list[list[Any]] = [[] for _ in range(windows.size)]
    for i in np.flatnonzero(counts[:, 0]).tolist():
        found[i] = survivors[i, : counts[i, 0]].tolist()
    for i in np.flatnonzero(counts[:, 2]).tolist():
        if counts[i, 2] <= skipped.shape[1]:
            places += [(i, k, k) for k in skipped[i, : counts[i, 2]].tolist()]
        else:
            places.append((i, -windows[i], windows[i]))
            found[i] = []
    if places:
        chosen, firsts, lasts = np.array(places, np.int64).T.copy()
        survivors, counts = _search_again(reals[chosen], words[chosen], firsts, lasts, device)
        candidates += int(counts[:, 1].sum())
        for k in np.flatnonzero(counts[:, 0]).tolist():
            found[chosen[k]] += survivors[k, : counts[k, 0]].tolist()
    bounds = np.cumsum([0] + [g.count * len(g.ulps) for g in stretches])
    for i in filter(found.__getitem__, range(windows.size)):
        k = int(np.searchsorted(bounds, i, "right")) - 1
        g = stretches[k]
        u_m, _, v_m, _ = g.basis
        anchor = int(g.anchors[(i - bounds[k]) % g.count])
        found[i] = [anchor + a * u_m + b * v_m for a, b in found[i]]
    return found, candidates


def _search_in_float32(
    reals: np.ndarray, words: np.ndarray, windows: np.ndarray, device: Device
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what `search_groups_in_float32` does with room for all survivors.

    The numbers of skipped windows may exceed the room for them.
    """
    capacity = CAPACITY
    while True:
        results = loops(device).search_groups_in_float32(reals, words, windows, capacity)
        if (most := int(results[2][:, 0].max())) <= capacity:
            return results
        capacity = most


def _search_again(
    reals: np.ndarray, words: np.ndarray, firsts: np.ndarray, lasts: np.ndarray, device: Device
) -> tuple[np.ndarray, np.ndarray]:
    """Return what `search_groups` does with room for all survivors, of windows in float64."""
    capacity = CAPACITY
    while True:
        results = loops(device).search_groups(reals, words, firsts, lasts, capacity)
        if (most := int(results[1][:, 0].max())) <= capacity:
            break
        capacity = most
    if results[1][:, 1].min() < 0:
        raise ArithmeticError(
            "a basis could not be reduced: this is a bug in tmd, please report it"
        )
    return results


def is_asked(question: PeriodicQuestion, m: int) -> bool:
    """Return whether an argument lies in the binade and has a phase that is asked for."""
    lattice, (lo, hi) = question.lattice, question.phases
    phase = lattice.residue(m)  # fractions would take as long as the balls
    return (
        lattice.first <= m < 2 * lattice.first
        and lo.numerator << PHASE_BITS <= phase * lo.denominator
        and phase * hi.denominator < hi.numerator << PHASE_BITS
    )


def _is_far(question: PeriodicQuestion, m: int) -> bool:
    """Return True if balls of few bits show that an argument is no case: for most survivors."""
    from flint import arb

    with working_precision(128):
        phase = arb(question.lattice.residue(m) >> (PHASE_BITS - 192), 1) * arb(2) ** -192
        y = question.function.enclosure(phase * arb.pi())
        ulp = question.format.ulp(exponent_of_ball(abs(y).lower()))
        if ulp is None or ulp != question.format.ulp(exponent_of_ball(abs(y).upper())):
            return False
        doubled = int(question.scale.doubled)
        value = abs(y) * arb(2) ** (doubled - ulp) + (0.5 if question.scale.half else 0.0)
        nearest = nearest_integer(value)
        return nearest is not None and bool(abs(value - arb(nearest)) > 2 * question.limit)


def decide(question: PeriodicQuestion, m: int) -> list[str]:
    """Return the kinds of which balls find an argument to be a case: one, or none."""
    if _is_far(question, m):
        return []
    f, fmt, scale = question.function, question.format, question.scale
    x = Run(1, question.lattice.quantum, m, 1).argument(0)
    kinds = []
    for middle in (False, True) if scale.doubled else (scale.half,):
        _, identical = measure_distance(f, fmt, x, middle)
        if identical is None or identical + 1 >= question.bits:
            kinds.append(KINDS[middle])
    return kinds
