"""`lbm bench`: lattice updates per second of the cavity."""

from __future__ import annotations

import argparse
from typing import Any

import hetero
from hetero.command_line import add_common_options, print_json
from hetero.version import VERSION
from lbm._commands import options as shared

_EXAMPLES = (
    ("--n 256 --device cuda", "one GPU, 256^3 cells"),
    ("--n 256 --device cuda:0,cuda:1", "two GPUs of this process"),
)


def add_bench(subcommands: Any) -> None:
    """Add the command."""
    text = "measure lattice updates per second, steps only"
    parser = subcommands.add_parser("bench", help=text, description=text, examples=_EXAMPLES)
    shared.add_size(parser, "along the edge (default: 64 and 128)")
    shared.add_simulation(parser)
    parser.add_argument("--quick", action="store_true", help="use tiny sizes, for a first try")
    add_common_options(parser)
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    """Measure the sizes and print their rates."""
    shared.check_precision(options)
    devices = shared.check_devices(options.device)
    sizes = [options.n] if options.n else [16] if options.quick else [64, 128]
    rows = [_measure(n, devices, options) for n in sizes]
    if options.json:
        print_json({"version": VERSION, "rates": rows})
        return 0
    for row in rows:
        names = options.precision, options.lattice, options.pattern, " + ".join(row["devices"])
        setting = ", ".join(map(str, names))
        ranks = f", {row['ranks']} ranks" if row["ranks"] > 1 else ""
        print(f"{row['n']}^3, {setting}{ranks}: {row['glups']:.4g} GLUPS")
    return 0


def _measure(n: int, devices: Any, options: argparse.Namespace) -> dict[str, Any]:
    """Return the rate of a cavity of n^3 cells, on all ranks and devices together."""
    from lbm._performance.cavity import measure_steps
    from lbm.flows import lid_driven_box

    if options.comm is None and not isinstance(devices, list):
        devices = hetero.resolve(devices, work=1, break_even=0)
    s = lid_driven_box((n, n, n), device=devices, check=0, **shared.layout_arguments(options))
    seconds = measure_steps(s)
    return shared.describe_run(s) | {
        "n": n,
        "dtype": options.precision.dtype_name,
        "storage": options.precision.storage_name,
        "lattice": options.lattice,
        "pattern": options.pattern,
        "seconds_per_step": seconds,
        "glups": n**3 / seconds / 1e9,
    }
