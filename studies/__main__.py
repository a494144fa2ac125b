"""Repeat experiments of the literature on this machine."""

from __future__ import annotations

import argparse
import ast
import importlib
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from hetero.command_line import check_outputs, command_parser, run_command
from hetero.devices import Device, resolve
from hetero.validation import check_integer
from studies.study import Study

STUDIES = {
    "lbm-blocks": "studies.lbm.blocks",
    "lbm-hybrid": "studies.lbm.hybrid",
    "lbm-stability": "studies.lbm.stability",
    "lbm-strong": "studies.lbm.strong",
    "lbm-weak": "studies.lbm.weak",
    "rode-normals": "studies.rode.normals",
    "rode-paths": "studies.rode.paths",
    "rode-quality": "studies.rode.quality",
    "rode-solver": "studies.rode.solver",
    "rode-variance": "studies.rode.variance",
    "sbth-comparison": "studies.sbth.comparison",
    "sbth-counts": "studies.sbth.counts",
    "sbth-operations": "studies.sbth.operations",
    "sbth-pipeline": "studies.sbth.pipeline",
    "stablegpu-accuracy": "studies.stablegpu.accuracy",
    "stablegpu-fit": "studies.stablegpu.fits",
    "stablegpu-map": "studies.stablegpu.error_maps",
    "stablegpu-random": "studies.stablegpu.random_points",
    "stablegpu-rate": "studies.stablegpu.rates",
    "stablegpu-special": "studies.stablegpu.special_functions",
    "tmd-divergence": "studies.tmd.divergence",
    "tmd-phases": "studies.tmd.phases",
    "tmd-tests": "studies.tmd.rates",
}
"""Modules of the studies, by the names that the command line takes."""

ON_GPUS_ONLY = ("lbm-hybrid",)
"""Studies that `all` leaves out on a CPU."""

_EXAMPLES = (
    ("list", "the names of all studies"),
    ("run lbm-weak lbm-strong", "scaling over the ranks and GPUs of this machine"),
    ("run stablegpu-random --processes 8", "errors at random points, by an independent oracle"),
    ("all --quick", "all of them at tiny sizes"),
)


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    parser = command_parser("studies", __doc__ or "", _EXAMPLES)
    verbs = parser.add_subparsers(required=True, metavar="run|list|all")
    run = verbs.add_parser("run", help="run the named studies")
    run.add_argument("names", nargs="+", metavar="NAME", choices=STUDIES, help="see `list`")
    everything = verbs.add_parser("all", help="run all studies that this device can run")
    everything.set_defaults(names=None)
    for command in (run, everything):
        add_options(command)
        command.set_defaults(run=run_chosen)
    verbs.add_parser("list", help="print names and subjects").set_defaults(run=print_list)
    options = parser.parse_args(argv)
    options.command = ["studies", *(sys.argv[1:] if argv is None else argv)]
    return run_command(parser.prog, lambda: options.run(options))


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a command that runs studies."""
    parser.add_argument("--device", default="auto", help="auto (a GPU if usable), cpu, cuda:1")
    parser.add_argument("--out", type=Path, default=Path("out/studies"), help="folder for results")
    parser.add_argument("--quick", action="store_true", help="use tiny sizes, for the tests")
    parser.add_argument(
        "--processes", type=int, default=1, help="processes that compute true values"
    )


def print_list(options: argparse.Namespace) -> int:
    """Print a line for each study; none is imported, because that takes seconds."""
    for name, module in STUDIES.items():
        spec = find_spec(module)
        assert spec is not None
        assert spec.origin is not None
        text = ast.get_docstring(ast.parse(Path(spec.origin).read_text(encoding="utf-8"))) or ""
        print(f"{name:<20}{text.splitlines()[0]}")
    return 0


def run_chosen(options: argparse.Namespace) -> int:
    """Run the studies that a command line names, and print the paths of their records."""
    check_integer("--processes", options.processes, 1)
    device = resolve(options.device, work=1, break_even=0)
    options.out.mkdir(parents=True, exist_ok=True)
    check_outputs(others=(options.out / "study.json",))
    study = Study(options.out, device, options.quick, options.processes)
    for path in run_studies(options.names or names_for(device), study, options.command):
        print(path)
    return 0


def names_for(device: Device) -> list[str]:
    """Return the names of all studies that a device can run."""
    return [name for name in STUDIES if device.kind == "cuda" or name not in ON_GPUS_ONLY]


def run_studies(names: Sequence[str], study: Study, command: Sequence[str]) -> list[Path]:
    """Run studies by name and return the paths of their records."""
    paths = []
    for name in names:
        result = importlib.import_module(STUDIES[name]).run(study)
        paths.append(study.write(name, result, command))
    return paths


if __name__ == "__main__":
    sys.exit(main())
