"""Searches of windows around published cases: all of the list are found, and no others.

Each case of `published_cases.txt`, and of large arguments in `tmd-periodic`, has a window of its
own: of neighbouring arguments for `tmd.search`, of neighbouring phases for `tmd.search_periodic`.
In the middles of some windows all cases of a few bits are searched, and balls decide all arguments.

The lists of exp are complete, so that a case beyond them would be an error. Those of sin and cos
are examples: next to an extremum, for instance, there are more. There balls must confirm each.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import tmd
from studies.study import Study
from studies.tmd.periodic import PUBLIC, decide_all
from tmd._periodic.lattice import PhaseLattice
from tmd._search.planning import MAX_BITS
from tmd.formats import Format, exponent, to_fraction
from tmd.results import Case

LIST = Path(__file__).with_name("published_cases.txt")

COMPLETE_FROM = {"exp": 44}
"""Fewest identical bits of a list that is complete; of large arguments of sin and cos none is."""

BEYOND = 11
"""Exponent from which arguments of sin and cos are searched by their phases."""

LOG2_ARGUMENTS = {0: 40, 7: 36}
"""log2 of the arguments of a window, by binade; the search of exp is slower in the second."""

LOG2_PHASES = 42
"""log2 of the arguments of a window of phases."""

QUICK, DECIDED = 20, 12
"""log2 of the arguments of a window in the tests, and of those in its middle that balls decide."""

DECIDED_BITS, EVERY = 8, 5
"""The `bits` of the searches that balls repeat, and of how many windows one is repeated."""


FORMAT = Format.create(53)


class Published(NamedTuple):
    """A published case."""

    function: str
    text: str
    kind: str
    identical_bits: int

    @property
    def argument(self) -> Fraction:
        """The argument."""
        return to_fraction("argument", self.text)

    @property
    def bits(self) -> int:
        """The `bits` that ask for all cases as hard as the list's easiest, or else as this one."""
        return min(COMPLETE_FROM.get(self.function, self.identical_bits) + 1, MAX_BITS)


class Window:
    """Arguments of a binade: those, or the phases of those, that lie around a published case."""

    def __init__(self, case: Published, log2_arguments: int | None = None) -> None:
        self.function, self.exponent = case.function, exponent(case.argument)
        self.lattice = PhaseLattice.of_binade(self.exponent, FORMAT)
        self.is_periodic = self.exponent >= BEYOND
        usual = LOG2_PHASES if self.is_periodic else LOG2_ARGUMENTS[self.exponent]
        half = Fraction(2) ** ((log2_arguments or usual) - 1)
        first, end, unit = self.lattice.first, 2 * self.lattice.first, Fraction(1)
        if self.is_periodic:
            first, end, unit = 0, 1, Fraction(1, self.lattice.first)
        middle = self.position(case.argument)
        self.lo = max(middle - half * unit, Fraction(first))
        self.hi = min(middle + half * unit, Fraction(end))
        self.count = int((self.hi - self.lo) / unit)

    def position(self, x: Fraction) -> Fraction:
        """Return the phase of an argument, or the argument in units of the last place."""
        m = x / Fraction(2) ** self.lattice.quantum
        return self.lattice.phase(int(m)) % 1 if self.is_periodic else m

    def holds(self, case: Published) -> bool:
        """Return whether a published case lies in the window."""
        x = case.argument
        is_near = case.function == self.function and exponent(x) == self.exponent
        return is_near and self.lo <= self.position(x) < self.hi

    def numbers(self) -> list[int]:
        """Return all arguments in units of the last place."""
        if not self.is_periodic:
            return [*range(int(self.lo), int(self.hi))]
        near = self.lattice.points(self.lo, self.hi)
        return [m for m in near if self.lo <= self.lattice.phase(m) % 1 < self.hi]

    def search(self, bits: int, study: Study) -> dict[tuple[Fraction, str], Case]:
        """Return the cases by argument and kind."""
        if self.is_periodic:
            phases = self.lo, self.hi
            cases = tmd.search_periodic(
                self.function, self.exponent, phases=phases, bits=bits, device=study.device
            ).cases
        else:
            unit = Fraction(2) ** self.lattice.quantum
            ends = self.lo * unit, self.hi * unit
            cases = [*tmd.search(self.function, ends, bits=bits, device=study.device).cases]
        return {(case.exact_argument, case.kind): case for case in cases}


def read_list() -> list[Published]:
    """Return the published cases."""
    lines = (line.split() for line in LIST.read_text(encoding="utf-8").splitlines())
    cases = (words for words in lines if words[0] != "#")
    of_exp = [Published(name, text, kind, int(bits)) for name, text, kind, bits in cases]
    return of_exp + [Published(*case) for case in PUBLIC]


def run(study: Study) -> dict:
    """Search all windows; raise AssertionError unless their cases are the published ones."""
    cases = read_list()[:: 20 if study.quick else 1]
    counts = ("published", "found", "others", "true", "s")
    heads: tuple[str, ...] = (
        *("function", "argument", "kind", "identical bits", "arguments", "bits"), *counts
    )  # fmt: skip
    title = """Windows around published cases: how many of those there are found.
Others are found and not published, of which balls confirm those that are true."""
    rows = study.table(title, heads, _search_windows(study, cases))
    heads = ("function", "argument", "arguments", "bits", "cases", "missing", "extra")
    title = "The middles of some windows, and balls for all of their arguments"
    decided = study.table(title, heads, _decide_middles(study, cases[::EVERY]))
    totals = []
    for name in dict.fromkeys(case.function for case in cases):
        of_name = [row for row in rows if row[0] == name]
        sums = [sum(row[column] for row in of_name) for column in (4, 6, 7, 8, 9, 10)]
        totals.append((name, len(of_name), *sums))
    heads = ("function", "windows", "arguments", *counts)
    study.table("All windows", heads, totals)
    for name, *_, published, found, others, true, _ in rows:
        assert found == published
        assert others == (0 if name in COMPLETE_FROM else true)
    assert all(missing == extra == 0 for *_, missing, extra in decided)
    return {"windows": totals, "decided by balls": sum(row[2] for row in decided)}


def _search_windows(study: Study, cases: list[Published]) -> Iterator[tuple]:
    """Yield a row for each window, which compares its cases with all that are published there."""
    for case in cases:
        window = Window(case, QUICK if study.quick else None)
        start = time.perf_counter()
        found = window.search(case.bits, study)
        seconds = time.perf_counter() - start
        published = {
            (other.argument, other.kind): other.identical_bits
            for other in read_list()
            if other.identical_bits >= case.bits - 1 and window.holds(other)
        }
        same = [
            key
            for key, bits in published.items()
            if key in found and found[key].identical_bits == bits
        ]
        others = found.keys() - published.keys()
        numbers = [int(x / Fraction(2) ** window.lattice.quantum) for x, _ in others]
        true = decide_all(case.function, FORMAT, window.lattice, numbers, case.bits)
        yield (*case, window.count, case.bits, len(published), len(same), len(others),
               len(true & others), seconds)  # fmt: skip


def _decide_middles(study: Study, cases: list[Published]) -> Iterator[tuple]:
    """Yield a row for each window, which compares its middle with the values of all arguments."""
    for case in cases:
        window = Window(case, DECIDED)
        numbers = window.numbers()
        true = decide_all(case.function, FORMAT, window.lattice, numbers, DECIDED_BITS)
        found = window.search(DECIDED_BITS, study).keys()
        yield (case.function, case.text, len(numbers), DECIDED_BITS, len(true),
               len(true - found), len(found - true))  # fmt: skip
