"""Contents of a certificate of a periodic search: its windows, the cases, and how parts join."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hetero.measurement.environment import versions
from tmd._search.cases import hash_json
from tmd.errors import CertificateError
from tmd.formats import format_fraction, to_fraction

KIND, VERSION = "tmd-periodic-certificate", 1
DEFINITION = (
    "The arguments are the numbers x of `precision` digits with 2^exponent <= x < 2^(exponent+1) "
    "and lo <= x/pi - floor(x/pi) < hi, where phases is [lo, hi]. A case is an argument with "
    "|f(x)| 2^-w closer than 2^-bits to an integer (kind F: near a floating-point number) or to "
    "half an odd integer (kind M: near a midpoint), where 2^w is the ulp of |f(x)|. rounding 'all' "
    "takes both kinds, 'directed' F, 'nearest' M. A row of `rows` is a number of groups that "
    "follow each other from the phase `begin` on, each of 2 windows + 1 windows with the phases "
    "c - half_width to c + half_width; for each of `ulps` (log2) it was searched for all x with "
    "|g(c) + g'(c) t + g''(c) half_width^2 / 4 - j| <= slab (one of `slabs`) for an integer j, "
    "where c + t is the phase, g the function |f| of the phase in units of half an ulp, or of an "
    "ulp if one kind is taken. Balls decided all arguments in `points`, intervals of phases."
)
COLUMNS = ("begin", "groups", "half_width", "windows", "ulps", "slabs")
COUNTS = ("windows", "candidates", "decided")


@dataclass
class Row:
    """Groups of windows that follow each other; the fields are the columns of a certificate.

    `slabs` are the lowest of theirs for each ulp; a certificate does not have `highest_slabs`.
    """

    begin: Fraction
    groups: int
    half_width: Fraction
    windows: int
    ulps: tuple[int, ...]
    slabs: tuple[float, ...]
    highest_slabs: tuple[float, ...] = ()

    @property
    def length(self) -> Fraction:
        """Length of the phases of a group."""
        return 2 * (2 * self.windows + 1) * self.half_width

    @property
    def end(self) -> Fraction:
        """The phase at which the last window ends."""
        return self.begin + self.groups * self.length

    @property
    def record(self) -> list:
        """The row in a certificate."""
        begin, half_width = format_fraction(self.begin), format_fraction(self.half_width)
        sizes = self.groups, half_width, self.windows
        return [begin, *sizes, list(self.ulps), list(self.slabs)]

    @classmethod
    def read(cls, record: Any) -> Row:
        """Return the row that a certificate has; raise ValueError if it is none."""
        begin, groups, half_width, windows, ulps, slabs = record
        row = cls(to_fraction("begin", begin), groups, to_fraction("half_width", half_width),
                  windows, tuple(ulps), tuple(slabs))  # fmt: skip
        is_valid = (
            type(groups) is int and groups > 0 and type(windows) is int and windows >= 0
            and row.half_width > 0 and all(type(ulp) is int for ulp in ulps) and ulps
            and len(slabs) == len(ulps) and all(type(x) is float for x in slabs)
            and all(0 < x < math.inf for x in slabs) and row.record == record
        )  # fmt: skip
        if not is_valid:
            raise ValueError(f"no row of groups: {record!r}")
        return row


def make_certificate(
    question: dict[str, Any],
    counts: Sequence[int],
    cases: Sequence[tuple[str, str]],
    rows: Sequence[Row],
    points: Sequence[tuple[Fraction, Fraction]],
) -> dict:
    """Assemble the certificate of a periodic search.

    `counts` has the values of `COUNTS`; `cases` are arguments in C's notation and their kinds.
    """
    return _assemble(
        question
        | dict(zip(COUNTS, counts, strict=True))
        | {
            "cases": [list(case) for case in cases],
            "versions": [dict(versions())],
            "points": [[format_fraction(end) for end in ends] for ends in points],
            "rows": [row.record for row in rows],
        }
    )


def _assemble(content: dict[str, Any]) -> dict:
    fixed = {"kind": KIND, "version": VERSION, "definition": DEFINITION, "columns": list(COLUMNS)}
    body = fixed | content
    return body | {"hash": hash_json(body)}


def list_cases(certificate: dict) -> Iterator[str]:
    """Yield the cases of a certificate as lines of a CORE-MATH `.wc` file, after some comments."""
    e, (lo, hi), cases = certificate["exponent"], certificate["phases"], certificate["cases"]
    yield f"# {certificate['function']}: {len(cases)} arguments (k + t) pi of 2^{e} to 2^{e + 1}"
    yield f"# with t in [{lo}, {hi}), closer than 2^-{certificate['bits']} ulp;"
    yield f"# certificate {certificate['hash']}"
    for x, _ in cases:
        yield x


def join_certificates(certificates: Sequence[dict]) -> dict:
    """Join the certificates of phases that follow each other to one.

    Raises
    ------
    CertificateError
        They belong to different questions, or their phases do not follow each other.
    """
    ordered = sorted(certificates, key=lambda c: to_fraction("phases", c["phases"][0]))
    first = ordered[0]
    same = ("function", "exponent", "bits", "precision", "rounding", "definition", "version")
    end = first["phases"][0]
    for c in ordered:
        if c["phases"][0] != end or any(c[key] != first[key] for key in same):
            raise CertificateError(
                f"the certificate of {c['function']} for 2^{c['exponent']} from the phase "
                f"{c['phases'][0]} does not continue the one that ends at {end}"
            )
        end = c["phases"][1]
    body = {key: first[key] for key in same} | {"phases": [first["phases"][0], end]}
    for key in COUNTS:
        body[key] = sum(c[key] for c in ordered)
    for key in ("points", "rows"):
        body[key] = [record for c in ordered for record in c[key]]
    cases = [case for c in ordered for case in c["cases"]]
    body["cases"] = sorted(cases, key=lambda case: to_fraction("cases", case[0]))
    distinct = {hash_json(v): v for c in ordered for v in c["versions"]}
    body["versions"] = [distinct[key] for key in sorted(distinct)]
    return _assemble(body)
