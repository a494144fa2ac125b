"""`lbm vortices`: Taylor-Green vortices, beside their exact decay."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from hetero.command_line import ComputationFailedError
from lbm._commands import options as shared

_EXAMPLES = (("--n 64 --dtype float64", "64 x 64 x 2 cells in double precision"),)


DECAYED = 1e-4
"""Share of their first velocity below which vortices are not compared: in float32 the velocity has
errors of about 1e-7 cells/step, 2 % of that."""


def add_vortices(subcommands: Any) -> None:
    """Add the command."""
    text = "compute Taylor-Green vortices and compare them with their exact decay"
    parser = subcommands.add_parser("vortices", help=text, description=text, examples=_EXAMPLES)
    shared.add_size(parser, "along x and y (default: 32)")
    parser.add_argument(
        "--steps", type=shared.positive(int), metavar="N", help="number of steps (default: n^2 / 8)"
    )
    shared.add_flow_options(parser)
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    """Compute the flow, print its largest error, and write a VTK file."""
    from lbm.flows import vortices

    n = options.n or (16 if options.quick else 32)
    s, exact = vortices(n, **shared.simulation_options(options))
    shared.run_flow(s, options.steps or max(1, n * n // 8), options)
    about = shared.finish_flow(s, "vortices", options)
    solution, ranks = exact(s.steps)[:, *s.region.slices], s.domain.ranks
    largest = ranks.max(float(np.abs(solution).max()))
    difference = ranks.max(float(np.abs(s.u - solution).max()))
    if largest < DECAYED * ranks.max(float(np.abs(exact(0)).max())):
        raise ComputationFailedError(
            f"after {s.steps} steps the vortices have decayed to a velocity of {largest:.1e}, "
            "which is lost among rounding errors: pass fewer --steps"
        )
    error = difference / largest
    text = f"Taylor-Green {n}^2, {s.steps} steps: largest error {error:.2%} of the largest velocity"
    return shared.report_flow(options, "vortices", about | {"relative_error": error}, text)
