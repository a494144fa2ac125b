"""Checks of certificates of periodic searches: what they say, and searches of groups again."""

from __future__ import annotations

import bisect
import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from hetero.devices import Device
from hetero.display.progress_bar import open_bar
from tmd._certificates.case_lists import CaseList
from tmd._certificates.periodic_records import Row
from tmd._periodic.groups import compute_rows, find_ulps
from tmd._periodic.question import MAX_POINTS, PeriodicQuestion, check_question
from tmd._periodic.searching import (
    GROUPS_PER_BATCH,
    SLAB_SPREAD,
    decide,
    is_asked,
    search_groups,
)
from tmd.errors import CertificateError
from tmd.formats import format_fraction, format_hexadecimal, to_fraction

WINDOW_ARGUMENTS = 1 << 8
"""Arguments in a sample that balls decide one by one, without lattices of three dimensions."""


@dataclass(frozen=True)
class CertifiedPhases:
    """Statements of a certificate of a periodic search, after `check_phases`.

    `cases` are (phase, m, kind) by growing phase, where m is the number of the argument; `starts`
    are the numbers of groups before each row. `name` is the hash of the certificate.
    """

    question: PeriodicQuestion
    rows: list[Row]
    points: list[tuple[Fraction, Fraction]]
    cases: list[tuple[Fraction, int, str]]
    starts: list[int]
    name: str

    @property
    def count(self) -> int:
        """The number of all groups."""
        return sum(row.groups for row in self.rows)

    def interval(self, number: int) -> tuple[Row, Fraction]:
        """Return the row of a group, and the phase at which it begins."""
        i = bisect.bisect_right(self.starts, number) - 1
        row = self.rows[i]
        return row, row.begin + (number - self.starts[i]) * row.length

    def cases_between(self, lo: Fraction, hi: Fraction) -> dict[int, str]:
        """Return the certified cases with phases in [lo, hi)."""
        ends = (bisect.bisect_left(self.cases, (end,)) for end in (lo, hi))
        return {m: kind for _, m, kind in self.cases[slice(*ends)]}

    def require_cases(self, numbers: Sequence[int], lo: Fraction, hi: Fraction) -> int:
        """Decide arguments with phases in [lo, hi), and compare with the cases there."""
        lo, hi = max(lo, self.question.phases[0]), min(hi, self.question.phases[1])
        lattice = self.question.lattice
        kinds: dict[int, str] = {}
        for m in numbers:
            if is_asked(self.question, m) and lo <= lattice.phase(m) % 1 < hi:
                for kind in decide(self.question, m):
                    kinds[m] = kind
        if kinds != (certified := self.cases_between(lo, hi)):
            raise CertificateError(
                f"the phases from {format_fraction(lo)} to {format_fraction(hi)} have "
                f"{len(kinds)} cases, but the certificate has {len(certified)} there, or others"
            )
        return len(kinds)


def check_phases(certificate: dict) -> CertifiedPhases:
    """Check the rows and cases of a loaded certificate of a periodic search.

    Raises
    ------
    CertificateError
        The windows do not cover the phases, or leave out ulps; a case is none or of another kind.
    """
    try:
        keys = ("function", "exponent", "phases", "bits", "precision", "rounding")
        question = check_question(*(certificate[key] for key in keys))
        points = [(to_fraction("points", lo), to_fraction("points", hi))
                  for lo, hi in certificate["points"]]  # fmt: skip
        rows = [Row.read(record) for record in certificate["rows"]]
        listed = [(to_fraction("cases", x), x, kind) for x, kind in certificate["cases"]]
    except (ValueError, TypeError, ArithmeticError) as error:
        raise CertificateError(f"certificate: its phases cannot be searched: {error}") from None
    _check_coverage(question, rows, points)
    windows, decided = certificate["windows"], certificate["decided"]
    if windows != sum(row.groups * len(row.ulps) * (2 * row.windows + 1) for row in rows):
        raise CertificateError(f"certificate: its rows do not have {windows} windows")
    if not len(listed) <= decided:
        raise CertificateError("certificate: its counts contradict each other")
    for row in rows:
        _check_ulps(question, row, 0, row.groups)
    cases = []
    unit = Fraction(2) ** question.lattice.quantum
    for before, (x, text, kind) in zip(
        [Fraction(0), *(x for x, *_ in listed)], listed, strict=False
    ):
        m = x / unit
        if x <= before or text != format_hexadecimal(x):
            raise CertificateError(f"certificate: {text} is not in order, or not as it is written")
        if m.denominator != 1 or not is_asked(question, int(m)):
            raise CertificateError(f"certificate: {text} is not an argument of the search")
        if decide(question, int(m)) != [kind]:
            raise CertificateError(f"certificate: {text} is not a case of kind {kind}")
        cases.append((question.lattice.phase(int(m)) % 1, int(m), kind))
    starts = [0, *itertools.accumulate(row.groups for row in rows)][:-1]
    return CertifiedPhases(question, rows, points, sorted(cases), starts, certificate["hash"])


def _check_coverage(
    question: PeriodicQuestion, rows: list[Row], points: list[tuple[Fraction, Fraction]]
) -> None:
    """Raise CertificateError unless rows and points follow each other without a gap."""
    reached, hi = question.phases
    for begin, end in sorted([*points, *((row.begin, row.end) for row in rows)]):
        if begin > reached:
            break
        reached = max(reached, end)
    if reached < hi:
        raise CertificateError(
            f"certificate: no window covers the phases from {format_fraction(reached)} on"
        )
    for begin, end in points:
        if (end - begin) * question.lattice.first > MAX_POINTS:
            raise CertificateError("certificate: its points are too many to be decided by balls")


def _check_ulps(question: PeriodicQuestion, row: Row, first: int, after: int) -> None:
    """Raise CertificateError unless the values in groups of a row have no other ulps than it."""
    begin, end = (row.begin + i * row.length for i in (first, after))
    try:
        if {*find_ulps(question, begin, end)} <= {*row.ulps}:
            return
    except (ValueError, OverflowError, ArithmeticError):
        pass  # a ball that is not finite: halves may have finite ones
    if after - first == 1:
        raise CertificateError(
            f"certificate: the group from the phase {format_fraction(begin)} leaves out an ulp"
        )
    middle = (first + after) // 2
    _check_ulps(question, row, first, middle)
    _check_ulps(question, row, middle, after)


def check_periodic_cases(certified: Sequence[CertifiedPhases], cases: CaseList) -> int:
    """Check that a list has the cases of some certificates and no others; return their number."""
    cases.require_certificates([c.name for c in certified])
    if len({c.question.function.name for c in certified}) > 1:
        raise CertificateError("the certificates of a list must belong to one function")
    expected = {
        m * Fraction(2) ** c.question.lattice.quantum: kind
        for c in certified
        for _, m, kind in c.cases
    }
    for case in cases.cases:
        kind = expected.pop(case.argument, None)
        if kind is None or case.kind not in (None, kind):
            problem = "is not certified, or listed twice" if kind is None else f"is of kind {kind}"
            raise CertificateError(f"{case.source}: {case.text} {problem}")
    if expected:
        missing = format_hexadecimal(min(expected))
        raise CertificateError(f"the list lacks {len(expected)} cases, the first at {missing}")
    return len(cases.cases)


def search_again(
    certified: CertifiedPhases,
    chosen: Sequence[int],
    samples: int,
    choice: random.Random,
    device: Device,
    progress: bool,
) -> dict[str, int]:
    """Search groups again and decide all arguments of samples of them and of all points."""
    question, lattice = certified.question, certified.question.lattice
    report = dict.fromkeys(("groups", "windows", "arguments", "cases"), 0)
    for begin, end in certified.points:
        certified.require_cases(lattice.points(begin, end), begin, end)
    size = GROUPS_PER_BATCH[device.kind]
    with device.active(), open_bar("verification", len(chosen), enabled=progress) as advance:
        for k in range(0, len(chosen), size):
            intervals = [certified.interval(number) for number in chosen[k : k + size]]
            groups = [
                compute_rows(question, begin, row.half_width, row.windows, 1, row.ulps)
                for row, begin in intervals
            ]
            for (row, begin), group in zip(intervals, groups, strict=True):
                for slab, searched in zip(row.slabs, group.slabs[:, 0], strict=True):
                    if not slab <= searched * (1 + 1e-5) <= slab * (SLAB_SPREAD + 1e-4):
                        raise CertificateError(
                            f"the slab {slab} is not that of the group from the phase "
                            f"{format_fraction(begin)}, which is {searched}"
                        )
            survivors = iter(search_groups(groups, device)[0])
            for row, begin in intervals:
                numbers = [m for _ in row.ulps for m in next(survivors)]
                report["cases"] += certified.require_cases(numbers, begin, begin + row.length)
                report["groups"] += 1
                report["arguments"] += int(lattice.first * row.length)
                for _ in range(samples):
                    width = min(row.length, Fraction(WINDOW_ARGUMENTS, lattice.first))
                    lo = begin + Fraction(choice.random()) * (row.length - width)
                    certified.require_cases(lattice.points(lo, lo + width), lo, lo + width)
                    report["windows"] += 1
                advance(1.0)
    return report | {"certified_groups": certified.count}
