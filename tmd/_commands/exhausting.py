"""`tmd exhaust`: a C function at every argument of binary32 or binary16, in all rounding modes."""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, Any

from hetero.command_line import FAILED, print_json
from hetero.command_line.parsers import add_version
from hetero.version import VERSION
from tmd._commands.checking import add_exit_zero
from tmd._commands.searching import add_domain

if TYPE_CHECKING:
    from tmd.exhaustive import ExhaustiveScore

_EXAMPLES = (
    ("exp2f 1 2 --library libm.so.6", "a binade of the C library's exp2f, in seconds"),
    ("exp2f --library libm.so.6", "all 2^32 arguments in four modes, in minutes"),
    ("exp --precision binary16 --library ./half.so --symbol my_exp", "_Float16 my_exp(_Float16)"),
)


def add_exhaust(subcommands: Any) -> None:
    """Add the command."""
    text = "try a C function at every argument of binary32 or binary16"
    exhaust = subcommands.add_parser(
        "exhaust", help=text, description=text, examples=_EXAMPLES, intermixed=True
    )
    add_domain(exhaust, optional=True)
    exhaust.add_argument(
        "--library",
        required=True,
        help="C library: a path with a slash, or a name that the loader searches for",
    )
    exhaust.add_argument("--symbol", help="name of the function in it (default: FUNCTION with f)")
    exhaust.add_argument(
        "--precision",
        default="binary32",
        choices=["binary32", "binary16"],
        help="format of argument and value (default: binary32)",
    )
    exhaust.add_argument(
        "--modes", default="all", help="nearest, up, down, zero, several with commas (default: all)"
    )
    exhaust.add_argument(
        "--examples", type=int, default=20, help="most wrong results to print (default: 20)"
    )
    add_exit_zero(exhaust)
    exhaust.add_argument("--json", action="store_true", help="print JSON")
    exhaust.add_argument("--quiet", action="store_true", help="do not show progress")
    add_version(exhaust, "tmd")
    exhaust.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    """Try a function, and print its wrong results by mode; fail if there are any."""
    import tmd
    from tmd.functions import NAMES

    if (options.lo is None) != (options.hi is None):
        raise ValueError("pass both ends LO and HI of a domain, or none for all arguments")
    name = options.function
    if name not in NAMES and name.removesuffix("f") in NAMES:
        name = name.removesuffix("f")
    score = tmd.exhaust(
        name,
        options.library,
        symbol=options.symbol,
        domain=None if options.lo is None else (options.lo, options.hi),
        precision=options.precision,
        modes=tuple(options.modes.split(",")),
        examples=options.examples,
        progress=not options.quiet,
    )
    if options.json:
        keys = ("mode", "argument", "returned", "correct")
        examples = [
            dict(zip(keys, (mode, *(v.hex() for v in values)), strict=True))
            for mode, *values in score.examples
        ]
        summary = {key: getattr(score, key) for key in
                   ("library", "symbol", "arguments", "wrong", "balls", "not_judged")}  # fmt: skip
        kinds = {mode: {"F": f, "M": m} for mode, (f, m) in score.kinds.items()}
        print_json({"version": VERSION, **summary, "kinds": kinds, "examples": examples})
    else:
        _print_score(score)
    return FAILED if any(score.wrong.values()) and not options.exit_zero else 0


def _print_score(score: ExhaustiveScore) -> None:
    """Print the counts of wrong results by mode, and examples."""
    print(f"{score.library}: {score.symbol} at {score.arguments} arguments, {score.balls} of them "
          f"decided by balls; {score.not_judged} not judged")  # fmt: skip
    for mode, count in score.wrong.items():
        near_float, near_middle = score.kinds[mode]
        print(f"  rounding {mode}: {count} wrong ({near_float} near floats, {near_middle} near "
              "midpoints)")  # fmt: skip
    for mode, x, returned, right in score.examples:
        correct = "NaN" if math.isnan(right) else right.hex()
        print(f"  {score.symbol}({x.hex()}), {mode}: {returned.hex()}, correct is {correct}")
