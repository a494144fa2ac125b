"""`tmd campaign`: a function binade by binade, in runs with a budget of time that continue."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from hetero.command_line import add_common_options, check_device, print_json
from hetero.version import VERSION
from tmd._commands.searching import parse_precision

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
    """Search until the budget is spent, and say what is left."""
    from tmd._campaigns.binades import list_binades, search_binades
    from tmd._campaigns.campaign import Campaign
    from tmd._campaigns.phases import check_binades, search_parts
    from tmd.functions import load_function

    check_device(options.device)
    if not options.budget > 0:
        raise ValueError(f"--budget must be a positive number of seconds, got {options.budget}")
    name, exponents = load_function(options.function).name, options.exponents
    if exponents is not None and exponents[0] > exponents[1]:
        raise ValueError(f"--exponents must be FIRST <= LAST, got {exponents[0]} {exponents[1]}")
    if options.parts is None:
        domains = list_binades(name, options.precision, exponents)
        total, done, refused, left = search_binades(Campaign(options), domains)
    else:
        parts = options.parts
        first = check_binades(name, exponents, parts, options.bits, options.precision)
        total, done, refused, left = search_parts(Campaign(options), first, exponents[1], parts)
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
