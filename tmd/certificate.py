"""Certificates: what was searched, how, and what every block gave; and their check."""

from __future__ import annotations

import hashlib
import json
import lzma
import random
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from hetero import errors
from hetero.devices import resolve
from hetero.environment import versions
from tmd._scan_math import Shape
from tmd._tests_math import ALGORITHMS, DIVISIONS
from tmd.blocks import Block, blocks
from tmd.case_lists import CertifiedBlocks, check_cases, load_cases
from tmd.decide import Found, contradiction
from tmd.engine import scan
from tmd.errors import CertificateError
from tmd.formats import Format, exact, shown
from tmd.functions import NAMES, Function, function
from tmd.plan import MOST_BALLS, MOST_BITS, ONE_BY_ONE, Plan, plan, possible
from tmd.taylor import ROUNDINGS, Scale

KIND, VERSION = "tmd-certificate", 1
DEFINITION = (
    "A case is an argument x of argument_precision digits in [lo, hi) with |f(x)| 2^-w closer than "
    "2^-bits to an integer (kind F: near a floating-point number of `precision` digits) or to half "
    "an odd integer (kind M: near a midpoint), where 2^w is the ulp of |f(x)|. rounding 'all' "
    "takes both kinds, 'directed' F, 'nearest' M."
)
COLUMNS = (
    *("sign", "quantum", "first", "count", "ulp", "negative"),
    *("size", "domain", "piece", "packet", "degree", "algorithm", "division"),
    *("subdomains", "survivors", "pieces", "candidates", "balls", "cases", "undecided", "hash"),
)
_COUNTS = slice(COLUMNS.index("subdomains"), COLUMNS.index("cases"))
_VERSION = re.compile(r"[0-9]+(\.[0-9a-z]+)*[-+._0-9A-Za-z]*")
WINDOW = 22  # binary logarithm of the arguments of a window that a check looks at one by one


def row(plan: Plan, found: Found) -> list:
    """A block's line in a certificate."""
    return [
        *_sizes(plan),
        *(*found.counts, int(found.index.size), len(found.undecided), found.hash),
    ]


def _sizes(plan: Plan) -> list:
    """How a block is searched: the first columns of its line."""
    run, block = plan.block.run, plan.block
    return [
        *(run.sign, run.quantum, run.first, run.count, block.ulp, block.negative),
        *(*plan.shape, plan.degree, plan.algorithm, plan.division),
    ]


def digest(plans: list[Plan]) -> str:
    """Of how all blocks are searched."""
    return _hash([_sizes(p) for p in plans])


def make(question: dict, trivial: int, rows: list[list]) -> dict:
    """A certificate of all blocks."""
    body = {
        "kind": KIND,
        "version": VERSION,
        "definition": DEFINITION,
        **question,
        "trivial": trivial,
        "cases": sum(r[COLUMNS.index("cases")] for r in rows),
        "versions": versions(),
        "columns": list(COLUMNS),
        "blocks": rows,
    }
    return body | {"hash": _hash(body)}


def _hash(body) -> str:
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def load(certificate) -> dict:
    """Read a certificate from a dict or a JSON file and check its hash and its form.

    Raises
    ------
    CertificateError
        Whatever is wrong with it.
    """
    if not isinstance(certificate, dict):
        try:
            certificate = _parse(Path(certificate).read_text())
        except (OSError, ValueError, TypeError, RecursionError) as error:
            raise CertificateError(f"certificate {certificate!r} cannot be read: {error}") from None
    return _checked(certificate)


def _parse(text: str):
    """Parse JSON in which no key may appear twice: one of both would not be looked at."""

    def unique(pairs):
        keys = [key for key, _ in pairs]
        if len(set(keys)) < len(keys):
            raise ValueError(f"a key appears twice among {sorted(keys)}")
        return dict(pairs)

    return json.loads(text, object_pairs_hook=unique)


def _checked(certificate) -> dict:
    """Check the hash and the form of a certificate; `check_blocks` checks what its blocks say."""
    if not isinstance(certificate, dict):
        raise CertificateError("certificate: no JSON object")
    body = {k: v for k, v in certificate.items() if k != "hash"}
    if (
        body.get("kind") != KIND
        or type(body.get("version")) is not int
        or body["version"] != VERSION
    ):
        raise CertificateError(f"certificate: no {KIND} of version {VERSION}")
    try:
        fits = certificate.get("hash") == _hash(body)
        certificate = json.loads(json.dumps(certificate))  # tuples become lists, as in a file
    except (TypeError, ValueError, RecursionError) as error:
        raise CertificateError(f"certificate holds what JSON cannot hold: {error}") from None
    if not fits:
        raise CertificateError("certificate is damaged: its hash does not fit its content")
    keys = {"kind", "version", "hash", *_FORMS}
    for key in sorted(keys ^ set(certificate)):
        word = "must not have" if key in certificate else "has not"
        raise CertificateError(f"certificate {word} the key {key!r}")
    for key, valid in _FORMS.items():
        if not valid(certificate[key]):
            raise CertificateError(f"certificate: {key} cannot be {_brief(certificate[key])}")
    return certificate


def _brief(value) -> str:
    """Show a value in a message, or its beginning."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}..."


def _is_count(value) -> bool:
    return type(value) is int and value >= 0


def _is_domain(value) -> bool:
    """Return whether a domain is two numbers, written as `shown` writes them."""
    try:
        written = [shown(exact("domain", end)) for end in value]
    except (TypeError, ValueError):
        return False
    return type(value) is list and len(value) == 2 and written == value


def _are_versions(value) -> bool:
    """Return whether these may be versions. Nothing can tell whether they are true."""
    return (
        isinstance(value, dict)
        and {"python", "numba", "numpy"} <= set(value)
        and all(isinstance(v, str) and _VERSION.fullmatch(v) for v in value.values())
    )


def _is_precision(value) -> bool:
    return type(value) is int and 2 <= value <= 64


def _are_rows(value) -> bool:
    return isinstance(value, list) and all(
        isinstance(line, list) and len(line) == len(COLUMNS) for line in value
    )


_FORMS = {
    "definition": lambda value: value == DEFINITION,
    "function": lambda value: value in NAMES,
    "domain": _is_domain,
    "bits": lambda value: type(value) is int and 4 <= value <= MOST_BITS,
    "precision": _is_precision,
    "argument_precision": _is_precision,
    "rounding": lambda value: value in ROUNDINGS,
    "trivial": _is_count,
    "cases": _is_count,
    "versions": _are_versions,
    "columns": lambda value: value == list(COLUMNS),
    "blocks": _are_rows,
}
"""What the value of each key may be."""


def read(path) -> list[dict]:
    """The certificates in a file: one in JSON, or one a line, also compressed (`.xz`)."""
    path = Path(path)
    try:
        data = path.read_bytes()
        text = (lzma.decompress(data) if path.suffix == ".xz" else data).decode()
        return [_checked(_parse(line)) for line in text.splitlines() if line.strip()]
    except CertificateError:
        raise
    except (OSError, EOFError, ValueError, RecursionError, lzma.LZMAError) as error:
        raise CertificateError(f"certificates {str(path)!r} cannot be read: {error}") from None


def check_blocks(certificate: dict) -> CertifiedBlocks:
    """Check the blocks of a loaded certificate and return them.

    Raises
    ------
    CertificateError
        The blocks do not tile the domain; a line names sizes that no search has, or counts that no
        search can have found; lines contradict each other or the total.
    """
    try:
        f = function(certificate["function"])
        lo, hi = (exact("domain", end) for end in certificate["domain"])
        fmt = Format.checked(certificate["precision"], certificate["argument_precision"])
        proven, trivial = blocks(f, lo, hi, fmt)
    except (ValueError, TypeError, ArithmeticError) as error:
        raise CertificateError(f"certificate: its domain cannot be searched: {error}") from None
    lines = certificate["blocks"]
    if len(lines) != len(proven) or trivial != certificate["trivial"]:
        raise CertificateError("certificate: its blocks are not those of its domain")
    plans = [
        _plan(certificate, number, block, line)
        for number, (block, line) in enumerate(zip(proven, lines, strict=True))
    ]
    _check_uniform(plans)
    counts = [line[COLUMNS.index("cases")] for line in lines]
    if sum(counts) != certificate["cases"]:
        raise CertificateError(
            f"certificate: its blocks have {sum(counts)} cases, its total is {certificate['cases']}"
        )
    hashes = [line[-1] for line in lines]
    return CertifiedBlocks(f, (lo, hi), fmt, plans, counts, hashes, certificate["hash"])


def _plan(certificate: dict, number: int, block: Block, line: list) -> Plan:
    """Return the plan that a line names, for the block that was proven to stand there."""
    run = block.run
    position = [run.sign, run.quantum, run.first, run.count, block.ulp, block.negative]
    # The types are compared as well, because 1, 1.0 and true are equal in Python.
    if [(type(v), v) for v in line[: len(position)]] != [(type(v), v) for v in position]:
        raise CertificateError("certificate: its blocks are not those of its domain")
    c = dict(zip(COLUMNS, line, strict=True))
    sizes = [c[k] for k in ("size", "domain", "piece", "packet", "degree")]
    numbers = [*sizes, *line[_COUNTS], c["cases"], c["undecided"]]
    if not all(map(_is_count, numbers)) or not re.fullmatch("[0-9a-f]{24}", str(c["hash"])):
        raise CertificateError(f"certificate: block {number} has other than counts and a hash")
    if c["algorithm"] not in (*ALGORITHMS, "exhaustive", "balls") or c["division"] not in (
        *DIVISIONS,
    ):
        raise CertificateError(f"certificate: block {number} was searched in no known way")
    shape, degree = Shape(*sizes[:4]), c["degree"]
    one_by_one = c["algorithm"] == "balls"
    if one_by_one != ((shape, degree) == ONE_BY_ONE and run.count <= MOST_BALLS) or not (
        one_by_one or possible(shape, degree)
    ):
        raise CertificateError(f"certificate: a search has no sizes like {shape}")
    scale = Scale.of(certificate["rounding"])
    p = Plan(block, scale, certificate["bits"], shape, degree, c["algorithm"], c["division"])
    problem = contradiction(p, line[_COUNTS], c["cases"], c["undecided"])
    nothing = not c["cases"] and not c["undecided"]
    if not problem and nothing != (c["hash"] == _NOTHING):
        problem = "a hash that does not fit the number of cases"
    if problem:
        raise CertificateError(f"certificate: block {number} has {problem}")
    return p


_NOTHING = Found(np.empty(0, np.uint64), np.empty(0, bool), np.empty(0), np.empty(0)).hash
"""Hash of a block without cases."""


def _check_uniform(plans: list[Plan]) -> None:
    """Check that all blocks were searched by one call of `search`: one algorithm, one division."""
    divisions = {p.division for p in plans}
    algorithms = {p.algorithm for p in plans} - {"balls"}
    if len(divisions) > 1 or (len(algorithms) > 1 and algorithms != {"clipped", "exhaustive"}):
        used = ", ".join(sorted(divisions | algorithms))
        raise CertificateError(f"certificate: one search does not use all of {used}")


def verify(
    certificate, *, cases=None, full: bool = False, samples: int = 3, seed: int = 0, device=None
) -> dict:
    """Check a certificate: its form, that its blocks tile the domain, its cases, blocks done again.

    Parameters
    ----------
    certificate : dict, or path of a JSON file; of many see `read`
    cases : path, or iterable of Case or of numbers, optional
        A list to compare with the certificate, both ways: each listed argument is a case, and no
        case is missing. `Result.write` and `Result.cases` give such lists.
    full : bool
        Do every block again. Else `samples` of them, taken at random.
    samples : int
        Also of windows of 2^22 arguments in each of these blocks that are looked at one by one:
        a path that shares neither lines nor Boolean tests with the search. At least 1, or 0 to
        check no more than the list or, with `full`, no windows.
    seed : int
    device : None, "auto", "cpu", "cuda", "cuda:N" or hetero.Device

    Returns
    -------
    dict
        "blocks" searched again, out of "certified_blocks"; "windows" checked, "arguments" searched
        again, "cases" found again; "listed" cases, if `cases` is given.

    Raises
    ------
    CertificateError
        Damage of any kind, blocks that do not tile the domain, other counts or cases than
        certified, a list that is not that of the certificate.

    Notes
    -----
    A certificate is not signed. What is checked is that its statements are true, not who made it:
    of the versions in it only the form can be checked, and of two kinds of division that give the
    same counts both are accepted.
    """
    certificate = load(certificate)
    samples = errors.whole("samples", samples, 1 if cases is None and not full else 0)
    tiles = check_blocks(certificate)
    f, plans = tiles.function, tiles.plans
    report = {"blocks": 0, "certified_blocks": len(plans), "windows": 0, "arguments": 0, "cases": 0}
    if cases is not None:
        report["listed"] = check_cases([tiles], load_cases(cases))
    rng = random.Random(seed)
    chosen = (
        range(len(plans))
        if full
        else sorted(rng.sample(range(len(plans)), min(samples, len(plans))))
    )
    device = resolve(device)
    for number, (p, found) in zip(chosen, scan(f, [plans[i] for i in chosen], device), strict=True):
        if row(p, found) != certificate["blocks"][number]:
            raise CertificateError(
                f"block {number} (from {shown(p.block.run.argument(0))}) gave "
                f"{row(p, found)[13:]}, certified is {certificate['blocks'][number][13:]}"
            )
        for _ in range(samples):
            _check_window(f, p, found, rng, device)
            report["windows"] += 1
        report["blocks"] += 1
        report["arguments"] += p.block.run.count
        report["cases"] += int(found.index.size)
    return report


def verify_cases(certificates: list[dict], cases) -> int:
    """Compare a list of cases with several certificates of one function, without a new search.

    Returns how many cases there are.

    Raises
    ------
    CertificateError
        The list is not that of the certificates, or one of these is wrong.
    """
    return check_cases([check_blocks(load(c)) for c in certificates], load_cases(cases))


def _check_window(f: Function, p: Plan, found: Found, rng, device) -> None:
    """Every argument of a random window, against the cases of its block."""
    width = min(1 << WINDOW, p.block.run.count)
    begin = rng.randrange(p.block.run.count - width + 1)
    block = replace(p.block, run=p.block.run.part(begin, begin + width))
    window = plan(f, block, p.bits, p.scale, "exhaustive", p.division)
    ((_, seen),) = scan(f, [window], device)
    inside = (found.index >= begin) & (found.index < begin + width)
    same = np.array_equal(found.index[inside] - np.uint64(begin), seen.index)
    if not same or not np.array_equal(found.middle[inside], seen.middle):
        where = shown(Fraction(p.block.run.argument(begin)))
        raise CertificateError(
            f"the window of {width} arguments from {where} has {seen.index.size} cases, "
            f"its block {int(inside.sum())} there"
        )
