"""Compute flows by the lattice Boltzmann method, on one device or many.

A launcher of MPI starts several ranks: mpiexec -n 4 lbm cavity --n 128
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from hetero.command_line import MISTAKEN, ComputationFailedError, command_parser
from lbm._commands.case_files import add_run
from lbm._commands.cavity import add_cavity
from lbm._commands.kernels import add_kernel
from lbm._commands.predictions import add_predict
from lbm._commands.ranks import run_on_ranks, silenced
from lbm._commands.rates import add_bench
from lbm._commands.sphere import add_sphere
from lbm._commands.terrain import add_terrain
from lbm._commands.tunnels import add_tunnel
from lbm._commands.vortices import add_vortices
from lbm.errors import CheckpointError, UnstableError
from lbm.launcher import world

_EXAMPLES = (
    ("run wake.toml", "the flow that a case file describes"),
    ("cavity --re 1000 --n 64", "a box whose lid moves, compared with the literature"),
    ("bench --n 128", "how many cells are updated per second"),
    ("predict --shape 256 256 256", "what to expect of several ranks"),
)

_COMMANDS: dict[str, Callable[[Any], None]] = {
    "run": add_run,
    "cavity": add_cavity,
    "sphere": add_sphere,
    "terrain": add_terrain,
    "tunnel": add_tunnel,
    "vortices": add_vortices,
    "bench": add_bench,
    "predict": add_predict,
    "kernel": add_kernel,
}


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return the exit code; on several ranks all run it together."""
    parser = command_parser("lbm", __doc__ or "", _EXAMPLES)
    try:
        comm = world()
    except (ImportError, RuntimeError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return MISTAKEN
    subcommands = parser.add_subparsers(required=True, metavar="|".join(_COMMANDS))
    for add in _COMMANDS.values():
        add(subcommands)
    with silenced(comm is not None and comm.rank > 0, errors=True):
        options = parser.parse_args(argv)
    options.comm = comm

    def run() -> int:
        try:
            code: int = options.run(options)
        except UnstableError as error:
            raise ComputationFailedError(str(error)) from error
        return code

    return run_on_ranks(parser.prog, run, comm, CheckpointError)


if __name__ == "__main__":
    sys.exit(main())
