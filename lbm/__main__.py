"""`python -m lbm COMMAND [options]`: compute known flows, measure rates, repeat studies."""

from __future__ import annotations

import argparse
import math
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hetero
from hetero.command_line import command_parser, run_command
from hetero.measurement.studies import add_arguments, run_chosen
from lbm._model.precision import PRECISIONS, choose_precision
from lbm._model.streaming_patterns import PATTERNS
from lbm.errors import UnstableError
from lbm.study import STUDIES

OPERATIONS = (
    *("step", "read_moments", "read_populations"),
    *("write_equilibrium", "write_populations"),
)
"""Generated kernels; `lbm._engines.cuda_kernels.SOURCES` has the same keys (its import takes a
second)."""


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    parser = _parser()
    options = parser.parse_args(argv)
    return run_command(parser.prog, lambda: _run(options), MemoryError, UnstableError)


def _run(options: argparse.Namespace) -> int:
    """Run the chosen command and return its exit status."""
    if options.verb != "study":
        _choose_precision(options)
    if options.verb not in ("study", "kernel"):
        options.device = _usable_device(options)
        options.out.mkdir(parents=True, exist_ok=True)
    return _VERBS[options.verb](options)


def _usable_device(options: argparse.Namespace) -> hetero.Device:
    """Return the device of --device; "auto" is a GPU if one can be used."""
    return hetero.resolve(options.device, work=1, break_even=0)


def _choose_precision(options: argparse.Namespace) -> None:
    """Set `options.precision` from --dtype and --storage, or from the old --precision."""
    if options.precision is None:
        options.precision = choose_precision(options.dtype, options.storage)
        return
    options.precision = PRECISIONS[options.precision]
    words = " ".join(f"--{name} {value}" for name, value in options.precision.arguments.items())
    warnings.warn(
        f"--precision {options.precision.name} is now {words}; the next release removes the old "
        "option",
        DeprecationWarning,
        stacklevel=2,
    )


def _parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = command_parser("lbm", __doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    for verb, text in {
        "cavity": "compute the lid-driven cavity at Re = 1000 and compare it with the literature",
        "sphere": "compute the drag of a sphere and compare it with Schiller and Naumann",
        "terrain": "compute the wind over mountains and write a VTK file",
        "vortices": "compute Taylor-Green vortices and compare them with their exact decay",
        "bench": "measure lattice updates per second",
        "study": "measure figures 16.2 to 16.4 of Riesinger (2017), and which settings are stable",
        "kernel": "print the generated source of a GPU kernel",
    }.items():
        sub = verbs.add_parser(verb, help=text, description=text)
        if verb == "study":
            add_arguments(sub, STUDIES)
            continue
        _add_precision_arguments(sub)
        sub.add_argument(
            "--pattern", default="esoteric", choices=PATTERNS, help="streaming pattern"
        )
        if verb == "kernel":
            _add_kernel_arguments(sub)
            continue
        sub.add_argument("--device", default="auto",
                         help="auto (a GPU if usable), cpu, cuda:1")  # fmt: skip
        sub.add_argument("--out", type=Path, default=Path("out/lbm"), help="folder for files")
        sub.add_argument("--quick", action="store_true", help="use tiny sizes, for the tests")
        if verb in ("cavity", "sphere", "vortices", "bench"):
            help_size = "number of cells along the edge or the diameter"
            sub.add_argument("--size", type=_positive(int), metavar="N", help=help_size)
        if verb == "sphere":
            sub.add_argument("--reynolds", type=_positive(float), metavar="RE", default=20.0,
                             help="Reynolds number")  # fmt: skip
        if verb == "terrain":
            sub.add_argument("--steps", type=_positive(int), metavar="N", default=4000,
                             help="number of steps")  # fmt: skip
    return parser


def _add_precision_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dtype", default="float32", choices=("float32", "float64"),
                        help="type of the arithmetic (default: %(default)s)")  # fmt: skip
    parser.add_argument(
        "--storage", choices=PRECISIONS, help="type of the populations in memory (default: --dtype)"
    )
    parser.add_argument("--precision", choices=PRECISIONS, help=argparse.SUPPRESS)  # the old form


def _add_kernel_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--operation", default="step", choices=OPERATIONS, help="kernel to print")
    parser.add_argument(
        "--odd", action="store_true", help="print the kernel of odd steps, not of even ones"
    )
    parser.add_argument("--walls", default="faces", choices=("none", "faces", "solids"),
                        help="walls of the domain: none, on faces only, or solids too")  # fmt: skip


def _positive(number_type: Callable[[str], float]) -> Callable[[str], float]:
    """Return a parser of positive numbers for the command line."""

    def parse(text: str) -> float:
        value = number_type(text)
        if not 0 < value < math.inf:
            raise argparse.ArgumentTypeError(f"must be positive, got {text}")
        return value

    return parse


def _simulation_options(options: argparse.Namespace) -> dict[str, Any]:
    arguments = options.precision.arguments
    return {"pattern": options.pattern, **arguments, "device": options.device}


def _cavity(options: argparse.Namespace) -> int:
    """Compute the lid-driven cavity, print its error and write a VTK file."""
    from lbm.flows import solve_cavity

    n = options.size or (12 if options.quick else 64)
    turns = 2.0 if options.quick else 60.0
    result = solve_cavity(n, turns=turns, progress=True, **_simulation_options(options))
    print(
        f"cavity {n}^3, Re = 1000, {result.simulation.steps} steps: largest error on the centre "
        f"line {result.error:.2%} of U, lowest u {result.lowest:.4f} (reference -0.2804), "
        f"last relative change {result.change:.1e}"
    )
    print(result.simulation.write_vtk(options.out / "cavity"))
    return 0


def _sphere(options: argparse.Namespace) -> int:
    """Compute the flow around a sphere, print its drag and write a VTK file."""
    from lbm.flows import solve_sphere

    longest = 3.0 if options.quick else 60.0
    result = solve_sphere(
        options.size or (4 if options.quick else 12),
        reynolds=options.reynolds,
        longest=longest,
        progress=True,
        **_simulation_options(options),
    )
    print(
        f"sphere, Re = {options.reynolds:g}, box {result.simulation.shape}: drag coefficient "
        f"{result.drag:.4f}, Schiller-Naumann {result.correlation:.4f} ({result.error:+.1%})"
    )
    print(result.simulation.write_vtk(options.out / "sphere"))
    return 0


def _terrain(options: argparse.Namespace) -> int:
    from lbm.flows import terrain

    size: dict[str, Any] = {"height": 16, "stride": 16} if options.quick else {}
    s = terrain(**size, **_simulation_options(options)).simulation
    s.run(50 if options.quick else options.steps, progress=True)
    print(
        f"wind over terrain, {s.shape} cells, {s.steps} steps: largest |u_i| {abs(s.u).max():.4f}"
    )
    print(s.write_vtk(options.out / "terrain"))
    return 0


def _vortices(options: argparse.Namespace) -> int:
    import numpy as np

    from lbm.flows import vortices

    n = options.size or 32
    s, exact = vortices(n, **_simulation_options(options))
    s.run(n * n // 8)
    error = np.abs(s.u - exact(s.steps)).max() / np.abs(exact(s.steps)).max()
    print(f"Taylor-Green {n}^2, {s.steps} steps: largest error {error:.2%} of the largest velocity")
    return 0


def _bench(options: argparse.Namespace) -> int:
    from lbm.study.rates import measure_cavity_rate

    for n in [options.size] if options.size else [16] if options.quick else [64, 128]:
        shape, setting = (n, n, n), f"{options.precision}, {options.pattern}, {options.device}"
        rate = measure_cavity_rate(shape, options.pattern, options.precision, options.device)
        print(f"{n}^3, {setting}: {rate:.4g} GLUPS")
    return 0


def _kernel(options: argparse.Namespace) -> int:
    """Print the generated source of a GPU kernel."""
    from lbm._engines.cuda_kernels import describe_kernel

    print(
        describe_kernel(
            options.operation,
            options.pattern,
            int(options.odd),
            options.precision.name,
            options.walls,
        ),
        end="",
    )
    return 0


def _study(options: argparse.Namespace) -> int:
    if not options.what and _usable_device(options).kind == "cpu":
        options.what = [name for name in STUDIES if name != "shares"]  # it needs a GPU
    return run_chosen(options, STUDIES)


_VERBS = {
    "cavity": _cavity,
    "sphere": _sphere,
    "terrain": _terrain,
    "vortices": _vortices,
    "bench": _bench,
    "study": _study,
    "kernel": _kernel,
}


if __name__ == "__main__":
    sys.exit(main())
