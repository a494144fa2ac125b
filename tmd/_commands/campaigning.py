"""`tmd campaign`: a function binade by binade, in runs with a budget of time that continue."""

from __future__ import annotations

import _thread
import argparse
import functools
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hetero.atomic_files import lock_name, replace_atomically
from hetero.command_line import add_common_options, check_device, print_json
from hetero.version import VERSION
from tmd._commands.searching import parse_precision

if TYPE_CHECKING:
    from tmd._periodic.question import PeriodicQuestion

    Phases = tuple[Fraction, Fraction]

_SECONDS_BETWEEN_STATES = 60.0
"""Seconds of a part that are lost at most if a campaign is killed."""

_EXAMPLES = (
    ("exp --device cuda --budget 600 --resume exp-campaign", "ten minutes; again continues"),
    ("tanh --exponents -20 -10 --budget 60 --resume tanh-campaign", "binades 2^-20 to 2^-9"),
    ("sin --exponents 1023 1023 --parts 64 --resume sin-campaign", "by residues modulo pi"),
)


def add_campaign(subcommands: Any) -> None:
    """Add the command."""
    text = "search all binades of a function, in runs with a budget of time"
    campaign = subcommands.add_parser("campaign", help=text, description=text, examples=_EXAMPLES)
    campaign.add_argument("function", help="as in search")
    campaign.add_argument(
        "--resume", type=Path, required=True, metavar="DIR", help="folder of results and state"
    )
    campaign.add_argument(
        "--budget", type=float, default=600.0, help="seconds of this run (default: 600)"
    )
    campaign.add_argument("--bits", type=int, default=45, help="distance 2^-BITS ulp (default: 45)")
    campaign.add_argument(
        "--precision", type=parse_precision, default=53, help="as in search (default: 53)"
    )
    campaign.add_argument(
        "--exponents",
        type=int,
        nargs=2,
        metavar=("FIRST", "LAST"),
        help="exponents of the arguments (default: all of the format, from 0 outwards)",
    )
    campaign.add_argument(
        "--parts",
        type=int,
        metavar="N",
        help="search sin, cos or tan of large arguments by tmd.search_periodic, each binade in N"
        " parts",
    )
    add_common_options(campaign)
    campaign.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    """Search binades until the budget is spent, and say what is left."""
    import tmd
    from tmd.functions import load_function

    check_device(options.device)
    if not options.budget > 0:
        raise ValueError(f"--budget must be a positive number of seconds, got {options.budget}")
    f = load_function(options.function)
    if options.parts is not None:
        return _search_parts(options)
    pieces = list(_pieces(options, bool(f.symmetry)))
    folder = _open_folder(options, f.name)
    refused = json.loads((folder / "refused.json").read_text())
    end, begun, searched = time.monotonic() + options.budget, time.monotonic(), 0
    done = {name for name, _ in pieces if (folder / f"{name}.json").exists() or name in refused}
    for name, domain in pieces:
        if name in done or time.monotonic() >= end:
            continue
        with lock_name(folder / f"{name}.lock", wait=False) as is_ours:
            if not is_ours:  # another process searches it
                continue
            if (folder / f"{name}.json").exists():
                done.add(name)
                continue
            try:
                with _Deadline(end) as deadline:
                    result = tmd.search(
                        options.function,
                        domain,
                        bits=options.bits,
                        precision=options.precision,
                        checkpoint=folder / f"{name}.blocks",
                        progress=not options.quiet,
                        device=options.device,
                    )
            except KeyboardInterrupt:
                if not deadline.fired:
                    raise
                break
            except tmd.CheckpointError:
                raise
            except ValueError as error:  # such as a domain where nothing has a value
                with lock_name(folder / "refused.lock", wait=True):  # others write it, too
                    refused = json.loads((folder / "refused.json").read_text())
                    refused[name] = str(error)
                    _write(folder / "refused.json", refused)
                done.add(name)
                continue
            result.write(folder / f"{name}.wc")
            _write(folder / f"{name}.json", result.certificate)
            (folder / f"{name}.blocks").unlink(missing_ok=True)
            done.add(name)
            searched += result.cases.searched
            if not options.json:
                print(f"{name}: {len(result.cases)} cases, hardness {result.hardness}", flush=True)
    done |= {name for name, _ in pieces if (folder / f"{name}.json").exists()}  # by others
    rate = searched / (time.monotonic() - begun)
    left = (len(pieces) - len(done)) * _arguments_of_binade(options) / rate if rate else None
    return _report(options, len(pieces), len(done), refused, left)


def _search_parts(options: argparse.Namespace) -> int:
    """Search parts of binades by residues until the budget is spent, and say what is left."""
    from tmd._periodic.question import check_question

    if options.exponents is None:
        raise ValueError("--parts needs --exponents FIRST LAST")
    count = options.parts
    if count < 1:
        raise ValueError(f"--parts must be at least 1, got {count}")
    low, high = options.exponents
    if low > high:
        raise ValueError(f"--exponents must be FIRST <= LAST, got {low} {high}")
    # Refused at once are questions that otherwise leave a folder, or end a campaign after days.
    for e in low, high:
        phases: tuple = 0, Fraction(1, count)
        question = check_question(
            options.function, e, phases, options.bits, options.precision, "all"
        )
    folder = _open_folder(options, options.function)
    begun, windows, done = time.monotonic(), 0, 0
    unfinished: list[Phases] = []
    for e in range(low, high + 1):
        if (folder / f"{e}.json").exists():
            _join_binade(folder, e, count)
            done += count
            continue
        if time.monotonic() - begun >= options.budget and not any(folder.glob(f"{e}-*")):
            unfinished.append((Fraction(0), Fraction(1)))
            continue
        question = check_question(
            options.function, e, phases, options.bits, options.precision, "all"
        )
        left_of_binade = []
        for i in range(count):
            part = replace(question, phases=(Fraction(i, count), Fraction(i + 1, count)))
            searched = 0
            left: Phases | None = part.phases
            with lock_name(folder / f"{e}-{i}.lock", wait=False) as is_ours:
                if is_ours:  # else another process searches it
                    searched, left = _search_part(options, part, folder / f"{e}-{i}", begun)
            windows += searched
            if left is not None:
                left_of_binade.append(left)
        _join_binade(folder, e, count)
        if not (folder / f"{e}.json").exists():
            unfinished += left_of_binade
            done -= len(left_of_binade)
        done += count
    seconds = time.monotonic() - begun
    time_left = None
    if windows or not unfinished:
        time_left = _count_windows(question, unfinished) / max(windows, 1) * seconds
    return _report(options, (high - low + 1) * count, done, {}, time_left)


def _search_part(
    options: argparse.Namespace, question: PeriodicQuestion, path: Path, begun: float
) -> tuple[int, Phases | None]:
    """Search a part, or go on with it; return the number of windows, and the phases that are left.

    What is searched is stored every minute as the certificate of the phases up to there.
    """
    from tmd._certificates.periodic_records import join_certificates
    from tmd._certificates.reading import load_certificate
    from tmd.formats import to_fraction
    from tmd.periodic_searches import search_question

    (lo, hi), state = question.phases, path.with_name(f"{path.name}.part.json")
    if any(path.with_name(f"{name}.json").exists() for name in (path.name, question.exponent)):
        return 0, None
    certificate: Any = load_certificate(state) if state.exists() else None
    windows = 0
    if certificate is not None:
        names = question.names
        names["phases"] = [names["phases"][0], certificate["phases"][1]]
        if any(certificate[key] != value for key, value in names.items()):
            raise ValueError(f"--resume: {state} does not belong to this campaign")
        lo = to_fraction("phases", certificate["phases"][1])
    end = begun + options.budget
    while lo < hi:
        if (now := time.monotonic()) >= end:
            return windows, (lo, hi)
        due = min(end, now + _SECONDS_BETWEEN_STATES)
        remainder = replace(question, phases=(lo, hi))
        is_due = functools.partial(_is_past, due)
        result = search_question(remainder, not options.quiet, options.device, is_due)
        windows, lo = windows + result.windows, result.phases[1]
        parts = [result.certificate] if certificate is None else [certificate, result.certificate]
        certificate = join_certificates(parts)
        if lo < hi:
            _write(state, certificate)
    _write_certified(path, certificate)
    state.unlink(missing_ok=True)
    if not options.json:
        print(f"{path.name}: {len(certificate['cases'])} cases", flush=True)
    return windows, None


def _is_past(due: float) -> bool:
    return time.monotonic() >= due


def _join_binade(folder: Path, e: int, count: int) -> None:
    """Write one list and one certificate of a binade if all of its parts are done.

    Parts that a process leaves which is killed now are removed later.
    """
    from tmd._certificates.periodic_records import join_certificates
    from tmd._certificates.reading import load_certificate

    paths, whole = [folder / f"{e}-{i}.json" for i in range(count)], folder / f"{e}.json"
    if whole.exists() and not any(folder.glob(f"{e}-*")):
        return  # nothing is written to a folder where nothing is left to do
    with lock_name(folder / f"{e}.lock", wait=True):
        if not whole.exists() and all(path.exists() for path in paths):
            parts = [load_certificate(path) for path in paths]
            _write_certified(folder / str(e), join_certificates(parts))
        if whole.exists():
            for path in paths:
                for suffix in (".json", ".wc", ".part.json"):
                    path.with_suffix(suffix).unlink(missing_ok=True)


def _write_certified(path: Path, certificate: dict) -> None:
    """Write the list of a certificate, and then the certificate, which says that it is complete."""
    from tmd._certificates.periodic_records import list_cases

    with replace_atomically(path.with_suffix(".wc")) as part:
        part.write_text("\n".join(list_cases(certificate)) + "\n")
    _write(path.with_suffix(".json"), certificate)


def _count_windows(question: PeriodicQuestion, unfinished: list[Phases]) -> float:
    """Estimate the number of windows of some phases; it is almost the same in all binades."""
    import numpy as np

    from tmd._periodic.groups import choose_windows

    edges = np.linspace(0.0, 1.0, 257)
    middles = [Fraction(2 * i + 1, 512) for i in range(256)]
    density = [1 / (2 * float(choose_windows(question, c, c + 1)[0])) for c in middles]
    before = np.concatenate([[0.0], np.cumsum(density) / 256])
    ends = np.array([[float(end) for end in phases] for phases in unfinished]).reshape(-1, 2)
    return float(np.diff(np.interp(ends, edges, before)).sum())


def _pieces(options: argparse.Namespace, once: bool) -> Iterator[tuple[str, tuple]]:
    """Yield a name and a domain for each sign and exponent, from exponent 0 outwards."""
    from tmd.formats import Format

    fmt = Format.create(options.precision)
    ends = options.exponents
    if ends is None:
        if fmt.argument_exponent_range is None:
            raise ValueError("--exponents FIRST LAST is needed: the precision has no limits itself")
        low, high = fmt.argument_exponent_range
        ends = low - fmt.argument_precision + 1, high
    if ends[0] > ends[1]:
        raise ValueError(f"--exponents must be FIRST <= LAST, got {ends[0]} {ends[1]}")
    for e in sorted(range(ends[0], ends[1] + 1), key=abs):
        if fmt.quantum(e) is None:
            continue
        near, far = Fraction(2) ** e, Fraction(2) ** (e + 1)
        yield f"positive-{e}", (near, far)
        if not once:
            # All arguments with this exponent: the first that is smaller begins beyond the domain.
            shift = near / (1 << 80)
            yield f"negative-{e}", (-far + shift, -near + shift)


def _open_folder(options: argparse.Namespace, name: str) -> Path:
    """Return the folder of a campaign, new or of the same question."""
    folder: Path = options.resume
    precision = options.precision
    precision = list(precision) if isinstance(precision, tuple) else precision
    question = {"function": name, "bits": options.bits, "precision": precision}
    if options.parts is not None:
        question["parts"] = options.parts
    state = folder / "campaign.json"
    if not state.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with lock_name(lock := folder / "campaign.lock", wait=True):  # others may begin it now
            if not state.exists():
                if any(path != lock for path in folder.iterdir()):
                    raise ValueError(
                        f"--resume: {folder} is no folder of a campaign, and not empty"
                    )
                _write(folder / "refused.json", {})
                _write(state, question)
    if (stored := json.loads(state.read_text())) != question:
        raise ValueError(f"--resume: {folder} belongs to another campaign: {stored}")
    return folder


def _write(path: Path, value: Any) -> None:
    with replace_atomically(path) as part:
        part.write_text(json.dumps(value) + "\n")


class _Deadline:
    """Interrupts the main thread like Ctrl-C at a time, so that finished blocks stay stored."""

    def __init__(self, end: float) -> None:
        self.fired = False
        self._timer = threading.Timer(max(0.0, end - time.monotonic()), self._fire)
        self._timer.daemon = True

    def _fire(self) -> None:
        self.fired = True
        _thread.interrupt_main()

    def __enter__(self) -> _Deadline:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()


def _arguments_of_binade(options: argparse.Namespace) -> int:
    from tmd.formats import Format

    return 1 << (Format.create(options.precision).argument_precision - 1)


def _report(
    options: argparse.Namespace, total: int, done: int, refused: dict[str, str], left: float | None
) -> int:
    """Say what is done, and the estimated seconds of what is left at the rate of this run."""
    if options.json:
        print_json({"version": VERSION, "function": options.function, "binades": total,
                    "done": done, "refused": refused, "seconds_left": left})  # fmt: skip
        return 0
    pieces = "binades" if options.parts is None else "parts of binades"
    print(f"{done} of {total} {pieces} are done, {len(refused)} of them cannot be searched")
    if done < total:
        guess = "unknown: nothing was finished" if left is None else f"about {left:.3g} s"
        print(f"what is left at the rate of this run: {guess}; the same command continues")
    return 0
