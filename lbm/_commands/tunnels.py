"""`lbm tunnel`: the drag, lift and side force of a body from its mesh."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from hetero.command_line import add_common_options, print_json
from hetero.version import VERSION
from lbm._commands.options import (
    add_collision,
    add_simulation,
    check_devices,
    check_precision,
    layout_arguments,
    positive,
)
from lbm._tunnel.placing import DIRECTIONS
from lbm._tunnel.plan import ENDS, FLUIDS, GROUNDS, MOST_PASSAGES
from lbm.boundaries import WALLS
from lbm.collisions.automatic import AUTO

_EXAMPLES = (
    ("car.stl --speed 30 --length 4", "a car of 4 m in air of 30 m/s, with 64 cells in its length"),
    ("car.stl --speed 30 --length 4 --dry-run", "what would be chosen, and why"),
    ("tree.stl --speed 10 --unit 1 --repair --minimum-thickness 1", "open sheets, one cell thick"),
    ("wing.stl --speed 10 --unit 0.001 --incidence 5 --area plan", "a wing given in millimetres"),
)


def add_tunnel(subcommands: Any) -> None:
    """Add the command."""
    text = "compute the forces on a body in a wind tunnel (docs/guides/wind-tunnel.md)"
    parser = subcommands.add_parser("tunnel", help=text, description=text, examples=_EXAMPLES)
    parser.add_argument("body", type=Path, metavar="FILE", help="a file of triangles, such as STL")
    parser.add_argument(
        "--speed", type=positive(float), required=True, metavar="U", help="of the stream in m/s"
    )
    size = parser.add_mutually_exclusive_group(required=True)
    size.add_argument("--length", type=positive(float), metavar="L", help="longest side in metres")
    size.add_argument(
        "--unit", type=positive(float), metavar="M", help="metres in a unit of the file"
    )
    parser.add_argument(
        "--cells", type=positive(int), default=64, metavar="N",
        help="cells in the longest side (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--fluid", choices=FLUIDS, default="air", help="(default: %(default)s)")
    for name, default in (("flow", "x"), ("up", "z")):
        parser.add_argument(
            f"--{name}", choices=DIRECTIONS, default=default,
            help="axis of the file (default: %(default)s; write --flow=-x)",
        )  # fmt: skip
    for name in ("incidence", "yaw"):
        parser.add_argument(f"--{name}", type=float, default=0.0, metavar="A", help="in degrees")
    parser.add_argument("--ground", choices=GROUNDS, default="none", help="(default: %(default)s)")
    parser.add_argument(
        "--clearance", type=float, default=0.0, metavar="H", help="height above the ground in m"
    )
    parser.add_argument(
        "--area", default="frontal", help="frontal, plan or m^2 (default: %(default)s)"
    )
    add_collision(parser, AUTO)
    parser.add_argument("--ends", choices=(AUTO, *ENDS), default=AUTO,
                        help="conditions of the faces (default: %(default)s)")  # fmt: skip
    parser.add_argument("--wall", choices=(AUTO, *WALLS), default=AUTO,
                        help="wall of the body (default: %(default)s)")  # fmt: skip
    parser.add_argument(
        "--repair", action="store_true", help="take a surface that is not closed as it is"
    )
    parser.add_argument(
        "--minimum-thickness", type=int, choices=(0, 1), default=0,
        help="cells of which sheets and plates consist at least (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--tolerance", type=positive(float), default=0.03,
        help="error of the drag, as a share of it, at which the run ends (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--passages", type=positive(float), default=MOST_PASSAGES, metavar="P",
        help="most passages of the body's length that are averaged (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--vtk", type=Path, metavar="FILE", help="write the last fields in SI")
    parser.add_argument("--dry-run", action="store_true", help="say what is chosen; do no steps")
    add_simulation(parser)
    add_common_options(parser)
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    """Build the tunnel, run it, and print its forces."""
    from lbm.tunnel import wind_tunnel

    area: str | float = options.area
    if area not in ("frontal", "plan"):
        try:
            area = float(area)
        except ValueError:
            raise ValueError(f"--area: must be frontal, plan or a number, got {area!r}") from None
    check_precision(options)
    names = ("speed", "length", "unit", "cells", "fluid", "flow", "up", "incidence", "yaw",
             "ground", "clearance", "collision", "ends", "wall", "repair",
             "minimum_thickness")  # fmt: skip
    arguments = {name: getattr(options, name) for name in names} | layout_arguments(options)
    tunnel = wind_tunnel(options.body, area=area, device=check_devices(options.device), **arguments)
    if not (options.json or options.quiet) or options.dry_run:
        print(tunnel)
    if options.dry_run:
        return 0
    most = options.passages
    result = tunnel.run(
        tolerance=options.tolerance, most=most, fewest=min(10.0, most), progress=not options.quiet
    )
    files = []
    if options.vtk is not None:
        files = [result.simulation.write_vtk(options.vtk, units=tunnel.plan.units)]
    if options.json:
        print_json({"version": VERSION, "flow": "tunnel", **result.summary(), "files": files})
        return 0
    print(result, *files, sep="\n")
    return 0
