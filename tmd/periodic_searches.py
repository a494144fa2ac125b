"""The public function that searches periodic functions of large arguments."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from hetero import validation
from hetero.data_files.atomic_files import write_lines
from hetero.devices import Device, resolve
from hetero.display.progress_bar import open_bar
from tmd._certificates.periodic_records import list_cases, make_certificate
from tmd._periodic.question import PeriodicQuestion, check_question
from tmd._periodic.searching import decide, is_asked, search_windows
from tmd.formats import Format, Precision
from tmd.results import Case

LOGGER = logging.getLogger(__name__)

BREAK_EVEN = 1 << 50
"""Number of arguments from which the GPU is chosen (an estimate: it was not measured)."""


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
    certificate : dict
        What was searched and found, for `tmd.verify` and `tmd/checker.py`; `json.dump` writes it.
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
    certificate: dict

    @property
    def hardness(self) -> int:
        """Smallest m such that all values are at least 2^-m ulp away from every breakpoint.

        It is `bits` if there is no case.
        """
        identical = [case.identical_bits for case in self.cases]
        return max((bits + 2 for bits in identical if bits is not None), default=self.bits)

    def lines(self) -> Iterator[str]:
        """Return the arguments as lines of a CORE-MATH `.wc` file, after some comments."""
        return list_cases(self.certificate)

    def write(self, path: str | Path) -> Path:
        """Write `lines` to a file, which is complete or unchanged, and return its path."""
        path = validation.check_path("path", path)
        write_lines(path, self.lines())
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
    """
    question = check_question(name, exponent, phases, bits, precision, rounding)
    return search_question(question, progress, device)


def search_question(
    question: PeriodicQuestion,
    progress: bool,
    device: str | Device | None,
    is_due: Callable[[], bool] = lambda: False,
) -> PeriodicResult:
    """Search what `check_question` returned, or its first phases until `is_due` returns True.

    The phases of the result say how far the search came. It goes on for a second or so.
    """
    lattice, (lo, hi) = question.lattice, question.phases
    name, exponent = question.function.name, question.exponent
    chosen = resolve(device, work=int(lattice.first * (hi - lo)), break_even=BREAK_EVEN)
    LOGGER.info("%s: arguments of 2^%d, phases [%s, %s), on %s", name, exponent, lo, hi, chosen)
    with chosen.active(), open_bar(name, float(hi - lo), enabled=progress) as advance:
        findings = search_windows(question, chosen, advance, is_due)
    question = replace(question, phases=(lo, findings.reached))
    inside = sorted(m for m in findings.numbers if is_asked(question, m))
    unit = Fraction(2) ** lattice.quantum
    cases = [
        Case(name, question.format, m * unit, kind) for m in inside for kind in decide(question, m)
    ]
    counts = findings.windows, findings.candidates, len(inside)
    listed = [(case.hex, case.kind) for case in cases]
    certificate = make_certificate(question.names, counts, listed, findings.rows, findings.points)
    return PeriodicResult(
        name, exponent, question.phases, question.bits, question.rounding, question.format, cases,
        *counts, certificate,
    )  # fmt: skip
