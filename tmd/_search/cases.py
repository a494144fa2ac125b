"""Cases of blocks: how they are found among candidates, and their records in a certificate."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hetero.measurement.environment import versions
from tmd._search.decisions import decide_by_balls
from tmd._search.planning import Batch, Plan
from tmd._search.taylor_models import FRACTION_BITS
from tmd.formats import exponent
from tmd.functions.function import Function, working_precision

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


_FRACTION_MASK = np.uint64((1 << 63) - 1)

QUICK_PRECISION = 160
"""Bits, besides those of the argument's exponent, that tell most arguments from cases: 64 digits of
the value, 58 bits of a search, and some for what functions lose."""

_QUICK_ARGUMENTS = 1 << 12

BALL_ERROR = 1 << 11
"""Bound on the error of a value from a ball, in units of 2^-63 test units.

The value passes through a float64, whose rounding error is at most 2^10 units.
"""


@dataclass
class BlockCases:
    """The cases of one block, by growing magnitude of the argument.

    Attributes
    ----------
    index : uint64
        Numbers of the arguments in the block.
    middle : bool
        Whether the value is near a midpoint (else near a float).
    value, error : int64
        Signed distance from the breakpoint and a bound of its error, in units of 2^-63 test units.
    counts : list of five int
        Sub-domains, survivors of phase 1, failing pieces, candidates, decisions by balls.
    undecided : list of int
        Numbers of the arguments that balls of 8192 bits cannot decide.
    """

    index: np.ndarray
    middle: np.ndarray
    value: np.ndarray
    error: np.ndarray
    counts: list[int] = field(default_factory=lambda: [0] * 5)
    undecided: list[int] = field(default_factory=list)

    @property
    def hash(self) -> str:
        """Hash of the indices and kinds of all cases."""
        digest = hashlib.blake2b(digest_size=12)
        digest.update(self.index.astype("<u8").tobytes())
        digest.update(self.middle.astype(np.uint8).tobytes())
        digest.update(np.array(self.undecided, "<u8").tobytes())
        return digest.hexdigest()


def find_contradiction(plan: Plan, counts: Sequence[int], cases: int, undecided: int) -> str:
    """Describe why no search by `plan` can have these counts; "" if they are consistent.

    `counts` are those of `BlockCases`.
    """
    subdomains, survivors, pieces, candidates, balls = counts
    if plan.algorithm == "balls":
        expected = 0, 0, 0, plan.block.run.count, plan.block.run.count
        rules = [(tuple(counts) == expected, "balls that do not check every argument once")]
    else:
        total = -(-plan.block.run.count >> plan.shape.subdomain)
        split = plan.shape.subdomain - plan.shape.piece
        rules = [
            (subdomains == total, f"{subdomains} sub-domains instead of {total}"),
            (survivors <= subdomains, "more survivors than sub-domains"),
            (pieces <= survivors << split, "more failing pieces than its survivors contain"),
            (candidates <= pieces << plan.shape.piece, "more candidates than arguments"),
            (balls <= candidates, "more decisions by balls than candidates"),
        ]
    if plan.algorithm == "exhaustive":
        rules[1:3] = [
            (survivors == 0, "survivors of a test that an exhaustive search does not have"),
            (pieces == total << split, "not all pieces"),
        ]
    rules += [
        (undecided <= balls, "more undecided arguments than decisions by balls"),
        (cases + undecided <= candidates, "more cases than candidates"),
    ]
    return next((text for holds, text in rules if not holds), "")


def decide_candidates(
    function: Function,
    plan: Plan,
    batch: Batch,
    result: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
) -> BlockCases:
    """Return the cases among the candidates of a batch of one block.

    `result` is what `finish_batch` of the loops returned.
    """
    (survivors,), (pieces,), numbers, words = result
    size = np.uint64(plan.shape.super_block)
    super_block = (numbers >> size).astype(np.int64)
    index = numbers + (np.uint64(batch.first) << size)
    in_block = np.flatnonzero(index < np.uint64(plan.block.run.count))
    in_block = in_block[np.argsort(index[in_block], kind="stable")]
    index, words = index[in_block], words[in_block]
    error = batch.errors[super_block[in_block]]
    # The fraction as a signed number around the nearest integer; `odd` is that integer's parity.
    value = (words & _FRACTION_MASK).astype(np.int64)
    rounded_up = value >= 1 << 62
    value -= rounded_up.astype(np.int64) << np.int64(62) << np.int64(1)
    odd = ((words >> np.uint64(63)).astype(bool)) ^ rounded_up
    middle = odd if plan.scale.doubled else np.full(odd.shape, plan.scale.half)
    limit = plan.scale.case_distance(plan.bits) >> (FRACTION_BITS - 63)
    distance = np.abs(value)
    is_case = distance < limit - error
    unsure = np.flatnonzero(~is_case & (distance - error < limit))
    undecided = []
    for i in unsure:
        verdict = decide_by_balls(function, plan, int(index[i]))
        if verdict is None:
            undecided.append(int(index[i]))
            continue
        is_case[i], middle[i], value[i] = verdict
        error[i] = BALL_ERROR
    subdomains = int(batch.subdomain_counts.sum())
    counts = [subdomains, int(survivors), int(pieces), in_block.size, unsure.size]
    return BlockCases(
        index[is_case], middle[is_case], value[is_case], error[is_case], counts, undecided
    )


def join_batches(parts: Sequence[BlockCases]) -> BlockCases:
    """Join the cases of consecutive batches of one block."""
    return BlockCases(
        index=np.concatenate([p.index for p in parts]),
        middle=np.concatenate([p.middle for p in parts]),
        value=np.concatenate([p.value for p in parts]),
        error=np.concatenate([p.error for p in parts]),
        counts=[sum(c) for c in zip(*(p.counts for p in parts), strict=True)],
        undecided=[i for p in parts for i in p.undecided],
    )


def decide_every_argument(function: Function, plan: Plan) -> BlockCases:
    """Return the cases of a short block, all of whose arguments are decided by balls."""
    rows, undecided = [], []
    for i in _near_breakpoints(function, plan):
        verdict = decide_by_balls(function, plan, i)
        if verdict is None:
            undecided.append(i)
        elif verdict[0]:
            rows.append((i, *verdict[1:]))
    count = plan.block.run.count
    return BlockCases(
        index=np.array([i for i, _, _ in rows], np.uint64),
        middle=np.array([middle for _, middle, _ in rows], bool),
        value=np.array([value for _, _, value in rows], np.int64),
        error=np.full(len(rows), BALL_ERROR, np.int64),
        counts=[0, 0, 0, count, count],
        undecided=undecided,
    )


def _near_breakpoints(function: Function, plan: Plan) -> Iterator[int]:
    """Yield the numbers of the arguments that balls of few bits do not prove to be no cases.

    Near a pole there are 2^17 arguments to decide, one after the other. Without their conversions
    to fractions and contexts this takes a tenth of the time of `decide_by_balls`.
    """
    from flint import arb

    run, value = plan.block.run, function.value or function.enclosure
    last = run.argument(run.count - 1)
    precision = QUICK_PRECISION + 2 * max(0, exponent(last))
    for begin in range(0, run.count, _QUICK_ARGUMENTS):
        near = []
        with working_precision(precision):  # which other threads wait for
            unit = arb(run.sign) * arb(2) ** run.quantum
            scale = arb(2) ** (int(plan.scale.doubled) - plan.block.ulp)
            offset, half = arb(0.5 if plan.scale.half else 0.0), arb(0.5)
            limit = arb(2) ** (int(plan.scale.doubled) - plan.bits)
            for i in range(begin, min(begin + _QUICK_ARGUMENTS, run.count)):
                y = abs(value(unit * (run.first + i))) * scale + offset
                nearest = (y + half).floor().unique_fmpz()
                if nearest is None or not abs(y - nearest) >= limit:
                    near.append(i)
        yield from near


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
