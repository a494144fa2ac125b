"""`lbm kernel`: the generated source of a GPU kernel."""

from __future__ import annotations

import argparse
from typing import Any

from lbm._commands.options import add_lattice, add_pattern, add_precision, check_precision
from lbm.lattices import choose_lattice

OPERATIONS = (
    *("step", "step_with_viscosity", "survey", "survey_with_scalar", "read_moments"),
    *("read_populations", "write_equilibrium", "write_populations", "damp", "accelerate"),
)
"""Generated kernels; `lbm._kernels.gpu.kernels.SOURCES` has the same keys (its import takes a
second)."""

_EXAMPLES = (("--pattern aa --odd --walls solids", "an odd step of A-A between solids"),)


def add_kernel(subcommands: Any) -> None:
    """Add the command."""
    text = "print the generated source of a GPU kernel"
    parser = subcommands.add_parser("kernel", help=text, description=text, examples=_EXAMPLES)
    parser.add_argument("--operation", default="step", choices=OPERATIONS, help="kernel to print")
    parser.add_argument(
        "--odd", action="store_true", help="print the kernel of odd steps, not of even ones"
    )
    parser.add_argument(
        "--walls", default="faces", choices=("none", "faces", "solids"),
        help="walls of the domain: none, on faces only, or solids too",
    )  # fmt: skip
    add_precision(parser)
    add_lattice(parser)
    add_pattern(parser)
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    """Print the source."""
    from lbm._kernels.gpu.kernels import describe_kernel

    check_precision(options)
    variant = options.pattern, int(options.odd), options.precision.name, options.walls
    print(describe_kernel(options.operation, *variant, choose_lattice(options.lattice)), end="")
    return 0
