"""`lbm run`: a flow that a case file describes."""

from __future__ import annotations

import argparse
import dataclasses
import math
import time
import warnings
from pathlib import Path
from typing import Any

from hetero.command_line import add_common_options, print_json
from hetero.version import VERSION
from lbm._commands import options as shared
from lbm._commands.cases.case import Case, read_case
from lbm._commands.cases.folder import (
    FORCES,
    prepare_folder,
    remove_later_images,
    require_unused,
    require_usable,
)
from lbm._commands.cases.outputs import Recorder
from lbm._commands.cases.simulations import make_simulation
from lbm._commands.cases.tunnels import summarize_tunnel

_EXAMPLES = (
    ("wake.toml", "compute the flow and write its files"),
    ("wake.toml --dry-run", "check the file and build the flow, but do no steps"),
    ("wake.toml --restart out/lbm/wake/checkpoint.state --steps 8000", "continue for longer"),
)

SETTLED = 0.01
"""Drift of the mean force from the third to the last quarter of a run above which the report says
that it has not settled."""


def add_run(subcommands: Any) -> None:
    """Add the command."""
    text = "compute the flow that a case file describes (docs/packages/lbm-cases.md)"
    parser = subcommands.add_parser("run", help=text, description=text, examples=_EXAMPLES)
    parser.add_argument("file", type=Path, metavar="FILE", help="a case file in TOML")
    parser.add_argument(
        "--steps", type=shared.positive(int), metavar="N",
        help="number of steps, instead of the file's",
    )  # fmt: skip
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="folder of the outputs, instead of the file's"
    )
    earlier = parser.add_mutually_exclusive_group()
    earlier.add_argument("--restart", type=Path, metavar="FILE", help="continue from a checkpoint")
    earlier.add_argument(
        "--overwrite", action="store_true", help="remove the files of an earlier run in the folder"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="check the file and build the flow; do no steps"
    )
    shared.add_placement(parser, default=None)
    add_common_options(parser)
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    """Run the case and print a summary."""
    case = _read_case(options)
    folder, is_new = case.outputs.folder, options.restart is None
    require_usable(folder)
    if is_new and not options.overwrite:
        require_unused(folder)  # before the flow is built, which may take long
    changes: dict[str, Any] = {"comm": options.comm}
    for name in ("ratio", "decomposition"):
        if (value := getattr(options, name)) is not None:
            changes[name] = value
    if options.device is not None:
        changes["device"] = shared.check_devices(options.device)
    simulation = make_simulation(case, **changes)
    if options.restart is not None:
        simulation.restore(options.restart)
    left = case.steps - simulation.steps
    if left <= 0:
        raise ValueError(
            f"--restart: {options.restart} has {simulation.steps} steps, and the case ends after "
            f"{case.steps}: pass --steps"
        )
    recorder = Recorder(case, simulation, options.restart)
    if options.dry_run:
        if case.tunnel is not None:
            print(case.tunnel)
        print(f"{case.title}: {simulation}, {left} steps to do")
        return 0
    ranks = simulation.domain.ranks
    prepare_folder(folder, ranks, is_new=is_new, overwrite=options.overwrite)
    remove_later_images(folder, ranks, simulation.steps, case.outputs.vtk)
    recorder.open()
    begin = time.perf_counter()
    try:
        simulation.run(left, callbacks=recorder.callbacks, progress=not options.quiet)
        seconds = time.perf_counter() - begin
        if not simulation.check:
            simulation.require_stable()  # once at least, or the exit code would not mean anything
        recorder.finish()
    finally:
        recorder.close()
    _report(case, simulation, seconds, recorder, options)
    return 0


def _read_case(options: argparse.Namespace) -> Case:
    """Read the case file, with what the options replace."""
    with warnings.catch_warnings():
        if shared.is_other_rank(options):
            warnings.simplefilter("ignore")
        case = read_case(options.file, options.steps)
    for key, value in case.outputs.find_unsampled(case.steps).items():
        if not shared.is_other_rank(options):
            warnings.warn(
                f"--steps: {key} = {value} of {options.file} leaves no sample in {case.steps} "
                "steps",
                stacklevel=2,
            )
    if options.out is not None:
        outputs = dataclasses.replace(case.outputs, folder=options.out)
        case = dataclasses.replace(case, outputs=outputs)
    return case


def _report(
    case: Any, simulation: Any, seconds: float, recorder: Recorder, options: argparse.Namespace
) -> None:
    """Print what was computed, at what rate, the coefficients of forces, and the files."""
    files, forces = list(recorder.files), recorder.summarize_forces()
    means = recorder.summarize_integrals()
    tunnel = {}
    if case.tunnel is not None and simulation.rank == 0 and case.outputs.forces.solids == ("body",):
        tunnel = summarize_tunnel(case.outputs.folder / FORCES, case.tunnel)
    x, y, z = simulation.shape
    about = {
        "title": case.title,
        **shared.describe_run(simulation),
        "steady": None if case.steady is None else case.steady.reached,
        "seconds": seconds,
        "files": files,
        "forces": forces,
        **{name: vars(estimate) for name, estimate in tunnel.items()},
        **{name: {**vars(mean), "unit": unit} for name, (mean, unit) in means.items()},
    }
    if options.json:
        print_json({"version": VERSION, **about})
        return
    ranks = f", {about['ranks']} ranks" if about["ranks"] > 1 else ""
    state = "" if about["steady"] is None else ", steady" if about["steady"] else ", not steady yet"
    print(
        f"{case.title}: {x} x {y} x {z} cells, {simulation.steps} steps{state}, {seconds:.1f} s on "
        f"{' + '.join(simulation.devices)}{ranks}"
    )
    for name, estimate in tunnel.items():
        if math.isnan(estimate.value):
            print(
                f"no {name} coefficient: the stream passes the domain in {case.tunnel.flush} steps"
            )
        else:
            print(f"{name} coefficient: {estimate} (area {case.tunnel.area:.4g} m^2)")
    for solid, summary in forces.items() if not tunnel else ():
        print(_describe_force(solid, summary, case.scales.length_name))
    for name, (mean, unit) in means.items():
        print(f"{name}: {mean} {unit}".rstrip())
    print(*files, sep="\n")


def _describe_force(solid: str, summary: dict[str, Any], length_name: str) -> str:
    """Return the coefficients of a solid's mean force in words, and whether it has settled."""
    if summary["coefficients"] is None:
        return f"no coefficients of {solid}: forces.csv has no row"
    numbers = ", ".join(f"{c:.4g}" for c in summary["coefficients"])
    area, strouhal, drift = summary["area"], summary["strouhal"], summary["drift"]
    text = (
        f"mean force coefficients of {solid} along x, y, z: {numbers} (area {area:.4g} "
        f"{length_name}^2)"
    )
    if strouhal is not None:
        resolution = summary["strouhal_resolution"]
        text += f"; Strouhal number {strouhal:.4g} (resolution {resolution:.1g})"
    if drift is not None and drift > SETTLED:
        text += (
            f"; the force has not settled: its mean changed by {drift:.0%} from the third to the "
            "last quarter of the run"
        )
    return text
