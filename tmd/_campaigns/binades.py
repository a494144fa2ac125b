"""Campaigns by `tmd.search`, a binade of one sign after the other."""

from __future__ import annotations

import _thread
import json
import threading
import time
from fractions import Fraction
from typing import Any

from hetero.data_files.atomic_files import lock_name, write_json
from tmd._campaigns.campaign import Campaign, Progress
from tmd.errors import CheckpointError
from tmd.formats import Format, Precision
from tmd.functions import load_function


def list_binades(
    function: str, precision: Precision, exponents: list[int] | None
) -> dict[str, tuple[Fraction, Fraction]]:
    """Return the domain of each sign and exponent by its name, from exponent 0 outwards."""
    fmt, is_even_or_odd = Format.create(precision), bool(load_function(function).symmetry)
    if exponents is None:
        if fmt.argument_exponent_range is None:
            raise ValueError("--exponents FIRST LAST is needed: the precision has no limits itself")
        low, high = fmt.argument_exponent_range
        low -= fmt.argument_precision - 1
    else:
        low, high = exponents
    domains = {}
    for e in sorted(range(low, high + 1), key=abs):
        if fmt.quantum(e) is None:
            continue
        near, far = Fraction(2) ** e, Fraction(2) ** (e + 1)
        domains[f"positive-{e}"] = near, far
        if not is_even_or_odd:
            # All arguments with this exponent: the first that is smaller begins beyond the domain.
            shift = near / (1 << 80)
            domains[f"negative-{e}"] = -far + shift, -near + shift
    return domains


def search_binades(campaign: Campaign, domains: dict[str, tuple[Fraction, Fraction]]) -> Progress:
    """Search binades until the budget is spent."""
    searched = 0
    for name, domain in domains.items():
        if campaign.is_over:
            break
        if campaign.has(name) or name in _refused(campaign):
            continue
        with campaign.lock(name) as is_ours:
            if not is_ours or campaign.has(name):  # another process searches it, or has done so
                continue
            try:
                result = _search_until(campaign, name, domain)
            except CheckpointError:
                raise
            except ValueError as error:  # such as a domain where nothing has a value
                with lock_name(campaign.folder / "refused.lock", wait=True):  # others write it, too
                    refused = _refused(campaign) | {name: str(error)}
                    write_json(campaign.folder / "refused.json", refused)
                continue
            if result is None:
                break
            campaign.write(name, result.lines(), result.certificate)
            (campaign.folder / f"{name}.blocks").unlink(missing_ok=True)
            searched += result.cases.searched
            campaign.tell(f"{name}: {len(result.cases)} cases, hardness {result.hardness}")
    refused = _refused(campaign)
    done = sum(campaign.has(name) or name in refused for name in domains)
    rate = searched / (time.monotonic() - campaign.begun)
    size = 1 << (Format.create(campaign.precision).argument_precision - 1)
    left = (len(domains) - done) * size / rate if rate else None
    return Progress(len(domains), done, refused, left)


def _refused(campaign: Campaign) -> dict[str, str]:
    """Return the binades that cannot be searched, and why."""
    refused: dict[str, str] = json.loads((campaign.folder / "refused.json").read_text())
    return refused


def _search_until(campaign: Campaign, name: str, domain: tuple[Fraction, Fraction]) -> Any:
    """Return the result of a binade; None if the budget ends, when finished blocks stay stored."""
    import tmd

    deadline = _Deadline(campaign.end)
    try:
        with deadline:
            return tmd.search(
                campaign.function,
                domain,
                bits=campaign.bits,
                precision=campaign.precision,
                checkpoint=campaign.folder / f"{name}.blocks",
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
