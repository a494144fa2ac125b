"""Compute eigenvalues of symmetric matrices, banded or full."""

from __future__ import annotations

import argparse
import sys

from hetero.command_line import command_parser, run_command
from sbth._commands.eigenvalues import add_eigenvalues
from sbth._commands.eigenvectors import add_eigenvectors
from sbth._commands.few_eigenpairs import add_few_eigenpairs

_EXAMPLES = (
    ("eigvals matrix.mtx", "all eigenvalues of a matrix, one a line"),
    ("eigvals matrix.mtx --index 0 9 --json", "the ten smallest, as JSON"),
    ("eigh matrix.mtx --vectors vectors.npy", "eigenvectors, too"),
    ("eigsh matrix.mtx -k 10 --which SA", "the ten smallest of a large sparse matrix"),
)


_SPEED = """\
Where sbth is faster than LAPACK (benchmarks/records/sbth, without the first call, which compiles):
  one thread of an AMD EPYC   band matrices: yes at n = 4000, no at n = 500; full matrices are
                              LAPACK's there
  H200                        band matrices: yes at n = 500 and more; full ones: yes at n = 5000
It was measured on those machines, not on this one: python -m benchmarks run sbth measures it here.
"""


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    parser = command_parser("sbth", f"{__doc__}\n{_SPEED}", _EXAMPLES)
    subcommands = parser.add_subparsers(required=True, metavar="eigvals|eigh|eigsh|kernel")
    add_eigenvalues(subcommands)
    add_eigenvectors(subcommands)
    add_few_eigenpairs(subcommands)
    _add_kernel(subcommands)
    options = parser.parse_args(argv)
    return run_command(parser.prog, lambda: options.run(options))


def _add_kernel(subcommands: argparse._SubParsersAction) -> None:
    """Add the command that prints kernels."""
    from sbth._reduction.bulge_chasing.cuda_source import TILES

    text = "print the generated source of the bulge-chasing kernels"
    kernel = subcommands.add_parser("kernel", help=text, description=text)
    kernel.add_argument("--tile", type=int, default=TILES[0], choices=TILES,
                        help="rows of the blocks that a kernel works on")  # fmt: skip
    kernel.set_defaults(run=_kernel)


def _kernel(options: argparse.Namespace) -> int:
    """Print the source of the kernels."""
    from sbth._reduction.bulge_chasing.cuda_source import describe_kernel

    print(describe_kernel(options.tile), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
