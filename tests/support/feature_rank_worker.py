"""Runs the flows of `flow_features` on ranks: `mpiexec -n N feature_rank_worker.py OUT KIND NAMES`.

KIND is the kind of the devices of the ranks, "cpu" or "cuda". The first rank saves all fields, and
all of them a checkpoint of each flow.
"""

import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI

from flow_features import BY_MOMENTS, FEATURES, STEPS, fields_of


def main(folder, kind, *names):
    """Run flows, cut across z and across x in turn."""
    comm = MPI.COMM_WORLD
    for k, name in enumerate(names):
        cut = (comm.size, 1, 1) if k % 2 and name in FEATURES else (1, 1, comm.size)
        s = (FEATURES | BY_MOMENTS)[name](device=kind, comm=comm, decomposition=cut).run(STEPS)
        s.save(folder / f"{name}.state")
        fields = fields_of(s)
        if comm.rank == 0:
            np.savez(folder / f"{name}.npz", **fields)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
