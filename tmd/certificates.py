"""Certificates and their verification.

A certificate records what was searched and how, and the results of every block.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import random
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

from hetero import validation
from hetero.devices import Device, resolve
from hetero.measurement.environment import versions
from tmd._search.blocks import Block, split_into_blocks
from tmd._search.boolean_test_formulas import ALGORITHMS, DIVISIONS
from tmd._search.decisions import BlockCases, find_contradiction
from tmd._search.line_formulas import Shape
from tmd._search.pipeline import search_blocks
from tmd._search.planning import (
    MAX_BALL_ARGUMENTS,
    MAX_BITS,
    ONE_BY_ONE,
    Plan,
    is_valid_shape,
    make_plan,
)
from tmd._search.taylor_models import ROUNDINGS, Scale
from tmd.case_lists import CertifiedBlocks, check_cases, load_cases
from tmd.errors import CertificateError
from tmd.formats import Format, format_fraction, to_fraction
from tmd.functions import NAMES, Function, load_function

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
_COUNT_COLUMNS = slice(COLUMNS.index("subdomains"), COLUMNS.index("cases"))
_VERSION = re.compile(r"[0-9]+(\.[0-9a-z]+)*[-+._0-9A-Za-z]*")
WINDOW_BITS = 22
"""log2 of the number of arguments in a window, which a verification checks one by one."""


def block_record(plan: Plan, cases: BlockCases) -> list:
    """Return the record of a block in a certificate: the values of `COLUMNS`."""
    return [
        *_plan_columns(plan),
        *(*cases.counts, int(cases.index.size), len(cases.undecided), cases.hash),
    ]


def _plan_columns(plan: Plan) -> list:
    """Return the first columns of a block's record, which say how it is searched."""
    run, block = plan.block.run, plan.block
    return [
        *(run.sign, run.quantum, run.first, run.count, block.ulp, block.negative),
        *(*plan.shape, plan.degree, plan.algorithm, plan.division),
    ]


def hash_plans(plans: list[Plan]) -> str:
    """Return a hash of how all blocks are searched."""
    return _hash_json([_plan_columns(p) for p in plans])


def make_certificate(question: dict, trivial: int, records: list[list]) -> dict:
    """Assemble the certificate of a search from the records of its blocks.

    `question` holds the arguments of the search; `trivial` is the number of arguments at which
    rounding is trivial.
    """
    body = {
        "kind": KIND,
        "version": VERSION,
        "definition": DEFINITION,
        **question,
        "trivial": trivial,
        "cases": sum(record[COLUMNS.index("cases")] for record in records),
        "versions": versions(),
        "columns": list(COLUMNS),
        "blocks": records,
    }
    return body | {"hash": _hash_json(body)}


def _hash_json(body) -> str:
    """Return a hash of a JSON value, whatever the order of its keys."""
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def load_certificate(certificate: dict | str | Path) -> dict:
    """Read a certificate from a dict or a JSON file and check its hash and its form.

    Raises
    ------
    CertificateError
        It cannot be read, is damaged or is malformed.
    """
    if not isinstance(certificate, dict):
        try:
            certificate = _parse(Path(certificate).read_text())
        except (OSError, ValueError, TypeError, RecursionError) as error:
            raise CertificateError(f"certificate {certificate!r} cannot be read: {error}") from None
    return _check_form(certificate)


def _parse(text: str):
    """Parse JSON; raise ValueError if a key appears twice, since one value would be ignored."""

    def to_dict(pairs):
        keys = [key for key, _ in pairs]
        if len(set(keys)) < len(keys):
            raise ValueError(f"a key appears twice among {sorted(keys)}")
        return dict(pairs)

    return json.loads(text, object_pairs_hook=to_dict)


def _check_form(certificate) -> dict:
    """Check the hash and the form of a certificate; `check_blocks` checks what its blocks say."""
    if not isinstance(certificate, dict):
        raise CertificateError("certificate must be a JSON object")
    body = {k: v for k, v in certificate.items() if k != "hash"}
    if (
        body.get("kind") != KIND
        or type(body.get("version")) is not int
        or body["version"] != VERSION
    ):
        raise CertificateError(f"certificate must be a {KIND} of version {VERSION}")
    try:
        matches = certificate.get("hash") == _hash_json(body)
        certificate = json.loads(json.dumps(certificate))  # tuples become lists, as in a file
    except (TypeError, ValueError, RecursionError) as error:
        raise CertificateError(f"certificate cannot be written as JSON: {error}") from None
    if not matches:
        raise CertificateError("certificate is damaged: its hash does not match its content")
    keys = {"kind", "version", "hash", *_VALIDATORS}
    for key in sorted(keys ^ set(certificate)):
        verb = "must not have" if key in certificate else "lacks"
        raise CertificateError(f"certificate {verb} the key {key!r}")
    for key, valid in _VALIDATORS.items():
        if not valid(certificate[key]):
            value = _abbreviate(certificate[key])
            raise CertificateError(f"certificate has an invalid {key}: {value}")
    return certificate


def _abbreviate(value) -> str:
    """Return the repr of a value for a message, cut to 80 characters."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}..."


def _is_count(value) -> bool:
    return type(value) is int and value >= 0


def _is_domain(value) -> bool:
    """Return whether a domain is two numbers, written as `format_fraction` writes them."""
    try:
        written = [format_fraction(to_fraction("domain", end)) for end in value]
    except (TypeError, ValueError):
        return False
    return type(value) is list and len(value) == 2 and written == value


def _are_versions(value) -> bool:
    """Return whether a value has the form of versions; whether they are true cannot be checked."""
    return (
        isinstance(value, dict)
        and {"python", "numba", "numpy"} <= set(value)
        and all(isinstance(v, str) and _VERSION.fullmatch(v) for v in value.values())
    )


def _is_precision(value) -> bool:
    return type(value) is int and 2 <= value <= 64


def _are_records(value) -> bool:
    return isinstance(value, list) and all(
        isinstance(record, list) and len(record) == len(COLUMNS) for record in value
    )


_VALIDATORS = {
    "definition": lambda value: value == DEFINITION,
    "function": lambda value: value in NAMES,
    "domain": _is_domain,
    "bits": lambda value: type(value) is int and 4 <= value <= MAX_BITS,
    "precision": _is_precision,
    "argument_precision": _is_precision,
    "rounding": lambda value: value in ROUNDINGS,
    "trivial": _is_count,
    "cases": _is_count,
    "versions": _are_versions,
    "columns": lambda value: value == list(COLUMNS),
    "blocks": _are_records,
}
"""Predicate for the value of each key."""


def read_certificates(path: str | Path) -> list[dict]:
    """Read a file of certificates, one per line in JSON, which may be compressed (`.xz`)."""
    path = Path(path)
    try:
        data = path.read_bytes()
        text = (lzma.decompress(data) if path.suffix == ".xz" else data).decode()
        return [_check_form(_parse(line)) for line in text.splitlines() if line.strip()]
    except CertificateError:
        raise
    except (OSError, EOFError, ValueError, RecursionError, lzma.LZMAError) as error:
        raise CertificateError(f"certificates {str(path)!r} cannot be read: {error}") from None


def check_blocks(certificate: dict) -> CertifiedBlocks:
    """Check the blocks of a loaded certificate and return them.

    Raises
    ------
    CertificateError
        The blocks do not tile the domain; a record has sizes that no search uses or counts that no
        search can have; records contradict each other or the total.
    """
    try:
        f = load_function(certificate["function"])
        lo, hi = (to_fraction("domain", end) for end in certificate["domain"])
        fmt = Format.create(certificate["precision"], certificate["argument_precision"])
        proven, trivial = split_into_blocks(f, lo, hi, fmt)
    except (ValueError, TypeError, ArithmeticError) as error:
        raise CertificateError(f"certificate: its domain cannot be searched: {error}") from None
    records = certificate["blocks"]
    if len(records) != len(proven) or trivial != certificate["trivial"]:
        raise CertificateError("certificate: its blocks do not tile its domain")
    plans = [
        _certified_plan(certificate, number, block, record)
        for number, (block, record) in enumerate(zip(proven, records, strict=True))
    ]
    _check_uniform(plans)
    counts = [record[COLUMNS.index("cases")] for record in records]
    if sum(counts) != certificate["cases"]:
        raise CertificateError(
            f"certificate: its blocks have {sum(counts)} cases, but its total is "
            f"{certificate['cases']}"
        )
    hashes = [record[-1] for record in records]
    return CertifiedBlocks(f, (lo, hi), fmt, plans, counts, hashes, certificate["hash"])


def _certified_plan(certificate: dict, number: int, block: Block, record: list) -> Plan:
    """Return the plan that a record describes.

    `block` is number `number` of the blocks into which the domain has just been split.
    """
    run = block.run
    position = [run.sign, run.quantum, run.first, run.count, block.ulp, block.negative]
    # The types are compared as well, because 1, 1.0 and true are equal in Python.
    if [(type(v), v) for v in record[: len(position)]] != [(type(v), v) for v in position]:
        raise CertificateError("certificate: its blocks do not tile its domain")
    c = dict(zip(COLUMNS, record, strict=True))
    sizes = [c[k] for k in ("size", "domain", "piece", "packet", "degree")]
    numbers = [*sizes, *record[_COUNT_COLUMNS], c["cases"], c["undecided"]]
    if not all(map(_is_count, numbers)) or not re.fullmatch("[0-9a-f]{24}", str(c["hash"])):
        raise CertificateError(f"certificate: block {number} has an invalid count or hash")
    # In tuples, because the values may be of any type, also unhashable ones.
    algorithms, divisions = (*ALGORITHMS, "exhaustive", "balls"), (*DIVISIONS,)
    if c["algorithm"] not in algorithms or c["division"] not in divisions:
        raise CertificateError(f"certificate: block {number} has an unknown algorithm or division")
    shape, degree = Shape(*sizes[:4]), c["degree"]
    by_balls = c["algorithm"] == "balls"
    if by_balls != ((shape, degree) == ONE_BY_ONE and run.count <= MAX_BALL_ARGUMENTS) or not (
        by_balls or is_valid_shape(shape, degree)
    ):
        raise CertificateError(f"certificate: block {number} has sizes that no search uses")
    scale = Scale.for_rounding(certificate["rounding"])
    p = Plan(block, scale, certificate["bits"], shape, degree, c["algorithm"], c["division"])
    problem = find_contradiction(p, record[_COUNT_COLUMNS], c["cases"], c["undecided"])
    is_empty = not c["cases"] and not c["undecided"]
    if not problem and is_empty != (c["hash"] == _EMPTY_HASH):
        problem = "a hash that does not match its number of cases"
    if problem:
        raise CertificateError(f"certificate: block {number} has {problem}")
    return p


_EMPTY_HASH = BlockCases(np.empty(0, np.uint64), np.empty(0, bool), np.empty(0), np.empty(0)).hash
"""Hash of a block without cases."""


def _check_uniform(plans: list[Plan]) -> None:
    """Check that all blocks were searched by one call of `search`: one algorithm, one division."""
    divisions = {p.division for p in plans}
    algorithms = {p.algorithm for p in plans} - {"balls"}
    if len(divisions) > 1 or (len(algorithms) > 1 and algorithms != {"clipped", "exhaustive"}):
        names = ", ".join(sorted(divisions | algorithms))
        raise CertificateError(f"certificate: no single search uses all of {names}")


def verify(
    certificate: dict | str | Path,
    *,
    cases: str | Path | Iterable | None = None,
    full: bool = False,
    samples: int = 3,
    seed: int = 0,
    device: str | Device | None = None,
) -> dict:
    """Verify a certificate: check its form, compare its cases, and repeat the search of blocks.

    Parameters
    ----------
    certificate : dict, or path of a JSON file
        `read_certificates` reads files that hold several.
    cases : path, or iterable of Case or of numbers, optional
        A list to compare with the certificate in both directions: each listed argument must be a
        case, and no case may be missing. `Result.write` and `Result.cases` provide such lists.
    full : bool
        Search every block again, instead of `samples` blocks that are chosen at random.
    samples : int
        Number of blocks to search again, and of windows of 2^22 arguments in each of them that are
        checked one by one, which involves neither lines nor Boolean tests. At least 1, but 0 is
        accepted with `cases`, to check the list alone, and with `full`, to check no windows.
    seed : int
        Seed of the random choice of blocks and windows.
    device : None, "auto", "cpu", "cuda", "cuda:N" or hetero.Device

    Returns
    -------
    dict
        Numbers of "blocks" searched again, out of "certified_blocks"; of "windows" checked; of
        "arguments" searched again and "cases" found there; and of "listed" cases if there is a
        list.

    Raises
    ------
    CertificateError
        The certificate is damaged, its blocks do not tile the domain, a new search gives other
        counts or cases, or the list does not match the certificate.

    Notes
    -----
    A certificate is not signed. `verify` checks that its statements are true, not who made it. The
    form of the version numbers is all that can be checked of them, and a division that gives the
    same counts as the one used cannot be distinguished from it.
    """
    certificate = load_certificate(certificate)
    samples = validation.check_integer("samples", samples, 1 if cases is None and not full else 0)
    certified = check_blocks(certificate)
    f, plans = certified.function, certified.plans
    report = {"blocks": 0, "certified_blocks": len(plans), "windows": 0, "arguments": 0, "cases": 0}
    if cases is not None:
        report["listed"] = check_cases([certified], load_cases(cases))
    rng = random.Random(seed)
    chosen = (
        range(len(plans))
        if full
        else sorted(rng.sample(range(len(plans)), min(samples, len(plans))))
    )
    device = resolve(device)
    searched = search_blocks(f, [plans[i] for i in chosen], device)
    results = COLUMNS.index("subdomains")
    for number, (p, block_cases) in zip(chosen, searched, strict=True):
        record, certified_record = block_record(p, block_cases), certificate["blocks"][number]
        if record != certified_record:
            raise CertificateError(
                f"block {number} (from {format_fraction(p.block.run.argument(0))}) gave "
                f"{record[results:]}, but the certificate says {certified_record[results:]}"
            )
        for _ in range(samples):
            _check_window(f, p, block_cases, rng, device)
            report["windows"] += 1
        report["blocks"] += 1
        report["arguments"] += p.block.run.count
        report["cases"] += int(block_cases.index.size)
    return report


def verify_cases(certificates: list[dict], cases: str | Path | Iterable) -> int:
    """Compare a list of cases with several certificates of one function, without a new search.

    Returns the number of cases.

    Raises
    ------
    CertificateError
        The list does not match the certificates, or a certificate is wrong.
    """
    return check_cases([check_blocks(load_certificate(c)) for c in certificates], load_cases(cases))


def _check_window(
    f: Function, p: Plan, block_cases: BlockCases, rng: random.Random, device: Device
) -> None:
    """Check every argument of a random window and compare with the cases of its block."""
    width = min(1 << WINDOW_BITS, p.block.run.count)
    begin = rng.randrange(p.block.run.count - width + 1)
    block = replace(p.block, run=p.block.run.slice(begin, begin + width))
    window = make_plan(f, block, p.bits, p.scale, "exhaustive", p.division)
    ((_, window_cases),) = search_blocks(f, [window], device)
    index, middle = block_cases.index, block_cases.middle
    inside = (index >= begin) & (index < begin + width)
    same_arguments = np.array_equal(index[inside] - np.uint64(begin), window_cases.index)
    if not same_arguments or not np.array_equal(middle[inside], window_cases.middle):
        start = format_fraction(p.block.run.argument(begin))
        raise CertificateError(
            f"the window of {width} arguments from {start} has {window_cases.index.size} cases, "
            f"but the search of its block gave {int(inside.sum())} there"
        )
