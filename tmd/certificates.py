"""Verification of certificates, which record what was searched and how, block by block."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from hetero import philox, validation
from hetero.devices import Device, resolve
from hetero.display.progress_bar import open_bar
from tmd._certificates import periodic_records
from tmd._certificates.blocks import check_blocks
from tmd._certificates.case_lists import CertifiedBlocks, check_cases, load_cases
from tmd._certificates.periodic_records import join_certificates
from tmd._certificates.reading import load_certificate, read_certificates
from tmd._periodic.verification import check_periodic_cases, check_phases, search_again
from tmd._search import search_stretches
from tmd._search.cases import COLUMNS, KIND, BlockCases, block_record, make_certificate
from tmd._search.planning import Plan, Stretch, count_arguments, make_plan
from tmd.errors import CertificateError
from tmd.formats import format_fraction
from tmd.functions.function import Function

__all__ = [
    "COLUMNS",
    "block_record",
    "join_certificates",
    "load_cases",
    "load_certificate",
    "make_certificate",
    "read_certificates",
    "verify",
    "verify_cases",
]

MAX_SAMPLES = 1 << 20
"""Largest number of blocks, and of windows in each, that `verify` chooses at random."""

WINDOW_BITS = 22
"""log2 of the number of arguments in a window, which a verification checks one by one."""


def verify(
    certificate: dict | str | Path,
    *,
    cases: str | Path | Iterable | None = None,
    full: bool = False,
    samples: int = 3,
    rng: Any = 0,
    progress: bool = False,
    device: str | Device | None = None,
) -> dict:
    """Verify a certificate: check its form, compare its cases, and repeat the search of blocks.

    Parameters
    ----------
    certificate : dict, or path of a JSON file
        Of `search` or `search_periodic`. `read_certificates` reads files that hold several.
    cases : path, or iterable of Case or of numbers, optional
        A list to compare with the certificate in both directions: each listed argument must be a
        case, and no case may be missing. `Result.write` and `Result.cases` provide such lists.
    full : bool
        Search every block again, instead of `samples` blocks that are chosen at random.
    samples : int
        Number of blocks to search again, and of windows of 2^22 arguments in each of them that are
        checked one by one, which involves neither lines nor Boolean tests. For periodic searches:
        of groups, and of windows of 2^8 arguments, which balls decide. At least 1, but 0 is
        accepted with `cases`, to check the list alone, and with `full`, to check no windows.
    rng : None, int >= 0, numpy.random.SeedSequence or numpy.random.Generator
        Source of the random choice of blocks and windows; None makes another choice in each call.
    progress : bool
        Whether to show a progress bar.
    device : None, "auto", "cpu", "cuda", "cuda:N" or hetero.Device

    Returns
    -------
    dict
        Numbers of "blocks" searched again, out of "certified_blocks"; of "windows" checked; of
        "arguments" searched again and "cases" found there; and of "listed" cases if there is a
        list. Of a periodic search, "groups" of "certified_groups" are searched again.

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
    fewest = 1 if cases is None and not full else 0
    samples = validation.check_integer("samples", samples, fewest, MAX_SAMPLES)
    check, check_list, search_again = _KINDS[certificate["kind"]]
    certified = check(certificate)
    listed = {} if cases is None else {"listed": check_list([certified], load_cases(cases))}
    high, low = philox.key(rng)
    choice = random.Random(int(high) << 32 | int(low))
    numbers = range(certified.count)
    chosen = numbers if full else sorted(choice.sample(numbers, min(samples, len(numbers))))
    report: dict = search_again(certified, chosen, samples, choice, resolve(device), progress)
    return report | listed


def _search_blocks_again(
    certified: CertifiedBlocks,
    chosen: Sequence[int],
    samples: int,
    choice: random.Random,
    device: Device,
    progress: bool,
) -> dict[str, int]:
    """Search blocks again, and windows of each by another way.

    A block that was searched with others is searched alone: with equal cases, but other counts.
    """
    f, plans = certified.function, [certified.plans[i] for i in chosen]
    plans = [replace(plan, algorithm=plan.test) for plan in plans]
    report = {"blocks": len(plans), "certified_blocks": certified.count}
    report |= dict.fromkeys(("windows", "arguments", "cases"), 0)
    bar = open_bar("verification", count_arguments(plans), enabled=progress)
    with device.active(), bar as advance:
        searched = search_stretches(f, map(Stretch.whole, plans), device, advance)
        for number, p, block_cases in zip(chosen, plans, searched, strict=True):
            record, certified_record = block_record(p, block_cases), certified.records[number]
            is_alone = certified.plans[number].algorithm == p.algorithm
            results = slice(COLUMNS.index("subdomains" if is_alone else "cases"), None)
            if record[results] != certified_record[results]:
                raise CertificateError(
                    f"block {number} (from {format_fraction(p.block.run.argument(0))}) gave "
                    f"{record[results]}, but the certificate says {certified_record[results]}"
                )
            for _ in range(samples):
                _check_window(f, p, block_cases, choice, device)
            report["windows"] += samples
            report["arguments"] += p.block.run.count
            report["cases"] += int(block_cases.index.size)
    return report


_KINDS: dict[str, tuple[Callable, Callable, Callable]] = {
    KIND: (check_blocks, check_cases, _search_blocks_again),
    periodic_records.KIND: (check_phases, check_periodic_cases, search_again),
}
"""How each kind of certificate is checked, a list compared with some, and a part searched again."""


def verify_cases(certificates: list[dict], cases: str | Path | Iterable) -> int:
    """Compare a list of cases with several certificates of one function, without a new search.

    Returns the number of cases.

    Raises
    ------
    CertificateError
        The list does not match the certificates, or a certificate is wrong.
    """
    validation.require_iterable("certificates", certificates, "certificates")
    loaded = [load_certificate(c) for c in certificates]
    if not loaded:
        raise ValueError("certificates must hold at least one")
    kinds = {c["kind"] for c in loaded}
    if len(kinds) > 1:
        raise CertificateError("certificates of a list must all be of blocks, or all of phases")
    check, check_list, _ = _KINDS[kinds.pop()]
    count: int = check_list([*map(check, loaded)], load_cases(cases))
    return count


def _check_window(
    f: Function, p: Plan, block_cases: BlockCases, choice: random.Random, device: Device
) -> None:
    """Check every argument of a random window and compare with the cases of its block."""
    width = min(1 << WINDOW_BITS, p.block.run.count)
    begin = choice.randrange(p.block.run.count - width + 1)
    block = replace(p.block, run=p.block.run.slice(begin, begin + width))
    window = make_plan(f, block, p.bits, p.scale, "exhaustive", p.division)
    (window_cases,) = search_stretches(f, [Stretch.whole(window)], device)
    index, middle = block_cases.index, block_cases.middle
    inside = (index >= begin) & (index < begin + width)
    same_arguments = np.array_equal(index[inside] - np.uint64(begin), window_cases.index)
    if not same_arguments or not np.array_equal(middle[inside], window_cases.middle):
        start = format_fraction(p.block.run.argument(begin))
        raise CertificateError(
            f"the window of {width} arguments from {start} has {window_cases.index.size} cases, "
            f"but the search of its block gave {int(inside.sum())} there"
        )
