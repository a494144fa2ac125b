"""What a search returns."""

from __future__ import annotations

import bisect
import heapq
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path

import numpy as np

from tmd.case_lists import UNDECIDED
from tmd.decide import Distance, Found, measure
from tmd.formats import Format, hexadecimal
from tmd.functions import function
from tmd.plan import Plan

KINDS = ("F", "M")


@dataclass(frozen=True)
class Case:
    """An argument whose value lies close to a rounding breakpoint.

    Attributes
    ----------
    argument : float, or Fraction where no float64 has its value
    kind : "F" (close to a floating-point number) or "M" (close to a midpoint of two)
    distance : Distance
        (lower, upper) in ulps of the value, by balls: a proven interval. Made at first use.
    identical_bits : int or None
        Equal bits after the round bit; None where the value is the breakpoint itself.
    """

    function: str
    format: Format
    exact_argument: Fraction
    kind: str

    @property
    def argument(self) -> float | Fraction:
        try:
            number = float(self.exact_argument)
        except OverflowError:
            return self.exact_argument
        return number if number == self.exact_argument else self.exact_argument

    @cached_property
    def _measured(self):
        middle = self.kind == "M"
        return measure(function(self.function), self.format, self.exact_argument, middle)

    @property
    def distance(self) -> Distance:
        return self._measured[0]

    @property
    def identical_bits(self) -> int | None:
        return self._measured[1]

    @property
    def hex(self) -> str:
        """The argument as C writes it."""
        return hexadecimal(self.exact_argument)

    def __repr__(self) -> str:
        bits = self.identical_bits
        return f"Case({self.hex}, {self.kind}, {'exact' if bits is None else f'{bits} bits'})"


class Cases(Sequence):
    """The cases of a search by growing argument; made when they are looked at."""

    def __init__(self, name: str, fmt: Format, found: list[tuple[Plan, Found]]):
        self._name, self._format = name, fmt
        self._found = sorted(found, key=lambda f: _first_argument(f[0]))
        self._ends = list(itertools.accumulate(f.index.size for _, f in self._found))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __getitem__(self, i):
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(len(self)))]
        i = range(len(self))[i]
        block = bisect.bisect_right(self._ends, i)
        return self._case(block, i - (self._ends[block - 1] if block else 0))

    def _case(self, block: int, i: int) -> Case:
        plan, found = self._found[block]
        if plan.block.run.sign < 0:
            i = found.index.size - 1 - i
        x = plan.block.run.argument(found.index[i])
        return Case(self._name, self._format, x, KINDS[int(found.middle[i])])

    def __repr__(self) -> str:
        return f"<{len(self)} cases of {self._name}>"

    @property
    def arguments(self) -> np.ndarray:
        """All arguments as float64 (rounded where a format has more digits)."""
        parts = []
        for plan, found in self._found:
            run = plan.block.run
            whole = np.uint64(run.first) + found.index
            x = run.sign * np.ldexp(whole.astype(np.float64), run.quantum)
            parts.append(x if run.sign > 0 else x[::-1])
        return np.concatenate([*parts, np.empty(0)])

    @property
    def middle(self) -> np.ndarray:
        """Whether each is close to a midpoint."""
        parts = [f.middle if p.block.run.sign > 0 else f.middle[::-1] for p, f in self._found]
        return np.concatenate([*parts, np.empty(0, bool)])

    @property
    def distances(self) -> np.ndarray:
        """(n, 2): bounds of the distances in ulps, from the Taylor models alone."""
        parts = []
        for plan, found in self._found:
            unit = 2.0 ** -(63 + int(plan.scale.doubled))
            size = np.abs(found.value)
            low = np.maximum(size - found.error, 0) * unit * (1 - 2.0**-52)
            high = (size.astype(float) + found.error) * unit * (1 + 2.0**-51)
            both = np.stack([low, high], axis=1)
            parts.append(both if plan.block.run.sign > 0 else both[::-1])
        return np.concatenate([*parts, np.empty((0, 2))])

    def hardest(self, count: int = 10) -> list[Case]:
        """The cases with the smallest distances, the hardest first; exact values are left out."""
        low, high = self.distances.T
        wanted = min(len(self), count)
        while count > 0:
            reach = np.partition(high, wanted - 1)[wanted - 1] if wanted else 0.0
            near = [(self[int(i)], high[i]) for i in np.flatnonzero(low <= reach)]
            near = [(c, h) for c, h in near if c.identical_bits is not None]
            if wanted == len(self) or sum(h <= reach for _, h in near) >= count:
                return heapq.nsmallest(count, (c for c, _ in near), key=lambda c: c.distance.upper)
            wanted = min(len(self), 2 * wanted)  # exact values were among them
        return []


def _first_argument(plan: Plan) -> Fraction:
    run = plan.block.run
    return run.argument(0) if run.sign > 0 else run.argument(run.count - 1)


@dataclass(frozen=True)
class Result:
    """What `tmd.search` found.

    Attributes
    ----------
    function, domain, bits, rounding, format : the question
    cases : sequence of Case, by growing argument
    undecided : list of Fraction
        Arguments that balls of 8192 bits cannot tell from cases. Reported, never dropped.
    certificate : dict
        For `tmd.verify`; `json.dump` writes it.
    """

    function: str
    domain: tuple[Fraction, Fraction]
    bits: int
    rounding: str
    format: Format
    cases: Cases
    undecided: list
    certificate: dict

    @property
    def hardness(self) -> int:
        """The least m for which every value that is no breakpoint is 2^-m ulp or more from all.

        `bits` if there is no case; exact values do not count.
        """
        hardest = self.cases.hardest(1)
        return hardest[0].identical_bits + 2 if hardest else self.bits

    def lines(self) -> Iterator[str]:
        """Yield the arguments as lines of a `.wc` file of CORE-MATH, with comments before.

        `tmd.verify(certificate, cases=path)` checks such a file.
        """
        lo, hi = self.certificate["domain"]
        yield f"# {self.function}, {len(self.cases)} arguments in [{lo}, {hi}) whose values are"
        yield f"# closer than 2^-{self.bits} ulp to {_breakpoints(self.rounding)}"
        yield f"# of {self.format.precision} digits; certificate {self.certificate['hash']}"
        for x in self.undecided:
            yield f"{UNDECIDED}{hexadecimal(x)}"
        for case in self.cases:
            yield case.hex

    def write(self, path) -> Path:
        """Write `lines` to a file."""
        path = Path(path)
        path.write_text("\n".join(self.lines()) + "\n")
        return path

    def __repr__(self) -> str:
        lo, hi = self.certificate["domain"]
        return f"Result({self.function} on [{lo}, {hi}): {len(self.cases)} cases, bits={self.bits})"


def _breakpoints(rounding: str) -> str:
    floats, middles = "floating-point numbers", "midpoints"
    return {"all": f"{floats} or {middles}", "directed": floats, "nearest": middles}[rounding]
