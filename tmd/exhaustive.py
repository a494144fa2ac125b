"""Exhaustive tests of functions of binary32: every argument, in every rounding mode."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from hetero import validation
from hetero.cpu.interruptible import ranges
from hetero.display.notebook import html_table
from hetero.display.progress_bar import loop_progress
from hetero.equality import equal_by_value
from tmd._exhaust.segments import (
    INFINITY_BITS,
    NOT_JUDGED,
    SIGN_BIT,
    Table,
    argument_of,
    make_table,
)
from tmd._libraries.c_library import CLibrary
from tmd._libraries.callables import BINARY16, BINARY32
from tmd._libraries.environment import MODES, Environment, check_modes
from tmd._libraries.oracles import Oracle
from tmd.formats import to_fraction
from tmd.functions import load_function
from tmd.functions.function import Function
from tmd.library_check import judge

CHUNKS_PER_CALL = 1 << 11
"""Chunks of a call of the loops, whose buffers take 40 MiB at most."""


MOST_BALLS = 1 << 20
"""Most arguments that balls decide, in some minutes; others are not judged."""


@equal_by_value
@dataclass(frozen=True, eq=False, repr=False)
class ExhaustiveScore:
    """Results of a function at all arguments.

    Attributes
    ----------
    library, symbol : str
    arguments : int
        How many were tried, in each mode.
    wrong : dict of int
        Wrong results by mode.
    kinds : dict of (int, int)
        By mode: those near a floating-point number, and those near a midpoint.
    examples : list of (mode, argument, returned value, correct value)
        Some of the wrong results, as floats; all are confirmed by balls.
    balls : int
        Arguments that balls decided, because float64 could not.
    not_judged : int
        Arguments whose results are not known here: NaN, infinities, poles, and those of functions
        that oscillate too fast.
    """

    library: str
    symbol: str
    arguments: int
    wrong: dict[str, int]
    kinds: dict[str, tuple[int, int]]
    examples: list[tuple[str, float, float, float]]
    balls: int
    not_judged: int

    def __repr__(self) -> str:
        wrong = ", ".join(f"{mode} {count}" for mode, count in self.wrong.items())
        return f"ExhaustiveScore({self.symbol}: {self.arguments} arguments, wrong: {wrong})"

    def _repr_html_(self) -> str:
        rows = [(mode, count, *self.kinds[mode]) for mode, count in self.wrong.items()]
        title = f"{self.symbol} of {self.library}: {self.arguments:,} arguments"
        return html_table(title, rows, ("mode", "wrong", "near a float", "near a midpoint"))


def exhaust(
    name: str | Function,
    library: str | Path,
    *,
    symbol: str | None = None,
    domain: tuple | None = None,
    precision: str = "binary32",
    modes: str | Sequence[str] = "all",
    examples: int = 100,
    progress: bool = False,
) -> ExhaustiveScore:
    """Compare a C function `float f(float)` with correct rounding at every argument.

    Or one of binary16, `_Float16 f(_Float16)`.

    Parameters
    ----------
    name : str or Function
        A function in `tmd.functions.NAMES`, or one of your own.
    library : str or Path
        Text without a slash is a name that the loader searches for, such as "libm.so.6".
    symbol : str, optional
        By default `name` with an "f", or with "f16".
    domain : (lo, hi), optional
        The arguments lo <= x < hi of binary32; by default all 2^32 numbers, or 2^16 of binary16.
    precision : {"binary32", "binary16"}
    modes : {"nearest", "up", "down", "zero", "all"}, or several
        Rounding modes, which fesetround sets in the threads that call.
    examples : int
        Most wrong results to return.
    progress : bool

    Returns
    -------
    ExhaustiveScore

    Raises
    ------
    TypeError, ValueError
        The function is unknown; the library cannot be loaded or lacks the symbol; the domain is
        empty; or this machine has no fenv.h.

    Notes
    -----
    The correct results come from float64 arithmetic with bounds that balls prove, segment by
    segment (docs/packages/tmd.md); balls decide where these do not suffice, and every example.
    """
    f = load_function(name)
    chosen = check_modes("modes", modes)
    examples = validation.check_integer("examples", examples)
    validation.check_choice("precision", precision, ("binary32", "binary16"))
    numbers = BINARY16 if precision == "binary16" else BINARY32
    symbol = symbol if symbol is not None else f.name.rpartition(":")[2] + numbers.suffix
    function = CLibrary(library).find(symbol, numbers.c)
    environment = Environment()
    if numbers is BINARY16:
        if domain is not None:
            raise ValueError("domain is for binary32; binary16 has 2^16 arguments: leave it out")
        return _exhaust_halves(f, str(library), symbol, function, environment, chosen, examples)
    table = make_table(f, _ranges_of(domain))
    count = _Count(Oracle.of_function(f), function, environment, chosen, examples)
    _run(table, count, environment, chosen, function, progress)
    judged = ~np.isin(table.segments["rule"], (NOT_JUDGED,))
    total = int(table.segments["count"][judged].sum()) - count.not_judged
    wrong = {mode: int(sum(count.wrong[i])) for i, mode in enumerate(chosen)}
    kinds = {mode: (count.wrong[i][0], count.wrong[i][1]) for i, mode in enumerate(chosen)}
    skipped = int(table.segments["count"][~judged].sum()) + count.not_judged
    return ExhaustiveScore(
        str(library), symbol, total, wrong, kinds, count.examples, count.balls, skipped
    )


def _exhaust_halves(
    f: Function,
    library: str,
    symbol: str,
    function: Any,
    environment: Environment,
    modes: tuple[str, ...],
    examples: int,
) -> ExhaustiveScore:
    """Compare a function of binary16; balls decide all arguments."""
    from tmd._exhaust.comparison_loops import call_all_halves

    address = np.uint64(ctypes.cast(function, ctypes.c_void_p).value or 0)
    returned = np.empty((len(modes), 1 << 16), np.uint16)
    for mode, row in zip(modes, returned, strict=True):
        number = np.int32(environment.number(mode))
        call_all_halves(address, np.uint64(environment.address), number, row)
    kinds = {mode: [0, 0] for mode in modes}
    wrong: list[tuple[str, float, float, float]] = []
    oracle, judged = Oracle.of_function(f), 0
    for bits, x in enumerate(np.arange(1 << 16, dtype=np.uint16).view(np.float16).tolist()):
        try:
            judgement = judge(oracle, (x,), BINARY16, modes) if np.isfinite(x) else None
        except ValueError:  # a pole, or no value
            judgement = None
        if judgement is None:
            continue
        judged += 1
        for m, mode in enumerate(modes):
            y, right = (
                float(returned[m, bits : bits + 1].view(np.float16)[0]),
                judgement.values[mode],
            )
            if y != right:
                kinds[mode][int(judgement.kind == "M")] += 1
                wrong.append((mode, x, y, right))
    return ExhaustiveScore(
        library, symbol, judged, {mode: sum(pair) for mode, pair in kinds.items()},
        {mode: (pair[0], pair[1]) for mode, pair in kinds.items()}, wrong[:examples], judged,
        (1 << 16) - judged,
    )  # fmt: skip


def _ranges_of(domain: tuple | None) -> list[tuple[int, int]]:
    """Return the bits of the arguments of a domain, as ranges of one sign."""
    if domain is None:
        return [(0, 1 << 31), (1 << 31, 1 << 32)]
    try:
        lo, hi = domain
    except (TypeError, ValueError):
        raise TypeError(f"domain must be a pair (lo, hi), got {domain!r}") from None
    lo, hi = to_fraction("domain", lo), to_fraction("domain", hi)
    ranges = []
    if hi > 0:
        ranges.append((_first_at_least(max(lo, 0 * lo)), _first_at_least(hi)))
    if lo < 0:
        # Negative arguments with lo <= x < hi have magnitudes above -hi, up to -lo.
        after = _first_at_least(-hi) if hi <= 0 else 0
        if hi <= 0 and argument_of(after) == -hi:
            after += 1
        last = _first_at_least(-lo)
        last += int(last < INFINITY_BITS and argument_of(last) == -lo)
        ranges.append((SIGN_BIT | after, SIGN_BIT | last))
    ranges = [(first, end) for first, end in ranges if first < end]
    if not ranges:
        raise ValueError(f"domain: [{lo}, {hi}) contains no number of binary32")
    return ranges


def _first_at_least(x: Any) -> int:
    """Return the bits of the first number >= x, for x >= 0; those of infinity if there is none."""
    low, high = 0, INFINITY_BITS
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if argument_of(middle) >= x else (middle + 1, high)
    return low


@dataclass
class _Count:
    """Results so far, and how single arguments are judged by balls."""

    oracle: Oracle
    function: Callable[[float], float]
    environment: Environment
    modes: tuple[str, ...]
    most: int
    examples: list[tuple[str, float, float, float]] = field(default_factory=list)
    balls: int = 0
    not_judged: int = 0

    def __post_init__(self) -> None:
        self.wrong = [[0, 0] for _ in self.modes]

    def judge(self, bits: int) -> dict[str, tuple[float, float]] | None:
        """Return the returned and the correct value by mode, of an argument with a value."""
        x = float(argument_of(bits))
        try:
            judgement = judge(self.oracle, (x,), BINARY32, self.modes)
        except ValueError:  # a pole, or no value
            return None
        if judgement is None:
            return None
        self.kind = int(judgement.kind == "M")
        return {
            mode: (self.environment.call(self.function, (x,), mode)[0], judgement.values[mode])
            for mode in self.modes
        }

    def decide(self, bits: int) -> None:
        """Count an argument that float64 could not decide."""
        values = self.judge(bits) if self.balls < MOST_BALLS else None
        if values is None:
            self.not_judged += 1
            return
        self.balls += 1
        for m, (mode, (returned, right)) in enumerate(values.items()):
            if returned != right:
                self.wrong[m][self.kind] += 1
                self.add_example(mode, bits, returned, right)

    def add_example(self, mode: str, bits: int, returned: float, right: float) -> None:
        """Record a wrong result, if there is room."""
        if len(self.examples) < self.most:
            self.examples.append((mode, float(argument_of(bits)), returned, right))

    def confirm(self, m: int, bits: int) -> None:
        """Record a wrong result that float64 found, after balls have confirmed it."""
        if len(self.examples) >= self.most:
            return
        mode, values = self.modes[m], self.judge(bits)
        if values is None:  # no value: it should have returned NaN
            x = float(argument_of(bits))
            returned, _ = self.environment.call(self.function, (x,), mode)
            self.add_example(mode, bits, returned, float("nan"))
            return
        returned, right = values[mode]
        if returned == right:
            raise ArithmeticError(
                f"{self.oracle.name}({float(argument_of(bits)).hex()}), rounding {mode}: float64 "
                f"and balls disagree on {right.hex()}; this is a bug in tmd"
            )
        self.add_example(mode, bits, returned, right)


def _chunks(table: Table, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return segment, first bits and number of arguments of all chunks."""
    segments = table.segments
    sizes = segments["count"].astype(np.int64)
    numbers = np.where(segments["rule"] == NOT_JUDGED, 0, -(-sizes // size))
    ids = np.repeat(np.arange(segments.size), numbers)
    position = np.arange(ids.size) - np.repeat(np.cumsum(numbers) - numbers, numbers)
    starts = segments["start"][ids].astype(np.int64) + position * size
    counts = np.minimum(size, sizes[ids] - position * size)
    return ids, starts.astype(np.uint32), counts


def _run(
    table: Table,
    count: _Count,
    environment: Environment,
    modes: tuple[str, ...],
    function: Any,
    progress: bool,
) -> None:
    """Compare all chunks, and let balls decide what the loops leave."""
    from tmd._exhaust import comparison_loops as loops

    ids, starts, counts = _chunks(table, loops.CHUNK)
    numbers = np.array([[environment.number(m), MODES.index(m)] for m in modes], np.int32)
    address = np.uint64(ctypes.cast(function, ctypes.c_void_p).value or 0)
    set_mode = np.uint64(environment.address)
    shared = table.phases, table.frequencies, table.quarters
    with loop_progress(count.oracle.name, enabled=progress):
        for begin, end in ranges(ids.size, first=64):
            for first in range(begin, end, CHUNKS_PER_CALL):
                part = slice(first, min(first + CHUNKS_PER_CALL, end))
                size = part.stop - first
                outcomes = np.zeros((size, 2 + 2 * len(modes)), np.int64)
                examples = np.zeros((size, loops.EXAMPLES, 2), np.int64)
                undecided = np.empty((size, loops.CHUNK), np.uint32)
                loops.compare(
                    table.segments, ids[part], starts[part], counts[part], shared, address,
                    set_mode, numbers, outcomes, examples, undecided,
                )  # fmt: skip
                totals = outcomes[:, 2:].sum(axis=0).reshape(-1, 2)
                for m, (near_number, near_middle) in enumerate(totals.tolist()):
                    count.wrong[m][0] += near_number
                    count.wrong[m][1] += near_middle
                for i in np.flatnonzero(outcomes[:, 0]):
                    for bits in undecided[i, : outcomes[i, 0]]:
                        count.decide(int(bits))
                with_examples = outcomes[:, 1] * (len(count.examples) < count.most)
                for i in np.flatnonzero(with_examples):
                    for m, bits in examples[i, : outcomes[i, 1]].tolist():
                        count.confirm(m, bits)


def correct_results(name: str | Function, bits: np.ndarray) -> np.ndarray:
    """Return the results in all modes of arguments of binary32, as float64 arithmetic finds them.

    `bits` are uint32; the result has a row for each with the columns of `MODES`, NaN where float64
    does not decide.
    """
    from tmd._exhaust import comparison_loops as loops

    f = load_function(name)
    binades = np.unique(bits >> np.uint32(23)).tolist()
    table = make_table(f, [(b << 23, (b + 1) << 23) for b in binades])
    ids = np.searchsorted(table.segments["start"], bits, side="right") - 1
    results = np.empty((bits.size, len(MODES)))
    shared = table.phases, table.frequencies, table.quarters
    loops.find_results(table.segments, ids, bits, shared, results)
    return results
