"""Certificates: what was searched, how, and what every block gave; and their check."""

from __future__ import annotations

import hashlib
import json
import lzma
import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from hetero import errors
from hetero.devices import resolve
from hetero.environment import versions
from tmd._scan_math import Shape
from tmd.blocks import Block, blocks
from tmd.decide import Found
from tmd.engine import scan
from tmd.errors import CertificateError
from tmd.formats import Format, Run, exact, shown
from tmd.functions import Function, function
from tmd.plan import Plan, plan, possible
from tmd.taylor import Scale

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
    """A certificate from a dict or a JSON file, if its hash and its form are right."""
    if not isinstance(certificate, dict):
        try:
            certificate = json.loads(Path(certificate).read_text())
        except (OSError, ValueError, TypeError) as error:
            raise CertificateError(f"certificate {certificate!r} cannot be read: {error}") from None
    return _checked(certificate)


def _checked(certificate) -> dict:
    if not isinstance(certificate, dict):
        raise CertificateError("certificate: no JSON object")
    body = {k: v for k, v in certificate.items() if k != "hash"}
    if body.get("kind") != KIND or body.get("version") != VERSION:
        raise CertificateError(f"certificate: no {KIND} of version {VERSION}")
    if certificate.get("hash") != _hash(body):
        raise CertificateError("certificate is damaged: its hash does not fit its content")
    return certificate


def read(path) -> list[dict]:
    """The certificates in a file: one in JSON, or one a line, also compressed (`.xz`)."""
    path = Path(path)
    try:
        data = path.read_bytes()
        text = (lzma.decompress(data) if path.suffix == ".xz" else data).decode()
        return [_checked(json.loads(line)) for line in text.splitlines() if line.strip()]
    except CertificateError:
        raise
    except (OSError, ValueError, lzma.LZMAError) as error:
        raise CertificateError(f"certificates {str(path)!r} cannot be read: {error}") from None


def _plan(certificate: dict, line: list) -> Plan:
    c = dict(zip(COLUMNS, line, strict=True))
    run = Run(c["sign"], c["quantum"], c["first"], c["count"])
    shape = Shape(c["size"], c["domain"], c["piece"], c["packet"])
    if not possible(shape, c["degree"]):
        raise CertificateError(f"certificate: a search has no sizes like {shape}")
    return Plan(
        Block(run, c["ulp"], c["negative"]),
        Scale.of(certificate["rounding"]),
        certificate["bits"],
        shape,
        c["degree"],
        c["algorithm"],
        c["division"],
    )


def verify(
    certificate, *, full: bool = False, samples: int = 3, seed: int = 0, device=None
) -> dict:
    """Check a certificate: its hash, that its blocks tile the domain, and blocks done again.

    Parameters
    ----------
    certificate : dict, or path of a JSON file; of many see `read`
    full : bool
        Do every block again. Else `samples` of them, taken at random.
    samples : int
        Also of windows of 2^22 arguments in each of these blocks that are looked at one by one:
        a path that shares neither lines nor Boolean tests with the search.
    seed : int
    device : None, "auto", "cpu", "cuda", "cuda:N" or hetero.Device

    Returns
    -------
    dict
        "blocks" and "windows" checked, "arguments" searched again, "cases" found again.

    Raises
    ------
    CertificateError
        Damage, blocks that do not tile the domain, other counts or cases than certified.
    """
    certificate = load(certificate)
    samples = errors.whole("samples", samples, 0)
    f = function(certificate["function"])
    plans = [_plan(certificate, line) for line in certificate["blocks"]]
    _check_tiling(f, certificate, plans)
    rng = random.Random(seed)
    chosen = (
        range(len(plans))
        if full
        else sorted(rng.sample(range(len(plans)), min(samples, len(plans))))
    )
    device = resolve(device)
    report = {"blocks": 0, "windows": 0, "arguments": 0, "cases": 0}
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


def _check_tiling(f: Function, certificate: dict, plans: list[Plan]) -> None:
    lo, hi = (exact("domain", end) for end in certificate["domain"])
    fmt = Format.checked(certificate["precision"], certificate["argument_precision"])
    proven, trivial = blocks(f, lo, hi, fmt)
    if [p.block for p in plans] != proven or trivial != certificate["trivial"]:
        raise CertificateError("certificate: its blocks are not those of its domain")


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
