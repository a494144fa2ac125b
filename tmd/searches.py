"""The search for hard-to-round cases: the public function."""

from __future__ import annotations

import math
from fractions import Fraction

from hetero import errors, progress
from hetero.devices import Device, resolve
from tmd import certificate as certificates
from tmd._tests_math import ALGORITHMS, DIVISIONS
from tmd.blocks import LARGEST, blocks
from tmd.checkpoint import Checkpoint
from tmd.decide import Found
from tmd.engine import scan
from tmd.formats import Format, exact, shown
from tmd.functions import Function, function
from tmd.plan import MOST_BITS, Plan, plan
from tmd.results import Cases, Result
from tmd.taylor import ROUNDINGS, Scale

MOST_CASES = 1 << 27
"""Expected cases that a search may have."""

BREAK_EVEN = 1 << 34
"""Arguments from which one H200 beats the CPU, the compilation of neither counted."""

TASKS = 8
"""Blocks that a worker of an executor takes at once."""


def search(
    name,
    domain,
    *,
    bits=32,
    precision=53,
    argument_precision=None,
    rounding="all",
    algorithm="auto",
    division="reciprocal",
    device=None,
    executor=None,
    progress=False,
    checkpoint=None,
) -> Result:
    """All arguments whose values lie closer than 2^-bits ulp to a rounding breakpoint.

    Parameters
    ----------
    name : {"exp", "exp2", "log", "log2", "sin", "cos", "tan"}
    domain : (lo, hi)
        Half-open: lo <= x < hi. Numbers, Fractions, Decimals, or text such as "0x1.8p+3" and
        "2**-20", each taken as it is, without rounding.
        Without 0, and without zeros and poles of the function.
    bits : int
        The distance 2^-bits, in ulps of the value.
    precision : int
        Digits of the values: 53 (binary64), 24 (binary32), or any other from 2 to 64 (without
        limits of the exponent).
    argument_precision : int, optional
        Digits of the arguments; by default `precision`. With 53 or 24 the arguments are those
        of binary64 or binary32, subnormal ones among them.
    rounding : {"all", "nearest", "directed"}
        Breakpoints: floating-point numbers and midpoints, midpoints, floating-point numbers.
    algorithm : {"auto", "clipped", "regular", "alternating", "lefevre", "swap", "exhaustive"}
        The Boolean test (paper, Algorithms 4, 2, 1, 3; "clipped" is Algorithm 4 with its last
        quotient cut), or a look at every argument by differences. All find the same cases.
    division : {"reciprocal", "float64", "integer", "hybrid", "subtractive"}
        How the test gets its quotients.
    device : None, "auto", "cpu", "cuda", "cuda:N" or hetero.Device
    executor : concurrent.futures.Executor, optional
        Takes groups of blocks: processes, or `mpi4py.futures.MPIPoolExecutor`. Processes by
        `mp_context=multiprocessing.get_context("spawn")`: GNU OpenMP ends a forked one.
    progress : bool
        Draw a bar on the terminal.
    checkpoint : path, optional
        File in which done blocks are kept. If it exists the search goes on from there.

    Returns
    -------
    Result
        `cases` (with `argument`, `kind`, `distance`, `identical_bits`), `hardness`, `undecided`,
        and a `certificate` for `tmd.verify`.

    Raises
    ------
    ValueError
        An unknown name or option; an empty or reversed domain, or one with 0, a zero or a pole in
        it; a domain in which rounding is trivial; bits that make too many cases; arguments that
        lie too far apart.
    CheckpointError
        A damaged checkpoint, or one of another search, algorithm or division. It is left as it is.
    hetero.DeviceUnavailableError

    Notes
    -----
    Complete and correct: every error is bounded (docs/tmd.md), the search keeps candidates at
    twice the distance, and each is decided by its error bound or by Arb's balls.
    """
    f, lo, hi, fmt, question = _question(
        name, domain, bits, precision, argument_precision, rounding
    )
    bits = question["bits"]
    errors.one_of("algorithm", algorithm, ("auto", *ALGORITHMS, "exhaustive"))
    errors.one_of("division", division, tuple(DIVISIONS))
    parts, trivial = blocks(f, lo, hi, fmt, LARGEST)
    arguments = sum(b.run.count for b in parts)
    _require_finishing(arguments, bits, rounding)
    device = resolve(device, work=arguments, break_even=BREAK_EVEN)
    scale = Scale.of(rounding)
    plans = [plan(f, b, bits, scale, algorithm, division) for b in parts]
    kept = None
    if checkpoint is not None:
        how = {"algorithm": algorithm, "division": division, "plans": certificates.digest(plans)}
        kept = Checkpoint(checkpoint, question | how, plans)
    found = _all(f, plans, device, executor, progress, kept)
    pairs = list(zip(plans, found, strict=True))
    rows = [certificates.row(*pair) for pair in pairs]
    undecided = [p.block.run.argument(i) for p, found_ in pairs for i in found_.undecided]
    return Result(
        name,
        (lo, hi),
        bits,
        rounding,
        fmt,
        Cases(name, fmt, pairs),
        sorted(undecided),
        certificates.make(question, trivial, rows),
    )


def _question(name, domain, bits, precision, argument_precision, rounding):
    """The function, the domain's ends, the format, and what a certificate says of the question."""
    f = function(name)
    fmt = Format.checked(precision, argument_precision)
    errors.one_of("rounding", rounding, ROUNDINGS)
    bits = errors.whole("bits", bits, 4)
    if bits > MOST_BITS:
        raise ValueError(f"bits must lie in [4, {MOST_BITS}], got {bits}")
    try:
        lo, hi = domain
    except (TypeError, ValueError):
        raise TypeError(f"domain must be a pair (lo, hi), got {domain!r}") from None
    lo, hi = exact("domain", lo), exact("domain", hi)
    _require_hard(f, lo, hi, bits, fmt)
    question = {
        "function": name,
        "domain": [shown(lo), shown(hi)],
        "bits": bits,
        "precision": fmt.precision,
        "argument_precision": fmt.arguments,
        "rounding": rounding,
    }
    return f, lo, hi, fmt, question


def _require_hard(f: Function, lo: Fraction, hi: Fraction, bits: int, fmt: Format) -> None:
    """No part of the domain is so close to 0 that rounding is trivial there."""
    c, n = f.tiny
    if n == 0 or lo == 0 or hi == 0 or not lo < hi:
        return
    nearest = min(abs(lo), abs(hi)) if lo * hi > 0 else Fraction(0)
    least = (2.0 ** -(bits + fmt.precision - 1) / c) ** (1 / n)
    if nearest and nearest < Fraction(least):
        raise ValueError(
            f"domain: next to 0 rounding {f.name} is trivial; search from 2**"
            f"{math.ceil(math.log2(least))} on, got {shown(lo)}, {shown(hi)}"
        )


def _require_finishing(arguments: int, bits: int, rounding: str) -> None:
    expected = arguments * 2.0 ** ((2 if rounding == "all" else 1) - bits)
    if expected * 2 > MOST_CASES:
        enough = math.ceil(math.log2(2 * arguments / MOST_CASES)) + (2 if rounding == "all" else 1)
        raise ValueError(
            f"bits={bits} would give about {2 * expected:.2g} cases among {arguments:.2g} "
            f"arguments, too many to keep: use bits >= {enough} or a smaller domain"
        )


def _all(f, plans, device, executor, show, kept: Checkpoint | None) -> list[Found]:
    """What each block gave, from the checkpoint or computed."""
    done = {} if kept is None else dict(kept.done)
    missing = [i for i in range(len(plans)) if i not in done]
    source = _results(f, plans, missing, device, executor)
    for _ in progress(range(len(missing)), f.name, enabled=show):
        number, found = next(source)
        done[number] = found
        if kept is not None:
            kept.add(number, found)
    return [done[i] for i in range(len(plans))]


def _results(f, plans, missing, device, executor):
    """Numbers and findings of the missing blocks, as they come."""
    if executor is None:
        for number, (_, found) in zip(missing, scan(f, [plans[i] for i in missing], device)):  # noqa: B905
            yield number, found
        return
    from concurrent.futures import as_completed

    tasks = {}
    for begin in range(0, len(missing), TASKS):
        numbers = missing[begin : begin + TASKS]
        part = [plans[i] for i in numbers]
        tasks[executor.submit(task, f.name, part, str(device))] = numbers
    try:
        for future in as_completed(tasks):
            yield from zip(tasks[future], future.result(), strict=True)
    finally:
        for future in tasks:
            future.cancel()


def task(name: str, plans: list[Plan], device: str) -> list[Found]:
    """What a worker does."""
    return [found for _, found in scan(function(name), plans, Device.parse(device).require())]
