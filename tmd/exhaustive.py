"""Exhaustive tests of functions of binary32: every argument, in every rounding mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from hetero import validation
from hetero.arrays import Array
from hetero.cpu.interruptible import ranges
from hetero.devices import Device, resolve
from hetero.display.notebook import html_table
from hetero.display.progress_bar import loop_progress
from hetero.equality import equal_by_value
from tmd._exhaust import Loops, loops
from tmd._exhaust.chunks import Chunks, split_into_chunks
from tmd._exhaust.segments import (
    INFINITY_BITS,
    NOT_JUDGED,
    SIGN_BIT,
    Table,
    argument_of,
    make_table,
)
from tmd._exhaust.sources import ALL_HALVES, Source, make_source
from tmd._libraries.callables import BINARY16, BINARY32, LibraryPrecision
from tmd._libraries.environment import MODES, check_modes
from tmd._libraries.judging import Judgement, judge
from tmd._libraries.oracles import Oracle
from tmd.formats import to_interval
from tmd.functions import load_function
from tmd.functions.function import Function

CHUNKS_PER_CALL = {"cpu": 1 << 11, "cuda": 1 << 15}
"""Chunks of a call of the loops: 4 and 64 million arguments, by kind of device."""


CPU = Device("cpu")

ALL_ARGUMENTS = [(0, 1 << 31), (1 << 31, 1 << 32)]
"""The bits of all numbers of binary32, as ranges of one sign."""

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
        Wrong results by mode. Zeros of both signs are equal.
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
    library: str | Path | Callable[[Array], Array],
    *,
    symbol: str | None = None,
    domain: tuple | None = None,
    precision: str = "binary32",
    modes: str | Sequence[str] | None = None,
    examples: int = 100,
    progress: bool = False,
    device: Any = "cpu",
) -> ExhaustiveScore:
    """Compare a function of binary32 with correct rounding at every argument.

    Or one of binary16.

    Parameters
    ----------
    name : str or Function
        A function in `tmd.functions.NAMES`, or one of your own.
    library : str, Path, or callable (array) -> array
        A C library with `float f(float)` or `_Float16 f(_Float16)`; text without a slash is a name
        that the loader searches for, such as "libm.so.6". Or a function from float32 (or float16)
        arrays to arrays of the same shape and dtype: `numpy.exp`, or on a GPU `cupy.exp`.
    symbol : str, optional
        By default `name` with an "f", or with "f16".
    domain : (lo, hi), optional
        The arguments lo <= x < hi of binary32; by default all 2^32 numbers, or 2^16 of binary16.
    precision : {"binary32", "binary16"}
    modes : {"nearest", "up", "down", "zero", "all"}, or several
        Rounding modes, which fesetround sets in the threads that call; by default all, or of a
        function of arrays "nearest".
    examples : int
        Most wrong results to return.
    progress : bool
    device : device specification
        Where a function of arrays computes: it gets arrays of Numba there, and may return those of
        any library. C functions run on the CPU.

    Returns
    -------
    ExhaustiveScore

    Raises
    ------
    TypeError, ValueError
        The function is unknown; the library cannot be loaded or lacks the symbol; a function of
        arrays returns something else, or has other modes than "nearest" on a GPU; the domain is
        empty; or this machine has no fenv.h.

    Notes
    -----
    The correct results come from float64 arithmetic with bounds that balls prove, segment by
    segment (docs/packages/tmd.md); balls decide where these do not suffice, and every example.
    """
    f, device = load_function(name), resolve(device)
    is_array_function = callable(library)
    if modes is None:
        modes = "nearest" if is_array_function else "all"
    chosen = check_modes("modes", modes)
    if device.kind != "cpu" and chosen != ("nearest",):
        raise ValueError("modes: a GPU rounds to nearest: leave out modes")
    examples = validation.check_integer("examples", examples)
    validation.check_choice("precision", precision, ("binary32", "binary16"))
    numbers = BINARY16 if precision == "binary16" else BINARY32
    symbol = symbol if symbol is not None else f.name.rpartition(":")[2] + numbers.suffix
    with device.active():
        source = make_source(library, symbol, numbers, device, loops(device))
        if numbers is BINARY16:
            if domain is not None:
                raise ValueError(
                    "domain is for binary32; binary16 has 2^16 arguments: leave it out"
                )
            return _exhaust_halves(_Count(f, source, chosen, examples))
        table = make_table(f, _ranges_of(domain))
        return compare_all(f, source, table, chosen, examples, device, progress)


def compare_all(
    name: str | Function, source: Source, table: Table, modes: tuple[str, ...] = ("nearest",),
    examples: int = 100, device: Device = CPU, progress: bool = False,
) -> ExhaustiveScore:  # fmt: skip
    """Compare a function of binary32 at all arguments of a table, whose device is active."""
    count = _Count(load_function(name), source, modes, examples)
    _run(table, count, device, progress)
    sizes, judged = table.segments["count"].astype(np.int64), table.segments["rule"] != NOT_JUDGED
    count.not_judged += int(sizes[~judged].sum())
    return count.score(int(sizes.sum()))


def _exhaust_halves(count: _Count) -> ExhaustiveScore:
    """Compare a function of binary16; balls decide all arguments."""
    returned = {mode: count.source.evaluate_halves(mode).tolist() for mode in count.modes}
    for bits, x in enumerate(ALL_HALVES.tolist()):
        judgement = count.judge(x, BINARY16) if np.isfinite(x) else None
        count.add(x, judgement, {mode: results[bits] for mode, results in returned.items()})
    return count.score(ALL_HALVES.size)


def _ranges_of(domain: tuple | None) -> list[tuple[int, int]]:
    """Return the bits of the arguments of a domain, as ranges of one sign."""
    if domain is None:
        return ALL_ARGUMENTS
    lo, hi = to_interval("domain", domain)
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

    function: Function
    source: Source
    modes: tuple[str, ...]
    most: int
    examples: list[tuple[str, float, float, float]] = field(default_factory=list)
    balls: int = 0
    not_judged: int = 0

    def __post_init__(self) -> None:
        self.oracle = Oracle.of_function(self.function)
        self.wrong = [[0, 0] for _ in self.modes]

    def score(self, arguments: int) -> ExhaustiveScore:
        """Return the results of a function that was tried at some arguments."""
        kinds = {mode: (f, m) for mode, (f, m) in zip(self.modes, self.wrong, strict=True)}
        return ExhaustiveScore(
            self.source.library, self.source.symbol, arguments - self.not_judged,
            {mode: sum(pair) for mode, pair in kinds.items()}, kinds, self.examples, self.balls,
            self.not_judged,
        )  # fmt: skip

    def judge(self, x: float, precision: LibraryPrecision = BINARY32) -> Judgement | None:
        """Return what is right at an argument; None where it has no value, or balls cannot say."""
        try:
            return judge(self.oracle, (x,), precision, self.modes)
        except ValueError:  # a pole, or no value
            return None

    def decide(self, bits: int) -> None:
        """Count an argument that float64 could not decide."""
        x = float(argument_of(bits))
        judgement = self.judge(x) if self.balls < MOST_BALLS else None
        modes = self.modes if judgement else ()
        self.add(x, judgement, {mode: self.source.evaluate_one(x, mode) for mode in modes})

    def add(self, x: float, judgement: Judgement | None, returned: dict[str, float]) -> None:
        """Count an argument that balls decide, or that is not judged."""
        if judgement is None:
            self.not_judged += 1
            return
        self.balls += 1
        for pair, (mode, y) in zip(self.wrong, returned.items(), strict=True):
            if y != (right := judgement.values[mode]):
                pair[int(judgement.kind == "M")] += 1
                self.add_example(mode, x, y, right)

    def add_example(self, mode: str, x: float, returned: float, right: float) -> None:
        """Record a wrong result, if there is room."""
        if len(self.examples) < self.most:
            self.examples.append((mode, x, returned, right))

    def confirm(self, m: int, bits: int, returned: float) -> None:
        """Record a wrong result that float64 found, after balls have confirmed it."""
        if len(self.examples) >= self.most:
            return
        mode, x = self.modes[m], float(argument_of(bits))
        judgement = self.judge(x)
        right = judgement.values[mode] if judgement else float("nan")  # where there is no value
        if returned == right:
            raise ArithmeticError(
                f"{self.oracle.name}({x.hex()}), rounding {mode}: float64 "
                f"and balls disagree on {right.hex()}; this is a bug in tmd"
            )
        self.add_example(mode, x, returned, right)


def _run(table: Table, count: _Count, device: Device, progress: bool) -> None:
    """Compare all chunks, and let balls decide what the loops leave."""
    twin: Loops = loops(device)
    chunks, arrays = split_into_chunks(table), twin.upload(table)
    columns = np.array([MODES.index(mode) for mode in count.modes], np.int32)
    most = CHUNKS_PER_CALL[device.kind]
    with loop_progress(count.oracle.name, enabled=progress):
        for begin, end in ranges(chunks.starts.size, first=64):
            for first in range(begin, end, most):
                part = Chunks(*(array[first : min(first + most, end)] for array in chunks))
                returned = count.source.evaluate(part.starts, count.modes)
                judged = twin.judge_returned(arrays, part, returned, columns)
                for total, row in zip(count.wrong, judged.wrong.tolist(), strict=True):
                    total[0] += row[0]
                    total[1] += row[1]
                for bits in judged.undecided.tolist():
                    count.decide(bits)
                for m, bits, y in judged.examples.tolist():
                    count.confirm(int(m), int(bits), y)
