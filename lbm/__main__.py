"""`python -m lbm cavity|sphere|terrain|vortices|bench|study [options]`."""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

import hetero
from hetero.command_line import command_parser, guarded
from hetero.study import add_arguments, run_chosen
from lbm.errors import UnstableError
from lbm.patterns import PATTERNS
from lbm.precision import PRECISIONS
from lbm.study import STUDIES


def main(argv: list[str] | None = None) -> int:
    parser = _parser()
    options = parser.parse_args(argv)
    return guarded(parser.prog, lambda: _run(options), MemoryError, UnstableError)


def _run(options) -> int:
    if options.verb != "study":
        options.device = hetero.resolve(options.device)
        options.out.mkdir(parents=True, exist_ok=True)
    return _VERBS[options.verb](options)


def _parser() -> argparse.ArgumentParser:
    parser = command_parser("lbm", __doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    for verb, text in {
        "cavity": "lid-driven cavity at Re = 1000 against the reference profile",
        "sphere": "drag of a sphere against Schiller and Naumann",
        "terrain": "wind over mountains, with a VTK file",
        "vortices": "Taylor-Green vortices against their exact decay",
        "bench": "lattice updates a second",
        "study": "the thesis's figures 16.2 to 16.4 on this machine, and which settings are stable",
    }.items():
        sub = verbs.add_parser(verb, help=text, description=text)
        if verb == "study":
            add_arguments(sub, STUDIES)
            continue
        sub.add_argument("--device", default="cpu", help="cpu, cuda, cuda:1")
        sub.add_argument("--out", type=Path, default=Path("out/lbm"), help="folder for files")
        sub.add_argument("--quick", action="store_true", help="tiny sizes, for the tests")
        sub.add_argument("--precision", default="float32", choices=PRECISIONS)
        sub.add_argument("--pattern", default="esoteric", choices=PATTERNS)
        if verb in ("cavity", "sphere", "vortices", "bench"):
            help_size = "cells of the edge or the diameter"
            sub.add_argument("--size", type=_positive(int), metavar="N", help=help_size)
        if verb == "sphere":
            sub.add_argument("--reynolds", type=_positive(float), metavar="RE", default=20.0)
        if verb == "terrain":
            sub.add_argument("--steps", type=_positive(int), metavar="N", default=4000)
    return parser


def _positive(kind):
    """A number of the command line that must be positive."""

    def parsed(text: str):
        value = kind(text)
        if not 0 < value < math.inf:
            raise argparse.ArgumentTypeError(f"must be positive, got {text}")
        return value

    return parsed


def _common(options) -> dict:
    return {
        "device": options.device,
        "precision": options.precision,
        "pattern": options.pattern,
    }


def _cavity(options) -> int:
    from lbm.cases import solve_cavity

    n = options.size or (12 if options.quick else 64)
    turns = 2.0 if options.quick else 60.0
    found = solve_cavity(n, turns=turns, progress=True, **_common(options))
    print(
        f"cavity {n}^3, Re = 1000, {found.simulation.steps} steps: largest error of the centre "
        f"line {found.error:.2%} of U, lowest u {found.lowest:.4f} (reference -0.2804), "
        f"last change {found.change:.1e}"
    )
    print(found.simulation.write_vtk(options.out / "cavity"))
    return 0


def _sphere(options) -> int:
    from lbm.cases import solve_sphere

    longest = 3.0 if options.quick else 60.0
    found = solve_sphere(
        options.size or (4 if options.quick else 12),
        reynolds=options.reynolds,
        longest=longest,
        progress=True,
        **_common(options),
    )
    print(
        f"sphere, Re = {options.reynolds:g}, box {found.simulation.shape}: drag coefficient "
        f"{found.drag:.4f}, Schiller-Naumann {found.correlation:.4f} ({found.error:+.1%})"
    )
    print(found.simulation.write_vtk(options.out / "sphere"))
    return 0


def _terrain(options) -> int:
    from lbm.cases import terrain

    size = {"height": 16, "stride": 16} if options.quick else {}
    s, _ = terrain(**size, **_common(options))
    s.run(50 if options.quick else options.steps, progress=True)
    print(f"wind over terrain, {s.shape} cells, {s.steps} steps: fastest {abs(s.u).max():.4f}")
    print(s.write_vtk(options.out / "terrain"))
    return 0


def _vortices(options) -> int:
    import numpy as np

    from lbm.cases import vortices

    n = options.size or 32
    s, exact = vortices(n, **_common(options))
    s.run(n * n // 8)
    error = np.abs(s.u - exact(s.steps)).max() / np.abs(exact(s.steps)).max()
    print(f"Taylor-Green {n}^2, {s.steps} steps: largest error {error:.2%} of the fastest")
    return 0


def _bench(options) -> int:
    from lbm.study.measure import glups

    for n in [options.size] if options.size else [16] if options.quick else [64, 128]:
        found = glups((n, n, n), options.device, options.precision, options.pattern)
        print(f"{n}^3, {options.precision}, {options.pattern}, {options.device}: {found:.4g} GLUPS")
    return 0


def _study(options) -> int:
    if not options.what and options.device == "cpu":
        options.what = [name for name in STUDIES if name != "shares"]  # of a CPU beside a GPU
    return run_chosen(options, STUDIES)


_VERBS = {
    "cavity": _cavity,
    "sphere": _sphere,
    "terrain": _terrain,
    "vortices": _vortices,
    "bench": _bench,
    "study": _study,
}


if __name__ == "__main__":
    sys.exit(main())
