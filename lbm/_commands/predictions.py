"""`lbm predict`: time of a step, efficiency and bottleneck on any number of ranks."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import hetero
from hetero.command_line import add_common_options, check_outputs, print_json, save_output
from hetero.version import VERSION
from lbm._commands import options as shared
from lbm._parallel.partition import Decomposition, choose_decomposition
from lbm._performance.description import read_machine, write_machine
from lbm._performance.machine import Machine
from lbm._performance.model import GPU_TRANSPORTS, Prediction, best_ratio, predict_step
from lbm.lattices.extent import Triple
from lbm.launcher import can_start_ranks

_EXAMPLES = (
    ("--shape 512 512 512 --ranks 1 2 4 8", "strong scaling on GPUs like the one of this machine"),
    ("--shape 64 64 64 --weak --ranks 1 2 --kind cpu", "each rank has 64^3 cells, on the CPU"),
    ("--shape 256 256 256 --save here.json", "also write the measured times to a file"),
    ("--machine cluster.json --shape 512 512 128 --weak --ranks 1 2048", "a described cluster"),
)

TRANSPORTS = "host", "peer", "device", "direct", "network"
"""Names that --transport takes."""

CPU_CELLS, GPU_CELLS = 1 << 21, 1 << 27
"""Cells of the largest boxes that are measured; larger ones are extrapolated."""


def add_predict(subcommands: Any) -> None:
    """Add the command."""
    text = "predict the time of a step on many ranks, from times measured here or described"
    parser = subcommands.add_parser("predict", help=text, description=text, examples=_EXAMPLES)
    parser.add_argument(
        "--shape", type=shared.positive(int), nargs=3, required=True, metavar=("X", "Y", "Z"),
        help="cells of the domain; with --weak, of the box of each rank",
    )  # fmt: skip
    parser.add_argument(
        "--ranks", type=shared.positive(int), nargs="+", default=[1, 2, 4, 8], metavar="N",
        help="numbers of ranks (default: 1 2 4 8)",
    )  # fmt: skip
    parser.add_argument("--weak", action="store_true", help="let the domain grow with the ranks")
    parser.add_argument(
        "--along", choices=("x", "y", "z"),
        help="cut along this axis only (default: where faces are cheapest)",
    )  # fmt: skip
    shared.add_ratio(parser)
    parser.add_argument(
        "--kind", choices=("cuda", "cpu"),
        help="device of each rank (default: cuda if the machine has a GPU)",
    )  # fmt: skip
    parser.add_argument(
        "--transport", choices=TRANSPORTS,
        help="how messages travel (default: network if the machine has one, else peer between GPUs "
        "and host between CPUs)",
    )  # fmt: skip
    parser.add_argument(
        "--machine", type=Path, metavar="FILE",
        help="description of a machine in JSON (default: measure this one)",
    )  # fmt: skip
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the measured description")
    shared.add_precision(parser)
    shared.add_pattern(parser)
    add_common_options(parser)
    parser.set_defaults(run=_run)


class Row(NamedTuple):
    """A line of the table: a number of ranks and its prediction."""

    ranks: int
    shape: Triple
    grid: Triple
    ratio: float
    prediction: Prediction
    efficiency: float

    def as_dict(self) -> dict[str, Any]:
        """Return the line as values for JSON."""
        values = self._asdict()
        prediction = values.pop("prediction")
        return values | vars(prediction) | {"glups": prediction.glups}


def _run(options: argparse.Namespace) -> int:
    """Measure or read a machine, and print the predictions."""
    if options.comm is not None:
        raise ValueError("predict measures with ranks of its own: run it without mpiexec or srun")
    shared.check_precision(options)
    machine = _machine(options)
    kind = options.kind or ("cpu" if machine.gpu is None else "cuda")
    transport = options.transport or _default_transport(machine, kind)
    if options.ratio != 0.0 and kind == "cpu":
        raise ValueError("--ratio is the share of the CPU beside a GPU: it needs --kind cuda")
    if kind == "cpu" and transport in GPU_TRANSPORTS:
        raise ValueError(f"--transport {transport} is between GPUs: it needs --kind cuda")
    rows = [_predict(machine, count, kind, transport, options) for count in options.ranks]
    if options.json:
        print_json({"version": VERSION, "machine": machine.name, "kind": kind,
                    "transport": transport, "weak": options.weak,
                    "predictions": [row.as_dict() for row in rows]})  # fmt: skip
        return 0
    print(f"{machine.name}, {options.precision}, transport {transport}")
    print(f"{'ranks':>6}  {'grid':<12}{'cells':<20}{'step, ms':>10}{'GLUPS':>10}"
          f"{'efficiency':>12}  limited by")  # fmt: skip
    for row in rows:
        grid, cells = ("x".join(map(str, three)) for three in (row.grid, row.shape))
        step, glups = row.prediction.step * 1e3, row.prediction.glups
        print(f"{row.ranks:>6}  {grid:<12}{cells:<20}{step:>10.4g}{glups:>10.5g}"
              f"{row.efficiency:>12.1%}  {row.prediction.bottleneck}")  # fmt: skip
    return 0


def _machine(options: argparse.Namespace) -> Machine:
    """Return the described machine, or measure this one and save its description."""
    itemsize = options.precision.itemsize
    if options.machine is None:
        check_outputs(others=(options.save,))
        machine = _measure(options)
        if options.save is not None:
            save_output(options.save, lambda path: write_machine(machine, path))
        return machine
    if options.save is not None:
        raise ValueError("--save writes what was measured: leave out --machine")
    if options.device is not None:
        raise ValueError("--device is what is measured: with --machine pass --kind cuda or cpu")
    machine = read_machine(options.machine)
    if machine.itemsize != itemsize:
        raise ValueError(
            f"{options.machine} holds times for populations of {machine.itemsize} bytes, but "
            f"{options.precision} has {itemsize}: pass --dtype and --storage that fit, or measure "
            "again with these"
        )
    return machine


def _measure(options: argparse.Namespace) -> Machine:
    """Measure the times of this machine on a box of about the size of those that are asked for."""
    from lbm._performance.cavity import cavity_problem
    from lbm._performance.measurement import measure_machine

    device = shared.check_devices(options.device or options.kind)
    if isinstance(device, list):
        raise ValueError(f"--device must name one device, got {options.device!r}")
    chosen = hetero.resolve(device, work=1, break_even=0)
    options.kind = options.kind or chosen.kind
    if options.kind != chosen.kind:
        raise ValueError(f"--kind {options.kind} does not go with --device {options.device}")
    shape = measured_shape(options.shape, CPU_CELLS if chosen.kind == "cpu" else GPU_CELLS)
    devices = [chosen]
    if chosen.kind == "cuda":
        devices += [d for d in hetero.available() if d.kind == "cuda" and d != chosen]
    problem = cavity_problem(shape, options.pattern, options.precision)
    is_saved = options.save is not None  # then later predictions may need all times
    links = max(options.ranks) > 1 and options.transport != "direct"
    if is_saved and not links:
        links = can_start_ranks("the description will have no links between ranks")
    cpu_beside = options.ratio != 0.0 or is_saved
    return measure_machine(problem, devices, links=links, cpu_beside=cpu_beside)


def measured_shape(shape: Triple, most: int) -> Triple:
    """Return a shape of 8 or more cells along each axis, with at most about `most` cells.

    Rows keep their length, because rates depend on it.
    """
    nx, ny, nz = (max(8, n) for n in shape)
    nx += nx % 2
    nz = max(8, min(nz, most // (nx * ny)))
    return nx, max(8, min(ny, most // (nx * nz))), nz


def _default_transport(machine: Machine, kind: str) -> str:
    if "network" in machine.links:
        return "network"
    return "peer" if kind == "cuda" else "host"


def _predict(
    machine: Machine, count: int, kind: str, transport: str, options: argparse.Namespace
) -> Row:
    """Predict a step on `count` ranks, and its efficiency against one rank."""
    x, y, z = options.shape
    if options.along is not None:
        a, b, c = (count if axis == options.along else 1 for axis in "xyz")
        grid = Decomposition((a, b, c))
    else:
        grid = choose_decomposition((x, y, z), count, options.precision.lanes)
    px, py, pz = grid.grid
    domain = (x * px, y * py, z * pz) if options.weak else (x, y, z)
    box = (x, y, z) if options.weak else (max(1, x // px), max(1, y // py), max(1, z // pz))
    ratio, ratio_alone = (
        best_ratio(machine, shape) if isinstance(options.ratio, str) else options.ratio
        for shape in (box, (x, y, z))
    )
    settings: dict[str, Any] = {"kind": kind, "transport": transport}
    prediction = predict_step(machine, domain, grid, ratio=ratio, **settings)
    one = Decomposition((1, 1, 1))
    alone = predict_step(machine, (x, y, z), one, ratio=ratio_alone, **settings).step
    efficiency = alone / prediction.step / (1 if options.weak else count)
    return Row(count, domain, grid.grid, ratio, prediction, efficiency)
