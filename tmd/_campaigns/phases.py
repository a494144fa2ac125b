"""Campaigns by `tmd.search_periodic`, the parts of a binade one after the other."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from hetero.data_files.atomic_files import lock_name, write_json
from tmd._campaigns.campaign import Campaign, Progress
from tmd._certificates.periodic_records import join_certificates, list_cases
from tmd._certificates.reading import load_certificate
from tmd._periodic.groups import choose_windows
from tmd._periodic.question import PeriodicQuestion, check_question
from tmd.formats import Precision, to_fraction
from tmd.periodic_searches import search_question

Phases = tuple[Fraction, Fraction]

SECONDS_BETWEEN_STATES = 60.0
"""Seconds of a part that are lost at most if a campaign is killed."""


def check_binades(
    function: str, exponents: Sequence[int] | None, parts: int, bits: int, precision: Precision
) -> PeriodicQuestion:
    """Return what is asked of the first binade, after a check of the last, too.

    What cannot be asked would otherwise leave a folder, or end a campaign after days.
    """
    if exponents is None:
        raise ValueError("--parts needs --exponents FIRST LAST")
    if parts < 1:
        raise ValueError(f"--parts must be at least 1, got {parts}")
    phases = 0, Fraction(1, parts)
    first, _ = (check_question(function, e, phases, bits, precision, "all") for e in exponents)
    return first


def search_parts(campaign: Campaign, first: PeriodicQuestion, last: int, count: int) -> Progress:
    """Search the parts of the binades from the first to the last until the budget is spent."""
    windows = done = 0
    unfinished: list[Phases] = []
    for e in range(first.exponent, last + 1):
        if not campaign.has(str(e)):
            if campaign.is_over and not any(campaign.folder.glob(f"{e}-*")):
                unfinished.append((Fraction(0), Fraction(1)))
                continue
            searched, left = _search_binade(campaign, first, e, count)
            windows += searched
        _join_binade(campaign, e, count)
        if campaign.has(str(e)):
            done += count
        else:
            unfinished += left
            done += count - len(left)
    left_of_time = None
    if windows or not unfinished:
        rate = max(windows, 1) / (time.monotonic() - campaign.begun)
        left_of_time = _count_windows(first, unfinished) / rate
    return Progress((last - first.exponent + 1) * count, done, {}, left_of_time)


def _search_binade(
    campaign: Campaign, first: PeriodicQuestion, e: int, count: int
) -> tuple[int, list[Phases]]:
    """Search the parts of a binade; return the number of windows, and what is left of parts."""
    phases = 0, Fraction(1, count)
    question = check_question(
        campaign.function, e, phases, campaign.bits, campaign.precision, "all"
    )
    windows, unfinished = 0, []
    middles = [Fraction(2 * i + 1, 2 * count) for i in range(count)]
    # Parts with the narrowest windows first: those next to poles take many times as long as others.
    for i in sorted(
        range(count), key=lambda k: choose_windows(question, middles[k], middles[k] + 1)[0]
    ):
        part = replace(question, phases=(Fraction(i, count), Fraction(i + 1, count)))
        searched, left = 0, part.phases
        with campaign.lock(f"{e}-{i}") as is_ours:
            if is_ours:  # else another process searches it
                searched, left = _search_part(campaign, part, f"{e}-{i}")
        windows += searched
        if left[0] < left[1]:
            unfinished.append(left)
    return windows, unfinished


def _search_part(campaign: Campaign, question: PeriodicQuestion, name: str) -> tuple[int, Phases]:
    """Search a part, or go on with it; return the number of windows, and the phases that are left.

    What is searched is stored every minute as the certificate of the phases up to there.
    """
    (lo, hi), state = question.phases, campaign.folder / f"{name}.part.json"
    if campaign.has(name) or campaign.has(str(question.exponent)):
        return 0, (hi, hi)
    certificate: Any = load_certificate(state) if state.exists() else None
    if certificate is not None:
        names = question.names
        names["phases"] = [names["phases"][0], certificate["phases"][1]]
        if any(certificate[key] != value for key, value in names.items()):
            raise ValueError(f"--resume: {state} does not belong to this campaign")
        lo = to_fraction("phases", certificate["phases"][1])
    windows = 0
    while lo < hi:
        if (now := time.monotonic()) >= campaign.end:
            return windows, (lo, hi)
        result = search_question(
            replace(question, phases=(lo, hi)),
            campaign.show_progress,
            campaign.device,
            partial(_is_past, min(campaign.end, now + SECONDS_BETWEEN_STATES)),
        )
        windows, lo = windows + result.windows, result.phases[1]
        parts = [result.certificate] if certificate is None else [certificate, result.certificate]
        certificate = join_certificates(parts)
        if lo < hi:
            write_json(state, certificate)
    campaign.write(name, list_cases(certificate), certificate)
    state.unlink(missing_ok=True)
    campaign.tell(f"{name}: {len(certificate['cases'])} cases")
    return windows, (hi, hi)


def _is_past(due: float) -> bool:
    return time.monotonic() >= due


def _join_binade(campaign: Campaign, e: int, count: int) -> None:
    """Write one list and one certificate of a binade if all of its parts are done.

    Parts that a process leaves which is killed now are removed later.
    """
    folder, name = campaign.folder, str(e)
    if campaign.has(name) and not any(folder.glob(f"{e}-*")):
        return  # nothing is written to a folder where nothing is left to do
    paths = [folder / f"{e}-{i}.json" for i in range(count)]
    with lock_name(folder / f"{e}.lock", wait=True):
        if not campaign.has(name) and all(path.exists() for path in paths):
            certificate = join_certificates([load_certificate(path) for path in paths])
            campaign.write(name, list_cases(certificate), certificate)
        if campaign.has(name):
            for path in paths:
                for suffix in (".json", ".wc", ".part.json"):
                    path.with_suffix(suffix).unlink(missing_ok=True)


def _count_windows(question: PeriodicQuestion, unfinished: list[Phases]) -> float:
    """Estimate the number of windows of some phases; it is almost the same in all binades."""
    edges = np.linspace(0.0, 1.0, 257)
    middles = [Fraction(2 * i + 1, 512) for i in range(256)]
    density = [1 / (2 * float(choose_windows(question, c, c + 1)[0])) for c in middles]
    before = np.concatenate([[0.0], np.cumsum(density) / 256])
    ends = np.array([[float(end) for end in phases] for phases in unfinished]).reshape(-1, 2)
    return float(np.diff(np.interp(ends, edges, before)).sum())
