"""Lists of cases in files, and the check that a list holds exactly what certificates certify."""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from tmd.decide import Found, decided, measure
from tmd.errors import CertificateError
from tmd.formats import Format, exact, shown
from tmd.functions import Function
from tmd.plan import Plan

KINDS = ("F", "M")
EXACT = "exact"
_CERTIFICATE = re.compile(r"certificate ([0-9a-f]{32})\b")
UNDECIDED = "# undecided "
"""Beginning of a line with an argument that balls could not decide. It is a comment to others."""


@dataclass(frozen=True)
class ListedCase:
    """One line of a list.

    Attributes
    ----------
    source : file and line, for messages
    argument : Fraction
    kind : "F", "M" or None where the list does not say
    bits : identical bits as text, or None where the list does not say
    undecided : whether it is listed as undecided rather than as a case
    """

    source: str
    argument: Fraction
    kind: str | None = None
    bits: str | None = None
    undecided: bool = False


@dataclass(frozen=True)
class CaseList:
    """Cases, and the hashes of the certificates that the comments of the list name."""

    cases: list[ListedCase]
    certificates: tuple[str, ...] = ()


def read_cases(path) -> CaseList:
    """Read a list of cases: a `.wc` file, or the record of the campaign.

    Each line holds an argument, and in the record its kind and its identical bits; `#` begins a
    comment.

    Raises
    ------
    CertificateError
        The file cannot be read, or a line is no case.
    """
    try:
        lines = Path(path).read_text().splitlines()
    except (OSError, ValueError, TypeError) as error:
        raise CertificateError(f"list {str(path)!r} cannot be read: {error}") from None
    cases, names = [], []
    for number, line in enumerate(lines, 1):
        source = f"line {number} of {path}"
        if line.startswith(UNDECIDED):
            cases.append(_parse(source, line.removeprefix(UNDECIDED), undecided=True))
            continue
        text, _, comment = line.partition("#")
        names += _CERTIFICATE.findall(comment)
        if text.strip():
            cases.append(_parse(source, text))
    return CaseList(cases, tuple(names))


def _parse(source: str, text: str, undecided: bool = False) -> ListedCase:
    argument, *columns = text.split()
    kind, bits = [*columns, None, None][:2]
    try:
        x = exact("argument", argument)
    except ValueError:
        raise CertificateError(f"{source} holds no number: {argument!r}") from None
    right_bits = bits is None or bits == EXACT or bits.isdecimal()
    if len(columns) > 2 or kind not in (*KINDS, None) or not right_bits:
        raise CertificateError(f"{source} must be an argument, F or M, and bits: {text.strip()!r}")
    return ListedCase(source, x, kind, bits, undecided)


def load_cases(cases) -> CaseList:
    """Take a path, or an iterable of `tmd.Case` or of numbers, as a list of cases."""
    if isinstance(cases, CaseList):
        return cases
    if isinstance(cases, str | Path):
        return read_cases(cases)
    if not isinstance(cases, Iterable):
        raise TypeError(f"cases must be a path or an iterable of cases, got {cases!r}")
    loaded = []
    for number, case in enumerate(cases):
        x = getattr(case, "exact_argument", None)
        x = exact("cases", case) if x is None else x
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
    plans : of the blocks
    counts, hashes : number of cases, and hash, of each block
    name : hash of the certificate
    """

    function: Function
    domain: tuple[Fraction, Fraction]
    format: Format
    plans: Sequence[Plan]
    counts: Sequence[int]
    hashes: Sequence[str]
    name: str

    def locate(self, x: Fraction, starts: list[Fraction]) -> tuple[int, int] | None:
        """Find the block of an argument and its number there; None if it has no block."""
        block = bisect.bisect_right(starts, abs(x)) - 1
        if block < 0:
            return None
        run = self.plans[block].block.run
        number = abs(x) / Fraction(2) ** run.quantum - run.first
        if x * run.sign < 0 or number.denominator != 1 or number >= run.count:
            return None
        return block, int(number)


def check_cases(certified: Sequence[CertifiedBlocks], cases: CaseList) -> int:
    """Check that a list holds all certified cases and no others; return how many.

    Each listed argument is decided by balls, so the list needs no kinds: with these, the hash of
    each block tells whether anything is missing.

    Raises
    ------
    CertificateError
        The list belongs to another certificate; an argument is no case, is listed twice or lies
        outside the certified domains; a block has other cases than are listed.
    """
    known = {c.name for c in certified}
    if other := [name for name in cases.certificates if name not in known]:
        raise CertificateError(
            f"the list names the certificate {other[0]}, which is not the one to check against"
        )
    certified = _ordered(certified)
    lows = [c.domain[0] for c in certified]
    parts: list[list[ListedCase]] = [[] for _ in certified]
    for case in cases.cases:
        i = bisect.bisect_right(lows, case.argument) - 1
        if i < 0 or not case.argument < certified[i].domain[1]:
            raise CertificateError(
                f"{case.source}: {_show(case)} is outside of the certified domain"
            )
        parts[i].append(case)
    for blocks, part in zip(certified, parts, strict=True):
        _check_domain(blocks, part)
    return len(cases.cases)


def _ordered(certified: Sequence[CertifiedBlocks]) -> list[CertifiedBlocks]:
    """Sort certificates by domain; they must be of one function, and their domains disjoint."""
    ordered = sorted(certified, key=lambda c: c.domain)
    for one, other in itertools.pairwise(ordered):
        if one.function.name != other.function.name or one.domain[1] > other.domain[0]:
            raise CertificateError(
                "a list can be checked against several certificates only if these are of one "
                f"function and of separate domains; {_interval(one)} and {_interval(other)} are not"
            )
    return ordered


def _interval(blocks: CertifiedBlocks) -> str:
    return f"{blocks.function.name} on [{', '.join(map(shown, blocks.domain))})"


def _show(case: ListedCase) -> str:
    return shown(case.argument)


def _check_domain(blocks: CertifiedBlocks, cases: list[ListedCase]) -> None:
    """Compare the cases that are listed for one certificate with its counts and hashes."""
    starts = [abs(p.block.run.argument(0)) for p in blocks.plans]
    members: list[dict[int, tuple]] = [{} for _ in blocks.plans]
    for case in cases:
        location = blocks.locate(case.argument, starts)
        if location is None:
            raise CertificateError(f"{case.source}: {_show(case)} is no argument of the search")
        block, number = location
        if number in members[block]:
            raise CertificateError(f"{case.source}: {_show(case)} is listed twice")
        members[block][number] = case.undecided, _kind(blocks, block, number, case)
    for number, (plan, inside) in enumerate(zip(blocks.plans, members, strict=True)):
        listed = _block_cases(inside)
        count, digest = blocks.counts[number], blocks.hashes[number]
        if (listed.index.size, listed.hash) != (count, digest):
            first = shown(plan.block.run.argument(0))
            raise CertificateError(
                f"the list holds {listed.index.size} cases of block {number} (from {first}), "
                f"certified are {count}" + (", and others" if listed.index.size == count else "")
            )


def _kind(blocks: CertifiedBlocks, block: int, number: int, case: ListedCase) -> bool | None:
    """Decide a listed case: whether it is near a midpoint, None if balls cannot decide it."""
    plan = blocks.plans[block]
    verdict = decided(blocks.function, plan, number)
    if case.undecided != (verdict is None):
        word = "is" if case.undecided else "cannot be"
        raise CertificateError(f"{case.source}: {_show(case)} {word} decided")
    if verdict is None:
        return None
    near, middle, _ = verdict
    if not near:
        raise CertificateError(
            f"{case.source}: {_show(case)} is no case: its value is 2^-{plan.bits} ulp or more "
            "from all breakpoints"
        )
    if case.kind not in (None, KINDS[middle]):
        raise CertificateError(f"{case.source}: {_show(case)} is of kind {KINDS[middle]}")
    if case.bits is not None:
        _, bits = measure(blocks.function, blocks.format, case.argument, middle)
        if case.bits != (EXACT if bits is None else str(bits)):
            raise CertificateError(f"{case.source}: {_show(case)} has {bits} identical bits")
    return middle


def _block_cases(members: dict[int, tuple]) -> Found:
    """Turn numbers and kinds of a block into what a search finds there, for its hash."""
    numbers = sorted(n for n, (undecided, _) in members.items() if not undecided)
    middle = np.array([members[n][1] for n in numbers], bool)
    index, nothing = np.array(numbers, np.uint64), np.zeros(len(numbers), np.int64)
    undecided = sorted(n for n, (is_undecided, _) in members.items() if is_undecided)
    return Found(index, middle, nothing, nothing, undecided=undecided)
