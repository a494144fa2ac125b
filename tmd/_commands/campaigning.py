"""`tmd campaign`: a function binade by binade, in runs with a budget of time that continue."""

from __future__ import annotations

import _thread
import argparse
import json
import threading
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from hetero.atomic_files import replace_atomically
from hetero.command_line import add_common_options, check_device, print_json
from hetero.version import VERSION
from tmd._commands.searching import parse_precision

_EXAMPLES = (
    ("exp --device cuda --budget 600 --resume exp-campaign", "ten minutes; again continues"),
    ("tanh --exponents -20 -10 --budget 60 --resume tanh-campaign", "binades 2^-20 to 2^-9"),
    ("sin --exponents 1023 1023 --parts 4096 --resume sin-campaign", "by residues modulo pi"),
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
        except ValueError as error:  # a domain that cannot be searched, such as one with no value
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
    return _report(options, len(pieces), len(done), refused, searched, time.monotonic() - begun)


def _search_parts(options: argparse.Namespace) -> int:
    """Search parts of binades by residues until the budget is spent, and say what is left."""
    import tmd
    from tmd.periodic_searches import check_question

    if options.exponents is None:
        raise ValueError("--parts needs --exponents FIRST LAST")
    if options.parts < 1:
        raise ValueError(f"--parts must be at least 1, got {options.parts}")
    low, high = options.exponents
    if low > high:
        raise ValueError(f"--exponents must be FIRST <= LAST, got {low} {high}")
    parts = [(e, i) for e in range(low, high + 1) for i in range(options.parts)]
    # Refused at once are questions that otherwise leave a folder, or end a campaign after days.
    for e in low, high:
        first = Fraction(0), Fraction(1, options.parts)
        check_question(options.function, e, first, options.bits, options.precision, "all")
    folder = _open_folder(options, options.function)
    begun, searched, done = time.monotonic(), 0, 0
    for e, i in parts:
        path = folder / f"{e}-{i}.wc"
        if path.exists():
            done += 1
            continue
        if time.monotonic() - begun >= options.budget:
            continue
        result = tmd.search_periodic(
            options.function,
            e,
            phases=(Fraction(i, options.parts), Fraction(i + 1, options.parts)),
            bits=options.bits,
            precision=options.precision,
            progress=not options.quiet,
            device=options.device,
        )
        result.write(path)
        done, searched = done + 1, searched + 1
        if not options.json:
            text = f"2^{e}, part {i}: {len(result.cases)} cases, hardness {result.hardness}"
            print(text, flush=True)
    arguments = searched * _arguments_of_piece(options)
    return _report(options, len(parts), done, {}, arguments, time.monotonic() - begun)


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
    if state.exists():
        if (stored := json.loads(state.read_text())) != question:
            raise ValueError(f"--resume: {folder} belongs to another campaign: {stored}")
        return folder
    if folder.exists() and any(folder.iterdir()):
        raise ValueError(f"--resume: {folder} is no folder of a campaign, and not empty")
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / "refused.json", {})
    _write(state, question)
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


def _arguments_of_piece(options: argparse.Namespace) -> float:
    """Return the number of arguments of a binade, or of its parts."""
    from tmd.formats import Format

    binade = 1 << (Format.create(options.precision).argument_precision - 1)
    return binade / (options.parts or 1)


def _report(
    options: argparse.Namespace,
    total: int,
    done: int,
    refused: dict[str, str],
    searched: float,
    seconds: float,
) -> int:
    """Say what is done, and estimate the time of what is left from the rate of this run."""
    rate = searched / max(seconds, 1e-9)
    left = (total - done) * _arguments_of_piece(options) / rate if rate else None
    if options.json:
        print_json({"version": VERSION, "function": options.function, "binades": total,
                    "done": done, "refused": refused, "seconds_left": left})  # fmt: skip
        return 0
    pieces = "binades" if options.parts is None else "parts of binades"
    print(f"{done} of {total} {pieces} are done, {len(refused)} of them cannot be searched")
    if done < total:
        guess = "unknown: no binade was finished" if left is None else f"at most {left:.3g} s"
        print(f"what is left at the rate of this run: {guess}; the same command continues")
    return 0
