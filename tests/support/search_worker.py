"""A search on ranks that may die: `mpiexec -n N search_worker.py CHECKPOINT OUT BLOCKS`.

Each rank writes the numbers of the arguments of the blocks that it searches to OUT.RANK. A rank
kills itself before block number BLOCKS of its own; with a negative number no rank does. Rank 0
writes the hash of the certificate to OUT.
"""

import os
import signal
import sys
from pathlib import Path

from mpi4py import MPI

import tmd
from tmd._search import sharing

DOMAIN, BITS, PRECISION = ("2**-10", "1"), 20, 26
"""A domain with a block or more in each of ten binades, with a few arguments each."""


def search(**options):
    """Search the domain, on the CPU."""
    return tmd.search("exp", DOMAIN, bits=BITS, precision=PRECISION, device="cpu", **options)


def main(checkpoint, out, blocks):
    """Search on all ranks."""
    rank = MPI.COMM_WORLD.Get_rank()
    original, begun = sharing.search_task, Path(f"{out}.{rank}")

    def search_task(task, device):
        number = len(begun.read_text().split()) if begun.exists() else 0
        if number == blocks:
            os.kill(os.getpid(), signal.SIGKILL)
        run = task[1][0].plan.block.run
        with begun.open("a") as file:
            file.write(f"{run.argument(0)}\n")
        return original(task, device)

    sharing.search_task = search_task
    result = search(comm=MPI.COMM_WORLD, checkpoint=checkpoint)
    if rank == 0:
        Path(out).write_text(result.certificate["hash"])


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
