"""Check of the mathematical functions of this machine on hard cases."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from hetero import validation
from hetero.display.notebook import html_table
from hetero.equality import equal_by_value
from tmd._certificates.case_lists import parse_line, read_text
from tmd._libraries import callables
from tmd._libraries.environment import Environment, check_modes
from tmd._libraries.judging import Judgement, Point, judge
from tmd._libraries.list_formats import choose_format
from tmd._libraries.oracles import Oracle, find_oracle
from tmd._search.decisions import extra_precision
from tmd.errors import CertificateError
from tmd.functions.function import Function, working_precision


@equal_by_value
@dataclass(frozen=True, eq=False, repr=False)
class LibraryScore:
    """Results of one library on some arguments, under one rounding mode.

    Attributes
    ----------
    library : str
    tried : int
        Number of arguments.
    wrong : list of (argument, returned value, correct value)
        All are floats, also for functions of binary32; of two arguments, their tuple. Zeros of both
        signs are equal.
    mode : "nearest", "up", "down" or "zero"
    kinds : dict of (wrong, tried)
        Counts by what is near: "F" (a floating-point number), "M" (a midpoint), "exact" (the value
        is a floating-point number) and "range" (it overflows or lies below all numbers).
    flags : list of (argument, flags raised, correct flags)
        Calls that raised other exceptions, if flags were asked for. Results for which standards
        leave underflow to the machine are left out.
    """

    library: str
    tried: int
    wrong: list[tuple[Any, float, float]]
    mode: str = "nearest"
    kinds: dict[str, tuple[int, int]] = field(default_factory=dict)
    flags: list[tuple[Any, tuple[str, ...], tuple[str, ...]]] = field(default_factory=list)

    def __repr__(self) -> str:
        mode = "" if self.mode == "nearest" else f", rounding {self.mode}"
        return f"LibraryScore({self.library}{mode}: {len(self.wrong)} of {self.tried} wrong)"

    def _repr_html_(self) -> str:
        title = f"{self.library}, rounding {self.mode}: {len(self.wrong)} of {self.tried} wrong"
        rows = [(hex_of(x), returned.hex(), y.hex()) for x, returned, y in self.wrong[:20]]
        return html_table(title, rows, ("argument", "returned", "correct"))


def hex_of(x: Any) -> str:
    """Write one or two arguments as C's hexadecimal numbers."""
    return ", ".join(v.hex() for v in x) if isinstance(x, tuple) else str(x.hex())


def check_libraries(
    name: str | Function,
    arguments: Iterable[Any],
    libraries: Any = (),
    *,
    symbol: str | None = None,
    precision: int = 53,
    modes: str | Sequence[str] = "nearest",
    flags: bool = False,
    reference: str | Callable | None = None,
) -> list[LibraryScore]:
    """Compare Python's `math`, NumPy and other libraries with correct rounding.

    Parameters
    ----------
    name : str or Function
        A function in `tmd.functions.NAMES`, one of your own, "pow", "hypot" or "atan2"; with
        `reference` any name.
    arguments : iterable of float, or of pairs of floats
        For instance `[c.argument for c in result.cases.hardest(1000)]`. Fractions and integers are
        taken if they are numbers of the precision. -0 is tried as 0.
    libraries : iterable, or mapping of labels
        C libraries, ufuncs, ctypes functions with their types set, or callables from float to
        float. Text with a slash and Path objects are files, such as "./libm.so.6"; text without one
        is a name that the loader searches for, such as "libm.so.6".
    symbol : str, optional
        The name of the function in the C libraries: by default `name`, and with precision 24 `name`
        with an "f".
    precision : {53, 24}
        Binary digits: functions of binary64, double name(double), or of binary32, float
        namef(float). Python's `math` has none of binary32 and is left out then.
    modes : {"nearest", "up", "down", "zero", "all"}, or several
        Rounding modes. fesetround sets each around the call, in the thread that calls.
    flags : bool
        Whether to compare the exceptions overflow, underflow and inexact, too. ISO C does not
        require that functions raise inexact correctly.
    reference : callable (balls) -> ball, or "module:NAME", optional
        What decides the value instead of `name`: a function of one or two `flint.arb`, or of
        mpmath, whose results are trusted to 10 bits less than its precision.

    Returns
    -------
    list of LibraryScore
        One for each library and mode: Python's `math`, NumPy, and those in `libraries`. Equal
        labels are numbered: the second "exp" is "exp (2)".

    Raises
    ------
    TypeError, ValueError
        A library cannot be loaded, has changed since it was, or does not export the symbol itself;
        an argument is no number of the precision, or the function has no value there; balls cannot
        decide an argument; or there is no library.
    """
    numbers = _check_precision(precision)
    chosen = check_modes("modes", modes)
    oracle = find_oracle(name, reference)
    environment = Environment() if flags or chosen != ("nearest",) else None
    validation.require_iterable("arguments", arguments, "numbers")
    points = [_check_point(x, numbers) for x in arguments]
    arity = oracle.arity or (len(points[0]) if points else 1)
    labelled = _all_libraries(oracle.name, libraries, symbol, numbers, arity)
    for x in points:
        if len(x) != arity:
            raise ValueError(f"arguments: {oracle.name} takes {arity} numbers, got {x}")
    judged = []
    for x in points:
        judgement = judge(oracle, x, numbers, chosen)
        if judgement is None:
            raise ValueError(
                f"arguments: balls cannot decide {oracle.name} at {', '.join(map(repr, x))}, whose "
                "value may be a breakpoint: leave it out, or give a reference that is exact there"
            )
        judged.append((x, judgement))
    return [
        _score(label, call, judged, mode, environment, flags)
        for label, call in labelled
        for mode in chosen
    ]


def _all_libraries(
    name: str, libraries: Any, symbol: str | None, precision: callables.LibraryPrecision, arity: int
) -> list[callables.Library]:
    """Return the libraries of Python and those that are given, of which there must be one."""
    named = callables.load_libraries(libraries, name, symbol, precision, arity)
    labelled = callables.number_equal_labels(
        callables.libraries_of_python(name, precision, arity) + named
    )
    if not labelled:
        raise ValueError(f"libraries must name one: neither Python nor NumPy has {name!r}")
    return labelled


def _score(
    label: str,
    call: Callable[..., float],
    judged: list[tuple[Point, Judgement]],
    mode: str,
    environment: Environment | None,
    flags: bool,
) -> LibraryScore:
    """Call a library at all arguments under one rounding mode."""
    wrong, other_flags = [], []
    kinds: dict[str, list[int]] = {}
    for x, judgement in judged:
        raised: frozenset[str] = frozenset()
        if environment is None:
            returned = call(*x)
        else:
            returned, raised = environment.call(call, x, mode)
        y = judgement.values[mode]
        counts = kinds.setdefault(judgement.kind, [0, 0])
        counts[1] += 1
        argument = x[0] if len(x) == 1 else x
        if returned != y:
            counts[0] += 1
            wrong.append((argument, returned, y))
        if flags and judgement.has_flags and raised != {*judgement.flags}:
            other_flags.append((argument, tuple(sorted(raised)), judgement.flags))
    summary = {kind: (bad, tried) for kind, (bad, tried) in sorted(kinds.items())}
    return LibraryScore(label, len(judged), wrong, mode, summary, other_flags)


_SPECIAL = re.compile(r"[+-]?([sq]?nan(\(.*\))?|inf(inity)?)", re.IGNORECASE)
_REMARK = re.compile(r"[A-Za-z_]\w*")


def read_arguments(
    path: str | Path, name: str, precision: int = 53, reference: str | Callable | None = None,
    form: str | None = None,
) -> tuple[list[Any], dict[str, int]]:  # fmt: skip
    """Read a list of arguments for `check_libraries`, as CORE-MATH, LLVM-libc or glibc write it.

    A line of CORE-MATH is a number, perhaps with a comma and a remark after it
    ("0x1p+10, ERANGE"), or with its kind and its identical bits; or two numbers with a comma
    between them, for a function of two arguments. `#` begins a comment. Of LLVM-libc's tests all
    arrays of numbers, or of the bits of numbers, are taken. Of glibc's auto-libm-test-in those
    lines that begin with the function; numbers that the precision does not have stand for their
    two neighbours there. Of its auto-libm-test-out the inputs to nearest are taken.

    Parameters
    ----------
    path : str or Path
    name, reference
        As in `check_libraries`.
    precision : {53, 24}
    form : {"core-math", "llvm", "glibc"}, optional
        The format; by default the one that the text looks like.

    Returns
    -------
    arguments : list of Fraction, or of pairs
    skipped : dict of int
        Lines that say nothing about rounding, counted by the reason: NaN or infinity, numbers that
        the precision does not have, and those at which the function has no value.

    Raises
    ------
    CertificateError
        The file cannot be read, or it, or a line, is none of the above.
    """
    oracle, numbers = find_oracle(name, reference), _check_precision(precision)
    content = read_text(path)
    chosen = choose_format(form, str(path), content)
    skipped: Counter[str] = Counter()
    arguments: list[Any] = []
    lines = chosen.read(content, oracle.name, oracle.arity, numbers)
    for line, text in _name_file(lines, path):
        source = f"line {line} of {path}"
        number, _, remainder = text.partition(",")
        is_remark = oracle.arity != 2 and _REMARK.fullmatch(remainder.strip())
        others = remainder.split(",") if remainder and not is_remark else []
        if oracle.arity not in (None, len(others) + 1):
            expected = "two arguments" if oracle.arity == 2 else "one argument"
            raise CertificateError(f"{source} must be {expected}: {text.strip()!r}")
        if any(_SPECIAL.fullmatch(part.strip()) for part in (number, *others)):
            skipped["NaN or infinity"] += 1
            continue
        point = tuple(parse_line(source, part).argument for part in (number, *others))
        if not all(_is_number_of(x, numbers) for x in point):
            skipped[f"no number of {numbers.name}"] += 1
        elif not _has_value(oracle, point):
            skipped[f"{name} has no value there"] += 1
        else:
            arguments.append(point if others else point[0])
    return arguments, dict(skipped)


def _name_file(lines: Iterator[tuple[int, str]], path: str | Path) -> Iterator[tuple[int, str]]:
    """Yield lines, and name their file in the error that reading them may raise."""
    try:
        yield from lines
    except CertificateError as error:
        raise CertificateError(f"{path}: {error}") from None


def _has_value(oracle: Oracle, point: tuple[Fraction, ...]) -> bool:
    """Return whether a function has a value at a point, by balls."""
    with working_precision(64 + sum(map(extra_precision, point))):
        return bool(oracle.enclose(point).is_finite())


def require_libraries(
    name: str,
    libraries: Any,
    symbol: str | None,
    precision: int,
    modes: Any = "nearest",
    reference: str | None = None,
) -> None:
    """Raise what `check_libraries` would raise about these, before a long search."""
    check_modes("modes", modes)
    oracle, numbers = find_oracle(name, reference), _check_precision(precision)
    _all_libraries(oracle.name, libraries, symbol, numbers, oracle.arity or 1)


def _check_precision(precision: int) -> callables.LibraryPrecision:
    digits = validation.check_integer("precision", precision)
    if digits not in callables.PRECISIONS:
        raise ValueError(f"precision must be 53 or 24, got {validation.describe(precision)}")
    return callables.PRECISIONS[digits]


def _check_point(x: Any, precision: callables.LibraryPrecision) -> Point:
    """Return one argument, or a pair, as floats, if they are numbers of the precision."""
    numbers = x if isinstance(x, tuple | list) else (x,)
    for number in numbers:
        if not _is_number_of(validation.python_number("arguments", number), precision):
            validation.check_finite("arguments", number)
            raise ValueError(
                f"arguments must be numbers of {precision.name}, got {validation.describe(number)}"
            )
    # Adding 0 makes -0 a 0: balls do not know it, and atan2(-0, -1) is another value.
    return tuple(validation.check_finite("arguments", number) + 0.0 for number in numbers)


def _is_number_of(x: Any, precision: callables.LibraryPrecision) -> bool:
    """Return whether a finite number of Python is one of the precision."""
    try:
        with np.errstate(over="ignore"):
            return bool(float(precision.numpy(float(x))) == x)
    except (OverflowError, TypeError, ValueError):  # beyond binary64, or no number
        return False
