"""Options that several commands share, and how a flow is started, continued and saved."""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hetero import command_line
from hetero.version import VERSION
from lbm._io.vtk import require_pyevtk
from lbm.callbacks import Every
from lbm.collisions import DEFAULT, OPERATORS
from lbm.collisions.automatic import AUTO
from lbm.collisions.stability_map import FlowKind
from lbm.flows.results import CavityResult, SphereResult
from lbm.lattices import DEFAULT as DEFAULT_LATTICE
from lbm.lattices import LATTICES
from lbm.lattices.precision import DTYPES, choose_precision
from lbm.lattices.streaming_patterns import PATTERNS
from lbm.simulation import Simulation


def positive(number_type: Callable[[str], float]) -> Callable[[str], float]:
    """Return a parser of positive numbers for the command line."""

    def parse(text: str) -> float:
        try:
            value = number_type(text)
        except ValueError:
            value = 0
        if not 0 < value < math.inf:
            kind = "positive and an integer" if number_type is int else "positive"
            raise argparse.ArgumentTypeError(f"must be {kind}, got {text}")
        return value

    return parse


def parse_ratio(text: str) -> float | str:
    """Parse --ratio: "auto" or a number in [0, 1]."""
    if text == "auto":
        return text
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.0 <= value <= 1.0:
        raise argparse.ArgumentTypeError(f"must be auto or lie in [0, 1], got {text}")
    return value


def parse_grid(text: str) -> str | tuple[int, ...]:
    """Parse --decomposition: "auto" or three integers with commas in between."""
    if text == "auto":
        return text
    counts = text.split(",")
    if len(counts) != 3 or not all(n.isdecimal() and int(n) for n in counts):
        raise argparse.ArgumentTypeError(
            f"must be auto or three positive integers such as 1,2,2, got {text}"
        )
    return tuple(map(int, counts))


def add_precision(parser: argparse.ArgumentParser) -> None:
    """Add --dtype and --storage."""
    parser.add_argument(
        "--dtype", default="float32", choices=("float32", "float64"),
        help="type of the arithmetic (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--storage", choices=DTYPES, help="type of the populations in memory (default: --dtype)"
    )


def add_pattern(parser: argparse.ArgumentParser) -> None:
    """Add --pattern."""
    parser.add_argument(
        "--pattern", default="esoteric", choices=PATTERNS,
        help="streaming pattern (default: %(default)s)",
    )  # fmt: skip


def add_lattice(parser: argparse.ArgumentParser) -> None:
    """Add --lattice."""
    parser.add_argument(
        "--lattice", default=DEFAULT_LATTICE, choices=LATTICES,
        help="velocities of the populations (default: %(default)s)",
    )  # fmt: skip


def add_reynolds(parser: argparse.ArgumentParser, default: float | None, lengths: str) -> None:
    """Add --re; `lengths` says of what the number is, and its default."""
    parser.add_argument(
        "--re", dest="reynolds", type=positive(float), metavar="RE", default=default,
        help=f"Reynolds number of {lengths}",
    )  # fmt: skip


def add_size(parser: argparse.ArgumentParser, extent: str) -> None:
    """Add --n; `extent` says along what, and its default."""
    parser.add_argument("--n", type=positive(int), metavar="N", help=f"number of cells {extent}")


def add_ratio(parser: argparse.ArgumentParser, default: Any = 0.0) -> None:
    """Add --ratio."""
    parser.add_argument(
        "--ratio", type=parse_ratio, default=default,
        help="share of the rows that the CPU computes beside a GPU, or auto (default: 0)",
    )  # fmt: skip


def add_placement(parser: argparse.ArgumentParser, default: Any = 0.0) -> None:
    """Add --ratio and --decomposition."""
    add_ratio(parser, default)
    parser.add_argument(
        "--decomposition", type=parse_grid, default=None if default is None else "auto",
        metavar="X,Y,Z",
        help="number of boxes along x, y and z, one for each rank or device (default: auto)",
    )  # fmt: skip


def add_simulation(parser: argparse.ArgumentParser) -> None:
    """Add the options by which all simulations are stored and computed."""
    add_precision(parser)
    add_lattice(parser)
    add_pattern(parser)
    add_placement(parser)


def add_collision(parser: argparse.ArgumentParser, default: str) -> None:
    """Add --collision."""
    parser.add_argument(
        "--collision", default=default, choices=(*OPERATORS, AUTO),
        help="collision operator (default: %(default)s)",
    )  # fmt: skip


def add_flow_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of all known flows."""
    add_collision(parser, DEFAULT)
    add_simulation(parser)
    parser.add_argument(
        "--out", type=Path, default=Path("out/lbm"), metavar="DIR",
        help="folder for files (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--restart", type=Path, metavar="FILE", help="continue from a checkpoint")
    parser.add_argument(
        "--checkpoint", type=Path, metavar="FILE", help="save the state at the end to a checkpoint"
    )
    parser.add_argument(
        "--checkpoint-every", type=positive(int), metavar="STEPS",
        help="also save it during the run, whenever so many steps are done",
    )  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="use tiny sizes, for a first try")
    command_line.add_common_options(parser)


def is_other_rank(options: argparse.Namespace) -> bool:
    """Return whether this is not the first rank, which alone warns."""
    return getattr(options, "comm", None) is not None and options.comm.rank > 0


def check_precision(options: argparse.Namespace) -> None:
    """Set `options.precision` from --dtype and --storage."""
    options.precision = choose_precision(options.dtype, options.storage)


def check_devices(text: str | None) -> str | list[str] | None:
    """Return --device as an argument of `Simulation`, if its devices can be used."""
    names = [None] if text is None else text.split(",")
    for name in names:
        command_line.check_device(name)
    return text if text is None or len(names) == 1 else [name for name in names if name]


def simulation_options(options: argparse.Namespace) -> dict[str, Any]:
    """Check the options that all flows share, and return them as arguments of `Simulation`."""
    check_precision(options)
    devices = check_devices(options.device)
    if options.checkpoint_every and options.checkpoint is None:
        raise ValueError("--checkpoint-every needs --checkpoint FILE")
    require_pyevtk()
    options.out.mkdir(parents=True, exist_ok=True)
    command_line.check_outputs(others=(options.out / "flow.vti", options.checkpoint))
    options.start_time = time.perf_counter()
    return {"collision": options.collision, "device": devices, **layout_arguments(options)}


def layout_arguments(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options of `add_simulation` as arguments of `Simulation`, with the ranks."""
    names = "lattice", "pattern", "ratio", "decomposition", "comm"
    return options.precision.arguments | {name: getattr(options, name) for name in names}


def make_callbacks(options: argparse.Namespace) -> list[Every]:
    """Return the callback that writes checkpoints during the run, if they are wanted."""
    if not options.checkpoint_every:
        return []

    def save(simulation: Simulation) -> None:
        simulation.save(options.checkpoint)

    return [Every(options.checkpoint_every, save)]


def run_options(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options of flows with a result as arguments of the function that solves them."""
    settings = {"callbacks": make_callbacks(options), "progress": not options.quiet}
    return {"restart": options.restart, **settings, **simulation_options(options)}


def run_flow(simulation: Simulation, steps: int, options: argparse.Namespace) -> None:
    """Run a flow up to the step number `steps`, from a checkpoint if --restart names one."""
    if options.restart is not None:
        simulation.restore(options.restart)
        if simulation.steps >= steps:
            raise ValueError(
                f"--restart: {options.restart} has {simulation.steps} steps, and the run ends "
                f"after {steps}: increase --steps"
            )
    simulation.run(
        steps - simulation.steps, callbacks=make_callbacks(options), progress=not options.quiet
    )


def require_meaning(
    result: CavityResult | SphereResult, cells: int, reynolds: float, *, kind: FlowKind
) -> None:
    """Raise ComputationFailedError if a flow is neither steady nor among the stable ones.

    Such a flow blows up sooner or later; before that its figures look like an answer.
    """
    limit = result.simulation.collision.stability_limit(kind)
    if not result.steady and limit is not None and reynolds / cells > limit:
        raise command_line.ComputationFailedError(
            f"the flow is not steady after {result.simulation.steps} steps, and its figures mean "
            f"nothing: with {cells} cells, Re = {reynolds:g} is beyond the stable settings. Use "
            f"--n {math.ceil(reynolds / limit)} or more"
        )


def finish_flow(simulation: Simulation, name: str, options: argparse.Namespace) -> dict[str, Any]:
    """Write the files of a flow, and return what JSON output says about it."""
    seconds = time.perf_counter() - options.start_time
    outputs: dict[Path, Callable[[Path], Path]]
    outputs = {options.out / f"{name}.vti": simulation.write_vtk}
    if options.checkpoint is not None:
        outputs[options.checkpoint] = simulation.save
    if simulation.domain.ranks.size > 1:  # ranks write together, each its part of a file
        options.files = [write(path) for path, write in outputs.items()]
    else:
        options.files = [command_line.save_output(path, write) for path, write in outputs.items()]
    return describe_run(simulation) | {
        "dtype": options.precision.dtype_name,
        "storage": options.precision.storage_name,
        "seconds": seconds,
        "files": options.files,
    }


def describe_run(simulation: Simulation) -> dict[str, Any]:
    """Return what JSON output says about any simulation."""
    return {
        "shape": simulation.shape,
        "steps": simulation.steps,
        "devices": simulation.devices,
        "ranks": simulation.domain.ranks.size,
        "transports": simulation.transports,
        "ratio": simulation.ratio,
    }


def report_flow(options: argparse.Namespace, name: str, about: dict[str, Any], text: str) -> int:
    """Print what is known of a flow, as JSON or in words with its files; return the exit code."""
    if options.json:
        command_line.print_json({"version": VERSION, "flow": name, **about})
    else:
        print(text, *options.files, sep="\n")
    return 0
