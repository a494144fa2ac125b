"""Runs the flows of `flow_features` on ranks: `mpiexec -n N feature_rank_worker.py OUT KIND`.

KIND is the kind of the devices of the ranks, "cpu" or "cuda". The first rank saves all fields.
"""

import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI

from flow_features import FEATURES


def main(folder, kind):
    """Run all flows, cut across z and across x in turn."""
    comm = MPI.COMM_WORLD
    for k, (name, run) in enumerate(FEATURES.items()):
        cut = (comm.size, 1, 1) if k % 2 else (1, 1, comm.size)
        fields = run(device=kind, comm=comm, decomposition=cut)
        if comm.rank == 0:
            np.savez(folder / f"{name}.npz", **fields)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
