"""Contents of a certificate: what was searched and how, and the results of every block."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hetero.data_files.atomic_files import replace_atomically
from hetero.measurement.environment import versions
from tmd._search.decisions import BlockCases
from tmd._search.planning import Plan

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
    return hash_json([_plan_columns(p) for p in plans])


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
        "versions": dict(versions()),
        "columns": list(COLUMNS),
        "blocks": records,
    }
    return body | {"hash": hash_json(body)}


def hash_json(body: Any) -> str:
    """Return a hash of a JSON value, whatever the order of its keys."""
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file, which is complete or unchanged."""
    write_lines(path, [json.dumps(value)])


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write a file of lines, which is complete or unchanged."""
    with replace_atomically(path) as part:
        part.write_text("\n".join(lines) + "\n")
