"""Campaigns by `tmd.search`, a binade of one sign after the other, or many that go together."""

from __future__ import annotations

import _thread
import json
import math
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from hetero.data_files.atomic_files import lock_name, write_json
from hetero.devices import resolve
from tmd._campaigns.campaign import Campaign, Progress
from tmd._search.blocks import split_domain
from tmd._search.cases import block_record, make_certificate
from tmd._search.translates import MOST_MEMBERS
from tmd.errors import CheckpointError
from tmd.formats import Format, Precision, format_fraction
from tmd.functions import load_function
from tmd.functions.function import ball, exponent_of_ball, working_precision
from tmd.results import Cases, Result

Domain = tuple[Fraction, Fraction]


def list_binades(
    function: str, precision: Precision, exponents: list[int] | None
) -> dict[str, Domain]:
    """Return the domain of each sign and exponent by its name, from exponent 0 outwards."""
    fmt, f = Format.create(precision), load_function(function)
    if exponents is None:
        if fmt.argument_exponent_range is None:
            raise ValueError("--exponents FIRST LAST is needed: the precision has no limits itself")
        low, high = fmt.argument_exponent_range
        low -= fmt.argument_precision - 1
    else:
        low, high = exponents
    domains: dict[str, Domain] = {}
    for e in sorted(range(low, high + 1), key=abs):
        if fmt.quantum(e) is None:
            continue
        near, far = Fraction(2) ** e, Fraction(2) ** (e + 1)
        domains[f"positive-{e}"] = near, far
        if not f.symmetry and (f.domain[0] is None or -near >= f.domain[0]):
            # All arguments with this exponent: the first that is smaller begins beyond the domain.
            shift = near / (1 << 80)
            domains[f"negative-{e}"] = -far + shift, -near + shift
    return domains


def list_bands(function: str, domains: dict[str, Domain], most: int) -> list[list[str]]:
    """Return the names of the binades that one search takes at most, in their order.

    Several of them are translates of each other: at most so many successive binades of positive
    arguments whose values have one exponent and one sign.
    """
    f = load_function(function)
    if f.doubling is None:
        return [[name] for name in domains]
    bands: dict[Any, list[str]] = {}
    with working_precision(64):
        for name, (near, far) in sorted(domains.items(), key=lambda item: item[1]):
            key: Any = name
            if near > 0:
                y = f.enclosure(ball((near + far) / 2))
                key = exponent_of_ball(y), bool(y < 0)
            bands.setdefault(key, []).append(name)
    return [
        band[begin : begin + most]
        for band in sorted(bands.values(), key=lambda band: min(map([*domains].index, band)))
        for begin in range(0, len(band), most)
    ]


def search_binades(campaign: Campaign, domains: dict[str, Domain]) -> Progress:
    """Search binades until the budget is spent, first those of searches that have begun."""
    searched = 0
    device = resolve(campaign.device, work=math.inf, break_even=0)
    bands = list_bands(campaign.function, domains, MOST_MEMBERS[device.kind])
    begun = _list_begun(campaign.folder, domains)
    for band, is_begun in [*((b, True) for b in begun), *((b, False) for b in bands)]:
        if campaign.is_over:
            break
        with ExitStack() as stack:
            ours = [name for name in band if stack.enter_context(campaign.lock(name))]
            refused = _refused(campaign)
            missing = [name for name in ours if not campaign.has(name) and name not in refused]
            if is_begun and not missing and ours == band:
                (campaign.folder / _name_checkpoint(band)).unlink(missing_ok=True)
            if not missing or (is_begun and ours != band):  # other processes search them
                continue
            ends = band if is_begun else missing
            checkpoint = campaign.folder / _name_checkpoint(ends)
            domain = domains[ends[0]][0], domains[ends[-1]][1]
            try:
                result = _search_until(campaign, domain, checkpoint)
            except CheckpointError:
                raise
            except ValueError as error:  # such as a domain where nothing has a value
                with lock_name(campaign.folder / "refused.lock", wait=True):  # others write it, too
                    refused = _refused(campaign) | dict.fromkeys(missing, str(error))
                    write_json(campaign.folder / "refused.json", refused)
                continue
            if result is None:
                break
            for name, part in split_result(result, {name: domains[name] for name in missing}):
                campaign.write(name, part.lines(), part.certificate)
                campaign.tell(f"{name}: {len(part.cases)} cases, hardness {part.hardness}")
            checkpoint.unlink(missing_ok=True)
            searched += result.cases.searched
    refused = {name: why for name, why in _refused(campaign).items() if name in domains}
    done = sum(campaign.has(name) or name in refused for name in domains)
    rate = searched / (time.monotonic() - campaign.begun)
    size = 1 << (Format.create(campaign.precision).argument_precision - 1)
    left = (len(domains) - done) * size / rate if rate else None
    return Progress(len(domains), done, refused, left)


def _name_checkpoint(band: list[str]) -> str:
    """Return the name of the file that stores the finished blocks of successive binades."""
    return "..".join(dict.fromkeys((band[0], band[-1]))) + ".blocks"


def _list_begun(folder: Path, domains: dict[str, Domain]) -> list[list[str]]:
    """Return the bands whose blocks a folder stores, as far as all their binades are wanted.

    They may be others than those of `list_bands`, which depend on the exponents and on the device.
    """
    names = sorted(domains, key=domains.__getitem__)
    ends = [path.name.removesuffix(".blocks").split("..") for path in folder.glob("*.blocks")]
    return [
        names[names.index(first) : names.index(last) + 1]
        for first, last in sorted((each[0], each[-1]) for each in ends)
        if first in domains and last in domains
    ]


def _refused(campaign: Campaign) -> dict[str, str]:
    """Return the binades that cannot be searched, and why."""
    refused: dict[str, str] = json.loads((campaign.folder / "refused.json").read_text())
    return refused


def split_result(result: Result, domains: dict[str, Domain]) -> Iterator[tuple[str, Result]]:
    """Yield the results of the binades of a search, as a search of each one would return them."""
    if [*domains.values()] == [result.domain]:
        yield next(iter(domains)), result
        return
    f, fmt = load_function(result.function), result.format
    pairs = {plan.block: (plan, cases) for plan, cases in result.cases.blocks}
    keys = "function", "domain", "bits", "precision", "argument_precision", "rounding"
    question = {key: result.certificate[key] for key in keys}
    for name, domain in domains.items():
        blocks, trivial = split_domain(f, *domain, fmt, result.bits)
        own = [pairs[block] for block in blocks]
        ends = {"domain": [*map(format_fraction, domain)]}
        certificate = make_certificate(question | ends, trivial, [block_record(*p) for p in own])
        cases = Cases(f.name, fmt, own)
        yield name, replace(
            result, domain=domain, cases=cases, undecided=sorted(cases.undecided),
            certificate=certificate,
        )  # fmt: skip


def _search_until(campaign: Campaign, domain: Domain, checkpoint: Path) -> Any:
    """Return the result of successive binades; None if the budget ends.

    Finished blocks stay stored then.
    """
    import tmd

    deadline = _Deadline(campaign.end)
    try:
        with deadline:
            return tmd.search(
                campaign.function,
                domain,
                bits=campaign.bits,
                precision=campaign.precision,
                checkpoint=checkpoint,
                progress=campaign.show_progress,
                device=campaign.device,
            )
    except KeyboardInterrupt:
        if not deadline.fired:
            raise
        return None


class _Deadline:
    """Interrupts the main thread like Ctrl-C at a time."""

    def __init__(self, end: float) -> None:
        self.fired = False
        self._timer = threading.Timer(max(0.0, end - time.monotonic()), self._fire)
        self._timer.daemon = True

    def _fire(self) -> None:
        self.fired = True
        _thread.interrupt_main()

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
