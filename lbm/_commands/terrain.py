"""`lbm terrain`: wind over mountains, as a file for ParaView."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from lbm._commands import options as shared

_EXAMPLES = (("--steps 8000 --device cuda", "twice the default length, on a GPU"),)


def add_terrain(subcommands: Any) -> None:
    """Add the command."""
    text = "compute the wind over mountains and write a VTK file"
    parser = subcommands.add_parser("terrain", help=text, description=text, examples=_EXAMPLES)
    parser.add_argument(
        "--steps", type=shared.positive(int), metavar="N", default=4000,
        help="number of steps (default: %(default)s)",
    )  # fmt: skip
    shared.add_flow_options(parser)
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    """Compute the flow, print the largest velocity, and write a VTK file."""
    from lbm.flows import terrain

    size: dict[str, Any] = {"height": 16, "stride": 16} if options.quick else {}
    s = terrain(**size, **shared.simulation_options(options)).simulation
    shared.run_flow(s, 50 if options.quick else options.steps, options)
    about = shared.finish_flow(s, "terrain", options)
    largest = s.domain.ranks.max(float(np.abs(s.u).max()))
    text = f"wind over terrain, {s.shape} cells, {s.steps} steps: largest |u_i| {largest:.4f}"
    return shared.report_flow(options, "terrain", about | {"largest_component": largest}, text)
