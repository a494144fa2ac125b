"""`lbm sphere`: the drag of a sphere, beside the correlation of Schiller and Naumann."""

from __future__ import annotations

import argparse
from typing import Any

from lbm._commands import options as shared

_EXAMPLES = (
    ("--re 20", "12 cells per diameter, Re = 20"),
    ("--n 16 --re 100 --device cuda", "16 cells per diameter at Re = 100 on a GPU"),
)


def add_sphere(subcommands: Any) -> None:
    """Add the command."""
    text = "compute the drag of a sphere and compare it with Schiller and Naumann"
    parser = subcommands.add_parser("sphere", help=text, description=text, examples=_EXAMPLES)
    shared.add_size(parser, "along the diameter (default: 12)")
    shared.add_reynolds(parser, 20.0, "the diameter (default: 20)")
    parser.add_argument(
        "--turns", type=shared.positive(float), metavar="T",
        help="longest run: path of the stream in diameters, of which each comparison of the drag "
        "takes three (default: 60)",
    )  # fmt: skip
    shared.add_flow_options(parser)
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    """Compute the flow, print the drag, and write a VTK file."""
    from lbm.flows import solve_sphere

    longest = max(3.0, options.turns or (3.0 if options.quick else 60.0))
    n = options.n or (4 if options.quick else 12)
    settings = shared.run_options(options)
    result = solve_sphere(n, reynolds=options.reynolds, longest=longest, **settings)
    about = shared.finish_flow(result.simulation, "sphere", options)
    shared.require_meaning(result, n, options.reynolds, kind="open")
    about |= {"reynolds": options.reynolds, "drag": result.drag,
              "schiller_naumann": result.correlation, "relative_difference": result.error,
              "expected_error": result.accuracy, "diameter": result.diameter,
              "force": result.force, "steady": result.steady}  # fmt: skip
    text = (
        f"sphere, Re = {options.reynolds:g}, box {result.simulation.shape}: drag coefficient "
        f"{result.drag:.4f}, Schiller-Naumann {result.correlation:.4f} ({result.error:+.1%})"
        f"{'' if result.steady else ', not steady yet'}; {n} cells are accurate to about "
        f"{result.accuracy:.0%}"
    )
    return shared.report_flow(options, "sphere", about, text)
