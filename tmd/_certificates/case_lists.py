"""Lists of cases, and the check that a list has exactly the cases that certificates certify."""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from hetero import validation
from tmd._search.cases import COLUMNS, BlockCases
from tmd._search.decisions import decide_by_balls, measure_distance
from tmd._search.planning import Plan
from tmd.errors import CertificateError
from tmd.formats import Format, format_fraction, to_fraction
from tmd.functions.function import Function

KINDS = ("F", "M")
EXACT = "exact"
"""Stands for the identical bits of a value that is the breakpoint itself."""

_CERTIFICATE = re.compile(r"certificate ([0-9a-f]{32})\b")
UNDECIDED_PREFIX = "# undecided "
"""Begins a line with an argument that balls could not decide; other readers see a comment."""


@dataclass(frozen=True)
class ListedCase:
    """One line of a list.

    Attributes
    ----------
    source : str
        File and line, for messages.
    argument : Fraction
    kind : "F", "M" or None
        None if the list does not say.
    bits : str or None
        Identical bits as text; None if the list does not say.
    undecided : bool
        Whether it is listed as undecided rather than as a case.
    """

    source: str
    argument: Fraction
    kind: str | None = None
    bits: str | None = None
    undecided: bool = False

    @property
    def text(self) -> str:
        """The argument as messages show it."""
        return format_fraction(self.argument)


@dataclass(frozen=True)
class CaseList:
    """Cases, and the hashes of the certificates that comments in the list mention."""

    cases: list[ListedCase]
    certificates: tuple[str, ...] = ()

    def require_certificates(self, names: Sequence[str]) -> None:
        """Raise CertificateError if the list mentions a certificate that is none of these."""
        if other := [name for name in self.certificates if name not in names]:
            raise CertificateError(
                f"the list belongs to the certificate {other[0]}, which is not the given one"
            )


def read_cases(path: str | Path) -> CaseList:
    """Read a list of cases from a `.wc` file or a record of the campaign.

    Each line holds an argument, followed in records by its kind and its identical bits; `#` begins
    a comment.

    Raises
    ------
    CertificateError
        The file cannot be read, or a line does not have this form.
    """
    cases, names = [], []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        source = f"line {number} of {path}"
        if line.startswith(UNDECIDED_PREFIX):
            cases.append(parse_line(source, line.removeprefix(UNDECIDED_PREFIX), undecided=True))
            continue
        text, _, comment = line.partition("#")
        names += _CERTIFICATE.findall(comment)
        if text.strip():
            cases.append(parse_line(source, text))
    return CaseList(cases, tuple(names))


def read_text(path: str | Path) -> str:
    """Return the text of a list, without the mark with which editors of Windows begin it."""
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except (OSError, ValueError, TypeError) as error:
        raise CertificateError(f"list {str(path)!r} cannot be read: {error}") from None


def parse_line(source: str, text: str, undecided: bool = False) -> ListedCase:
    """Parse a line without its comment: argument, kind and identical bits."""
    argument, *columns = text.split()
    kind, bits = [*columns, None, None][:2]
    try:
        x = to_fraction("argument", argument)
    except ValueError:
        raise CertificateError(f"{source} does not begin with a number: {argument!r}") from None
    valid_bits = bits is None or bits == EXACT or bits.isdecimal()
    if len(columns) > 2 or kind not in (*KINDS, None) or not valid_bits:
        raise CertificateError(f"{source} must be an argument, F or M, and bits: {text.strip()!r}")
    return ListedCase(source, x, kind, bits, undecided)


def load_cases(cases: CaseList | str | Path | Iterable) -> CaseList:
    """Return a list of cases from a path, or from an iterable of `tmd.Case` or of numbers."""
    if isinstance(cases, CaseList):
        return cases
    if isinstance(cases, str | Path):
        return read_cases(cases)
    validation.require_iterable("cases", cases, "cases, or a path")
    loaded = []
    for number, case in enumerate(cases):
        x = getattr(case, "exact_argument", None)
        x = to_fraction("cases", case) if x is None else x
        loaded.append(ListedCase(f"case {number}", x, getattr(case, "kind", None)))
    return CaseList(loaded)


@dataclass(frozen=True)
class CertifiedBlocks:
    """The blocks of one certificate, by growing magnitude of their arguments.

    Attributes
    ----------
    function : Function
    domain : (lo, hi)
    format : Format
    plans : sequence of Plan
    records : sequence of lists
        Of each block, with the values of `COLUMNS`.
    name : str
        Hash of the certificate.
    """

    function: Function
    domain: tuple[Fraction, Fraction]
    format: Format
    plans: Sequence[Plan]
    records: Sequence[list]
    name: str

    @property
    def count(self) -> int:
        """The number of blocks."""
        return len(self.plans)

    def locate(self, x: Fraction, starts: list[Fraction]) -> tuple[int, int] | None:
        """Return the block of an argument and its number there; None if no block contains it.

        `starts` are the magnitudes of the first arguments of the blocks, positive ones first.
        """
        positive = sum(plan.block.run.sign > 0 for plan in self.plans)
        first, end = (0, positive) if x > 0 else (positive, len(starts))
        block = bisect.bisect_right(starts, abs(x), first, end) - 1
        if block < first:
            return None
        run = self.plans[block].block.run
        number = abs(x) / Fraction(2) ** run.quantum - run.first
        if x * run.sign < 0 or number.denominator != 1 or number >= run.count:
            return None
        return block, int(number)


def check_cases(certified: Sequence[CertifiedBlocks], cases: CaseList) -> int:
    """Check that a list has all certified cases and no others; return their number.

    Each listed argument is decided by balls, so the list needs no kinds. The hash of each block
    then shows whether any case is missing.

    Raises
    ------
    CertificateError
        The list belongs to another certificate; an argument is not a case, is listed twice or lies
        outside the certified domains; or the cases of a block differ from those listed.
    """
    cases.require_certificates([c.name for c in certified])
    certified = _sort_by_domain(certified)
    lows = [c.domain[0] for c in certified]
    parts: list[list[ListedCase]] = [[] for _ in certified]
    for case in cases.cases:
        i = bisect.bisect_right(lows, case.argument) - 1
        if i < 0 or not case.argument < certified[i].domain[1]:
            raise CertificateError(f"{case.source}: {case.text} is outside the certified domain")
        parts[i].append(case)
    for blocks, part in zip(certified, parts, strict=True):
        _check_domain(blocks, part)
    return len(cases.cases)


def _sort_by_domain(certified: Sequence[CertifiedBlocks]) -> list[CertifiedBlocks]:
    """Sort certificates by domain; they must belong to one function and disjoint domains."""
    ordered = sorted(certified, key=lambda c: c.domain)
    for one, other in itertools.pairwise(ordered):
        if one.function.name != other.function.name or one.domain[1] > other.domain[0]:
            raise CertificateError(
                "a list can be checked against several certificates only if they belong to one "
                "function and to disjoint domains, which does not hold for "
                f"{_describe(one)} and {_describe(other)}"
            )
    return ordered


def _describe(blocks: CertifiedBlocks) -> str:
    """Return function and domain for a message."""
    return f"{blocks.function.name} on [{', '.join(map(format_fraction, blocks.domain))})"


def _check_domain(blocks: CertifiedBlocks, cases: list[ListedCase]) -> None:
    """Compare the cases that are listed for one certificate with its counts and hashes."""
    starts = [abs(p.block.run.argument(0)) for p in blocks.plans]
    members: list[dict[int, tuple]] = [{} for _ in blocks.plans]
    for case in cases:
        location = blocks.locate(case.argument, starts)
        if location is None:
            raise CertificateError(f"{case.source}: {case.text} is not an argument of the search")
        block, number = location
        if number in members[block]:
            raise CertificateError(f"{case.source}: {case.text} is listed twice")
        members[block][number] = case.undecided, _decide_kind(blocks, block, number, case)
    for number, (plan, inside) in enumerate(zip(blocks.plans, members, strict=True)):
        listed = _to_block_cases(inside)
        record = blocks.records[number]
        count, digest = record[COLUMNS.index("cases")], record[-1]
        if (listed.index.size, listed.hash) != (count, digest):
            first = format_fraction(plan.block.run.argument(0))
            raise CertificateError(
                f"the list has {listed.index.size} cases of block {number} (from {first}), but "
                f"{'others' if listed.index.size == count else count} are certified"
            )


def _decide_kind(blocks: CertifiedBlocks, block: int, number: int, case: ListedCase) -> bool | None:
    """Return whether a listed case is near a midpoint, or None if balls cannot decide it."""
    plan = blocks.plans[block]
    verdict = decide_by_balls(blocks.function, plan, number)
    if case.undecided != (verdict is None):
        verb = "can be" if case.undecided else "cannot be"
        raise CertificateError(f"{case.source}: {case.text} {verb} decided")
    if verdict is None:
        return None
    is_case, middle, _ = verdict
    if not is_case:
        raise CertificateError(
            f"{case.source}: {case.text} is not a case: its value is at least 2^-{plan.bits} ulp "
            "from all breakpoints"
        )
    if case.kind not in (None, KINDS[middle]):
        raise CertificateError(f"{case.source}: {case.text} is of kind {KINDS[middle]}")
    if case.bits is not None:
        _, bits = measure_distance(blocks.function, blocks.format, case.argument, middle)
        if case.bits != (EXACT if bits is None else str(bits)):
            raise CertificateError(f"{case.source}: {case.text} has {bits} identical bits")
    return middle


def _to_block_cases(members: dict[int, tuple]) -> BlockCases:
    """Return the listed cases of a block in the form in which a search finds them, for the hash.

    `members` maps the numbers of arguments to (undecided, middle).
    """
    numbers = sorted(n for n, (undecided, _) in members.items() if not undecided)
    middle = np.array([members[n][1] for n in numbers], bool)
    index, zeros = np.array(numbers, np.uint64), np.zeros(len(numbers), np.int64)
    undecided = sorted(n for n, (is_undecided, _) in members.items() if is_undecided)
    return BlockCases(index, middle, zeros, zeros, undecided=undecided)
