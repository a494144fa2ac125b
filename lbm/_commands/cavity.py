"""`lbm cavity`: the lid-driven cavity, beside published figures at Re = 1000."""

from __future__ import annotations

import argparse
from typing import Any

from lbm._commands import options as shared
from lbm.units import MAX_TAU

_EXAMPLES = (
    ("--n 64", "Re = 1000, compared with Albensoeder and Kuhlmann (2005)"),
    ("--n 96 --re 400 --dtype float64 --json", "another Reynolds number; the profile as JSON"),
    ("--n 64 --checkpoint cavity.state", "keep the state; --restart cavity.state continues"),
)

LID_SPEED = 0.1
"""Speed of the lid in cells/step."""


def add_cavity(subcommands: Any) -> None:
    """Add the command."""
    text = "compute the lid-driven cavity; at Re = 1000 compare it with the literature"
    parser = subcommands.add_parser("cavity", help=text, description=text, examples=_EXAMPLES)
    shared.add_size(parser, "along the edge (default: 64)")
    default = "the edge and the lid's speed (default: 1000, with --quick 300)"
    shared.add_reynolds(parser, None, default)
    lengths = parser.add_mutually_exclusive_group()
    lengths.add_argument(
        "--turns", type=shared.positive(float), metavar="T",
        help="longest run: edges by which the lid moves (default: 60)",
    )  # fmt: skip
    lengths.add_argument(
        "--steps", type=shared.positive(int), metavar="N", help="longest run, in steps instead"
    )
    shared.add_flow_options(parser)
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    """Compute the flow, print its profile's error, and write a VTK file."""
    from lbm.flows import solve_cavity

    n = options.n or (12 if options.quick else 64)
    if options.reynolds is None:
        options.reynolds = 300.0 if options.quick else 1000.0  # 12 cells are too few for 1000
    # A slower lid keeps the relaxation time where walls are accurate.
    speed = min(LID_SPEED, (MAX_TAU - 0.5) / 3.0 * options.reynolds / n)
    turns = options.turns or (2.0 if options.quick else 60.0)
    if options.steps:
        turns = options.steps * speed / n
    settings = shared.run_options(options)
    result = solve_cavity(n, reynolds=options.reynolds, turns=turns, speed=speed, **settings)
    about = shared.finish_flow(result.simulation, "cavity", options)
    shared.require_meaning(result, n, options.reynolds, kind="walls")
    about |= {"reynolds": options.reynolds, "largest_error": result.error,
              "lowest_u": result.lowest, "change": result.change, "steady": result.steady,
              "height": result.height, "u": result.u}  # fmt: skip
    published = options.reynolds == 1000.0
    compared = f"largest error on the centre line {result.error:.2%} of U, " if published else ""
    reference = " (reference -0.2804)" if published else ""
    text = (
        f"cavity {n}^3, Re = {options.reynolds:g}, {result.simulation.steps} steps: {compared}"
        f"lowest u {result.lowest:.4f}{reference}, last relative change {result.change:.1e}"
        f"{'' if result.steady else ', not steady yet'}"
    )
    return shared.report_flow(options, "cavity", about, text)
