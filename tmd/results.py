"""Results of a search: `Case`, `Cases` and `Result`."""

from __future__ import annotations

import bisect
import heapq
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, overload

import numpy as np

from hetero.data_files.atomic_files import write_lines
from hetero.display.notebook import html_table, table_with_picture
from hetero.equality import equal_by_value
from hetero.validation import check_path
from tmd._certificates.case_lists import KINDS, UNDECIDED_PREFIX
from tmd._search.cases import BlockCases
from tmd._search.decisions import Distance, measure_distance
from tmd._search.planning import Plan
from tmd.formats import Format, format_hexadecimal
from tmd.functions import load_function

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_MOST_DRAWN = 1_000_000
"""Cases that a notebook draws unasked, within a second."""


@dataclass(frozen=True)
class Case:
    """An argument whose value lies close to a rounding breakpoint.

    Attributes
    ----------
    function : str
    format : Format
    exact_argument : Fraction
    argument : float or Fraction
        A Fraction if no float64 has its value.
    kind : "F" (close to a floating-point number) or "M" (close to a midpoint of two)
    distance : Distance
        The proven interval (lower, upper), in ulps of the value. Computed by balls at first use.
    identical_bits : int or None
        Number of identical bits after the round bit; None if the value is the breakpoint itself.
    hex : str
        The argument in C's hexadecimal notation.
    """

    function: str
    format: Format
    exact_argument: Fraction
    kind: str

    @property
    def argument(self) -> float | Fraction:
        """The argument as a float if its value permits."""
        try:
            number = float(self.exact_argument)
        except OverflowError:
            return self.exact_argument
        return number if number == self.exact_argument else self.exact_argument

    @cached_property
    def _measurement(self) -> tuple[Distance, int | None]:
        middle = self.kind == "M"
        return measure_distance(
            load_function(self.function), self.format, self.exact_argument, middle
        )

    @property
    def distance(self) -> Distance:
        """Distance from the breakpoint, in ulps of the value."""
        return self._measurement[0]

    @property
    def identical_bits(self) -> int | None:
        """Number of identical bits after the round bit; None for an exact value."""
        return self._measurement[1]

    @property
    def hex(self) -> str:
        """The argument in C's hexadecimal notation."""
        return format_hexadecimal(self.exact_argument)

    def __repr__(self) -> str:
        bits = self.identical_bits
        return f"Case({self.hex}, {self.kind}, {'exact' if bits is None else f'{bits} bits'})"


@equal_by_value
class Cases(Sequence[Case]):
    """The cases of a search, by growing argument. Each is created when it is accessed."""

    def __init__(self, name: str, fmt: Format, blocks: list[tuple[Plan, BlockCases]]) -> None:
        self._name, self._format = name, fmt
        self._blocks = sorted(blocks, key=lambda pair: _smallest_argument(pair[0]))
        self._ends = list(itertools.accumulate(cases.index.size for _, cases in self._blocks))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @overload
    def __getitem__(self, i: int) -> Case: ...

    @overload
    def __getitem__(self, i: slice) -> list[Case]: ...

    def __getitem__(self, i: int | slice) -> Case | list[Case]:
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(len(self)))]
        i = range(len(self))[i]
        block = bisect.bisect_right(self._ends, i)
        return self._case(block, i - (self._ends[block - 1] if block else 0))

    def _case(self, block: int, i: int) -> Case:
        """Return case number i of a block, counted by growing argument."""
        plan, cases = self._blocks[block]
        if plan.block.run.sign < 0:
            i = cases.index.size - 1 - i
        x = plan.block.run.argument(cases.index[i])
        return Case(self._name, self._format, x, KINDS[int(cases.middle[i])])

    def __repr__(self) -> str:
        return f"<{len(self)} cases of {self._name}>"

    @property
    def blocks(self) -> list[tuple[Plan, BlockCases]]:
        """The blocks that were searched, by growing arguments, with the cases of each."""
        return self._blocks

    @property
    def searched(self) -> int:
        """Number of arguments that were searched."""
        return sum(plan.block.run.count for plan, _ in self._blocks)

    @property
    def arguments(self) -> np.ndarray:
        """Arguments of all cases as float64, rounded if the format has more digits."""
        parts = []
        for plan, cases in self._blocks:
            run = plan.block.run
            mantissa = np.uint64(run.first) + cases.index
            x = run.sign * np.ldexp(mantissa.astype(np.float64), run.quantum)
            parts.append(x if run.sign > 0 else x[::-1])
        return np.concatenate([*parts, np.empty(0)])

    @property
    def middle(self) -> np.ndarray:
        """Mask of the cases that are close to a midpoint."""
        parts = [c.middle if p.block.run.sign > 0 else c.middle[::-1] for p, c in self._blocks]
        return np.concatenate([*parts, np.empty(0, bool)])

    @property
    def distances(self) -> np.ndarray:
        """Bounds of the distances in ulps, from the Taylor models alone: an array (n, 2)."""
        parts = []
        for plan, cases in self._blocks:
            unit = 2.0 ** -(63 + int(plan.scale.doubled))
            distance = np.abs(cases.value)
            low = np.maximum(distance - cases.error, 0) * unit * (1 - 2.0**-52)
            high = (distance.astype(float) + cases.error) * unit * (1 + 2.0**-51)
            both = np.stack([low, high], axis=1)
            parts.append(both if plan.block.run.sign > 0 else both[::-1])
        return np.concatenate([*parts, np.empty((0, 2))])

    @property
    def undecided(self) -> list[Fraction]:
        """Arguments that balls of 8192 bits cannot distinguish from cases."""
        return [p.block.run.argument(i) for p, cases in self._blocks for i in cases.undecided]

    def hardest(self, count: int = 10) -> list[Case]:
        """Return the cases with the smallest distances, the hardest first, without exact values."""
        low, high = self.distances.T
        considered = min(len(self), count)
        while count > 0:
            bound = np.partition(high, considered - 1)[considered - 1] if considered else 0.0
            candidates = [(self[int(i)], high[i]) for i in np.flatnonzero(low <= bound)]
            candidates = [(c, h) for c, h in candidates if c.identical_bits is not None]
            if considered == len(self) or sum(h <= bound for _, h in candidates) >= count:
                cases = (c for c, _ in candidates)
                return heapq.nsmallest(count, cases, key=lambda c: c.distance.upper)
            # Exact values were among them: consider more.
            considered = min(len(self), 2 * considered)
        return []


def _smallest_argument(plan: Plan) -> Fraction:
    """Return the smallest argument of a plan's block; block numbers count by magnitude."""
    run = plan.block.run
    return run.argument(0) if run.sign > 0 else run.argument(run.count - 1)


@equal_by_value
@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """Result of `tmd.search`.

    Attributes
    ----------
    function, domain, bits, rounding, format
        The arguments of the search.
    cases : sequence of Case, by growing argument
    undecided : list of Fraction
        Arguments that balls of 8192 bits cannot distinguish from cases.
    certificate : dict
        For `tmd.verify`. It can be written with `json.dump`.
    """

    function: str
    domain: tuple[Fraction, Fraction]
    bits: int
    rounding: str
    format: Format
    cases: Cases
    undecided: list[Fraction]
    certificate: dict

    @property
    def status(self) -> str:
        """Either "success", or "undecided" if balls of 8192 bits leave arguments undecided."""
        return "undecided" if self.undecided else "success"

    @property
    def success(self) -> bool:
        """True if every argument is decided, as `status` says."""
        return not self.undecided

    @property
    def message(self) -> str:
        """Explanation of the status."""
        if self.undecided:
            return f"{len(self.undecided)} arguments are undecided"
        return "every argument is decided"

    @property
    def hardness(self) -> int:
        """Smallest m such that all values are at least 2^-m ulp away from every breakpoint.

        Values that are breakpoints are disregarded. It is `bits` if there is no other case.
        """
        hardest = self.cases.hardest(1)
        bits = hardest[0].identical_bits if hardest else None
        return self.bits if bits is None else bits + 2

    def lines(self) -> Iterator[str]:
        """Yield the arguments as lines of a CORE-MATH `.wc` file, after some comments.

        `tmd.verify(certificate, cases=path)` checks such a file.
        """
        lo, hi = self.certificate["domain"]
        yield f"# {self.function}: {len(self.cases)} arguments in [{lo}, {hi}) whose values are"
        yield f"# closer than 2^-{self.bits} ulp to {_describe_breakpoints(self.rounding)}"
        yield f"# of {self.format.precision} digits; certificate {self.certificate['hash']}"
        for x in self.undecided:
            yield f"{UNDECIDED_PREFIX}{format_hexadecimal(x)}"
        for case in self.cases:
            yield case.hex

    def write(self, path: str | Path) -> Path:
        """Write `lines` to a file, which is complete or unchanged, and return its path."""
        path = check_path("path", path)
        write_lines(path, self.lines())
        return path

    def plot(self, ax: Axes | None = None) -> Figure:
        """Draw how many cases there are within each distance, and where the hardest ones lie.

        The first panel compares them with the number that values at random would give.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Draw the first panel alone, on these axes.

        Returns
        -------
        matplotlib.figure.Figure
            A new one of pyplot, which notebooks and `pyplot.show()` show, or that of `ax`.
        """
        from tmd._plots import Points, plot_cases

        cases = self.cases
        points = Points(cases.arguments, cases.distances, cases.middle, cases.searched)
        return plot_cases(points, self.function, self.bits, self.rounding, ax)

    def __repr__(self) -> str:
        lo, hi = self.certificate["domain"]
        return f"Result({self.function} on [{lo}, {hi}): {len(self.cases)} cases, bits={self.bits})"

    def _repr_html_(self) -> str:
        """Return a table of the search and its result for notebooks."""
        lo, hi = self.certificate["domain"]
        rows = [
            ("function", self.function),
            ("domain", f"[{lo}, {hi})"),
            (
                "digits of values, of arguments",
                f"{self.format.precision}, {self.format.argument_precision}",
            ),
            ("closer than", f"2^-{self.bits} ulp to {_describe_breakpoints(self.rounding)}"),
            ("status", self.status),
            ("message", self.message),
            ("cases", f"{len(self.cases):,}"),
            ("certificate", self.certificate["hash"]),
        ]
        table = html_table("tmd.Result", rows)
        if not 0 < len(self.cases) <= _MOST_DRAWN:
            return table
        return table_with_picture(table, self.plot, "distances and arguments of the cases")


def _describe_breakpoints(rounding: str) -> str:
    """Return the breakpoints of a rounding in words."""
    floats, middles = "floating-point numbers", "midpoints"
    return {"all": f"{floats} or {middles}", "directed": floats, "nearest": middles}[rounding]
