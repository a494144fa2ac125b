"""The public function that searches periodic functions of large arguments."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from hetero import validation
from hetero.atomic_files import replace_atomically
from hetero.devices import Device, resolve
from hetero.display.progress_bar import open_bar
from tmd._certificates.case_lists import KINDS
from tmd._periodic import loops
from tmd._periodic.groups import Group, PeriodicQuestion, make_groups
from tmd._periodic.lattice import PhaseLattice
from tmd._search.decisions import measure_distance
from tmd._search.planning import MAX_BITS
from tmd._search.taylor_models import ROUNDINGS, Scale
from tmd.formats import Format, Precision, Run, format_fraction, to_fraction
from tmd.functions import NAMES, load_function
from tmd.results import Case

LOGGER = logging.getLogger(__name__)

GROUPS_PER_BATCH = {"cpu": 1 << 8, "cuda": 1 << 15}
"""Groups that are searched between two reports of progress (not tuned)."""

CAPACITY = 4
"""Survivors of a group that are stored at first; a batch with more is searched again."""

BREAK_EVEN = 1 << 50
"""Number of arguments from which the GPU is chosen (an estimate: it was not measured)."""


MAX_CASES = 1 << 22
"""Largest number of cases that may be expected: balls decide each of them, in some 0.1 ms."""


@dataclass(frozen=True)
class PeriodicResult:
    """Result of `tmd.search_periodic`.

    Attributes
    ----------
    function, exponent, phases, bits, rounding, format
        The arguments of the search.
    cases : list of Case, by growing argument
    windows, candidates, decided : int
        Numbers of the windows that were searched, of the lattice points in their slabs, and of the
        arguments that balls decided.
    """

    function: str
    exponent: int
    phases: tuple[Fraction, Fraction]
    bits: int
    rounding: str
    format: Format
    cases: list[Case]
    windows: int
    candidates: int
    decided: int

    @property
    def hardness(self) -> int:
        """Smallest m such that all values are at least 2^-m ulp away from every breakpoint.

        It is `bits` if there is no case.
        """
        identical = [case.identical_bits for case in self.cases]
        return max((bits + 2 for bits in identical if bits is not None), default=self.bits)

    def lines(self) -> Iterator[str]:
        """Yield the arguments as lines of a CORE-MATH `.wc` file, after some comments."""
        lo, hi = map(format_fraction, self.phases)
        yield f"# {self.function}: {len(self.cases)} arguments (k + t) pi of 2^{self.exponent} to"
        yield f"# 2^{self.exponent + 1} with t in [{lo}, {hi}), closer than 2^-{self.bits} ulp"
        for case in self.cases:
            yield case.hex

    def write(self, path: str | Path) -> Path:
        """Write `lines` to a file, which is complete or unchanged, and return its path."""
        path = validation.check_path("path", path)
        with replace_atomically(path) as part:
            part.write_text("\n".join(self.lines()) + "\n")
        return path


def search_periodic(
    name: str,
    exponent: int,
    *,
    phases: tuple = (0, 1),
    bits: int = 45,
    precision: Precision = 53,
    rounding: str = "all",
    progress: bool = False,
    device: str | Device | None = None,
) -> PeriodicResult:
    """Find the hard-to-round cases of sin, cos or tan among the arguments of a binade.

    Unlike `search`, it treats arguments together whose remainders modulo pi are close, so that its
    time does not depend on the size of the arguments.

    Parameters
    ----------
    name : {"sin", "cos", "tan"}
    exponent : int
        The arguments are all numbers x of the format with 2^exponent <= x < 2^(exponent+1).
    phases : (lo, hi)
        Only arguments with lo <= x/pi - floor(x/pi) < hi, where 0 <= lo < hi <= 1. Both are used
        exactly, as the domain of `search`. Parts of a binade are searched by parts of [0, 1).
    bits, precision, rounding
        As in `search`; the arguments have the precision of the values.
    progress : bool
        Whether to show a progress bar on the terminal.
    device : None, "auto", "cpu", "cuda", "cuda:N" or hetero.Device

    Returns
    -------
    PeriodicResult

    Raises
    ------
    ValueError
        An argument is out of range, or there would be too many cases.
    ArithmeticError
        Balls of 8192 bits cannot decide an argument; none is known.
    hetero.DeviceUnavailableError

    Notes
    -----
    Every error is bounded (docs/packages/tmd-large-arguments.md), so that the list is complete.
    There is no certificate: its format describes blocks of consecutive arguments.
    """
    question = check_question(name, exponent, phases, bits, precision, rounding)
    lattice, (lo, hi) = question.lattice, question.phases
    chosen = resolve(device, work=int(lattice.first * (hi - lo)), break_even=BREAK_EVEN)
    LOGGER.info("%s: arguments of 2^%d, phases [%s, %s), on %s", name, exponent, lo, hi, chosen)
    numbers: set[int] = set()
    windows = candidates = 0
    with chosen.active(), open_bar(name, float(hi - lo), enabled=progress) as advance:
        for begin, end, is_near in question.intervals():
            if is_near:
                numbers.update(lattice.points(begin, end))
                continue
            groups = make_groups(question, begin, end)
            while batch := list(itertools.islice(groups, GROUPS_PER_BATCH[chosen.kind])):
                survivors, count = _search_batch(batch, chosen)
                numbers.update(survivors)
                candidates += count
                windows += sum(2 * group.windows + 1 for group in batch)
                last = batch[-1].centre + batch[-1].half_width * (2 * batch[-1].windows + 1)
                advance(float(min(last, end) - begin))
                begin = last
            if begin < end:
                raise ArithmeticError(
                    f"no window covers the phases from {float(begin)} to {float(end)}: this is a "
                    "bug in tmd, please report it"
                )
    inside = sorted(m for m in numbers if _is_asked(question, m))
    cases = [case for m in inside for case in _decide(question, m)]
    return PeriodicResult(
        name, exponent, (lo, hi), question.bits, rounding, question.format, cases,
        windows, candidates, len(inside),
    )  # fmt: skip


def check_question(
    name: str, exponent: int, phases: Any, bits: int, precision: Precision, rounding: str
) -> PeriodicQuestion:
    """Return what is asked; raise what `search_periodic` raises if it cannot be."""
    periodic = tuple(n for n in NAMES if load_function(n).singular_phases)
    validation.check_choice("name", name, periodic)
    fmt = Format.create(precision)
    validation.check_choice("rounding", rounding, ROUNDINGS)
    exponent = validation.check_integer("exponent", exponent, 0, 1 << 14)
    bits = validation.check_integer("bits", bits, 4)
    if bits > MAX_BITS:
        raise ValueError(f"bits must lie in [4, {MAX_BITS}], got {bits}")
    try:
        lo, hi = phases
    except (TypeError, ValueError):
        raise TypeError(f"phases must be a pair (lo, hi), got {phases!r}") from None
    lo, hi = to_fraction("phases", lo), to_fraction("phases", hi)
    if not 0 <= lo < hi <= 1:
        raise ValueError(f"phases must be (lo, hi) with 0 <= lo < hi <= 1, got ({lo}, {hi})")
    lattice = PhaseLattice.of_binade(exponent, fmt)
    function, scale = load_function(name), Scale.for_rounding(rounding)
    expected = lattice.first * (hi - lo) * Fraction(2) ** (1 + scale.doubled - bits)
    if expected > MAX_CASES:
        raise ValueError(
            f"bits={bits} would give about {float(expected):.2g} cases, too many to decide: use "
            "more bits or a smaller part of the phases"
        )
    return PeriodicQuestion(function, exponent, lattice, fmt, scale, bits, (lo, hi))


def _search_batch(batch: list[Group], device: Device) -> tuple[list[int], int]:
    """Return the numbers m of the survivors of some groups, and the number of candidates."""
    reals = np.stack([group.reals for group in batch])
    words = np.stack([group.words for group in batch])
    windows = np.array([group.windows for group in batch], np.int64)
    capacity = CAPACITY
    while True:
        found, counts = loops(device).search_groups(reals, words, windows, capacity)
        if counts[:, 0].max() <= capacity:
            break
        capacity = int(counts[:, 0].max())
    if counts[:, 1].min() < 0:
        raise ArithmeticError(
            "a basis could not be reduced: this is a bug in tmd, please report it"
        )
    numbers = [
        group.argument(int(a), int(b))
        for group, rows, (count, _) in zip(batch, found, counts, strict=True)
        for a, b in rows[:count]
    ]
    return numbers, int(counts[:, 1].sum())


def _is_asked(question: PeriodicQuestion, m: int) -> bool:
    """Return whether an argument lies in the binade and has a phase that is asked for."""
    lattice, (lo, hi) = question.lattice, question.phases
    return lattice.first <= m < 2 * lattice.first and lo <= lattice.phase(m) % 1 < hi


def _decide(question: PeriodicQuestion, m: int) -> list[Case]:
    """Return an argument as a case if balls find it to be one."""
    f, fmt, scale = question.function, question.format, question.scale
    x = Run(1, question.lattice.quantum, m, 1).argument(0)
    for middle in (False, True) if scale.doubled else (scale.half,):
        _, identical = measure_distance(f, fmt, x, middle)
        if identical is None or identical + 1 >= question.bits:
            return [Case(f.name, fmt, x, KINDS[middle])]
    return []
