"""Checks of what a certificate says about its blocks, without a new search."""

from __future__ import annotations

import re

import numpy as np

from tmd._certificates.case_lists import CertifiedBlocks
from tmd._certificates.reading import is_count
from tmd._search.blocks import Block, split_domain
from tmd._search.cases import COLUMNS, BlockCases, find_contradiction
from tmd._search.formulas.boolean_test_formulas import ALGORITHMS, DIVISIONS
from tmd._search.formulas.line_formulas import Shape
from tmd._search.planning import MAX_BALL_ARGUMENTS, ONE_BY_ONE, Plan
from tmd._search.sizes import LATTICE, is_valid_shape
from tmd._search.taylor_models import Scale
from tmd.errors import CertificateError
from tmd.formats import Format, to_fraction
from tmd.functions import load_function

_COUNT_COLUMNS = slice(COLUMNS.index("subdomains"), COLUMNS.index("cases"))


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
        proven, trivial = split_domain(f, lo, hi, fmt, certificate["bits"])
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
    count = sum(record[COLUMNS.index("cases")] for record in records)
    if count != certificate["cases"]:
        raise CertificateError(
            f"certificate: its blocks have {count} cases, but its total is {certificate['cases']}"
        )
    return CertifiedBlocks(f, (lo, hi), fmt, plans, records, certificate["hash"])


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
    if not all(map(is_count, numbers)) or not re.fullmatch("[0-9a-f]{24}", str(c["hash"])):
        raise CertificateError(f"certificate: block {number} has an invalid count or hash")
    # In tuples, because the values may be of any type, also unhashable ones.
    algorithms, divisions = (*ALGORITHMS, LATTICE, "exhaustive", "balls"), (*DIVISIONS,)
    if c["algorithm"] not in algorithms or c["division"] not in divisions:
        raise CertificateError(f"certificate: block {number} has an unknown algorithm or division")
    shape, degree = Shape(*sizes[:4]), c["degree"]
    if c["algorithm"] == "balls":
        is_valid = (shape, degree) == ONE_BY_ONE and run.count <= MAX_BALL_ARGUMENTS
    else:
        is_valid = is_valid_shape(shape, degree)
    if not is_valid:
        raise CertificateError(f"certificate: block {number} has sizes that no search uses")
    scale = Scale.for_rounding(certificate["rounding"])
    p = Plan(block, scale, certificate["bits"], shape, degree, c["algorithm"], c["division"])
    problem = find_contradiction(p, record[_COUNT_COLUMNS], c["cases"], c["undecided"])
    is_empty = not c["cases"] and not c["undecided"]
    if not problem and is_empty != (c["hash"] == EMPTY_HASH):
        problem = "a hash that does not match its number of cases"
    if problem:
        raise CertificateError(f"certificate: block {number} has {problem}")
    return p


EMPTY_HASH = BlockCases(np.empty(0, np.uint64), np.empty(0, bool), np.empty(0), np.empty(0)).hash
"""Hash of a block without cases."""


def _check_uniform(plans: list[Plan]) -> None:
    """Check that all blocks were searched by one call of `search`: one algorithm, one division."""
    divisions = {p.division for p in plans}
    algorithms = {p.algorithm for p in plans} - {"balls"}
    automatic = {"clipped", "exhaustive", LATTICE}
    if len(divisions) > 1 or (len(algorithms) > 1 and not algorithms <= automatic):
        names = ", ".join(sorted(divisions | algorithms))
        raise CertificateError(f"certificate: no single search uses all of {names}")
