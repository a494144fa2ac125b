"""Runs flows on GPUs of several ranks, and compares them with CPU ranks.

`mpiexec -n N gpu_rank_worker.py OUT [RATIO]`; RATIO is the share of each rank's rows on its CPU.
"""

import os
import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI

import lbm
from flows import FORMS, pair

CASES = [
    ("cavity with bodies", "esoteric", "float64"), ("cavity with bodies", "aa", "float64"),
    ("open channel", "ab", "float64"), ("periodic", "esoteric", "float16"),
]  # fmt: skip


class DeviceAware:
    """A communicator that takes buffers of GPUs, and sends copies of them by a plain one."""

    cuda_aware = True

    def __init__(self, comm):
        self.comm = comm

    def __getattr__(self, name):
        return getattr(self.comm, name)

    def Dup(self):
        return DeviceAware(self.comm.Dup())

    def Isend(self, buffer, rank, tag):
        assert hasattr(buffer, "copy_to_host"), "this buffer is not in the memory of a GPU"
        return self.comm.Isend(buffer.copy_to_host(), rank, tag)

    def Irecv(self, buffer, rank, tag):
        return Arrival(self.comm, buffer, rank, tag)


class Arrival:
    """A message that is copied to the memory of a GPU when it has arrived."""

    def __init__(self, comm, buffer, rank, tag):
        self.buffer, self.host = buffer, np.empty(buffer.shape, buffer.dtype)
        self.request = comm.Irecv(self.host, rank, tag)

    def Wait(self):
        self.request.Wait()
        self.buffer.copy_to_device(self.host)


def main(folder, ratio=0.0):
    """Compare all cases with the same ranks on the CPU."""
    comm, transport = MPI.COMM_WORLD, os.environ.get("LBM_TRANSPORT")
    errors, used = [], set()
    for flow, pattern, form in CASES:
        for grid in ((1, 1, comm.size) if ratio else "auto", (comm.size, 1, 1)):
            options = {"pattern": pattern, "decomposition": grid, **FORMS[form]}
            ranks = DeviceAware(comm) if transport == "device" else comm
            ours, _ = pair(flow, lbm.TRT(0.7), device="cuda", ratio=ratio, comm=ranks, **options)
            theirs, _ = pair(flow, lbm.TRT(0.7), device="cpu", comm=comm, **options)
            ours.run(5)
            theirs.run(5)
            used |= set(ours.transports)
            a, b = ours.gather("u"), theirs.gather("u")
            if comm.rank == 0:
                errors.append(np.abs(a - b).max() / {"float64": 1e-14, "float16": 2e-4}[form])
    if comm.rank == 0:
        np.savez(folder / "errors.npz", errors=errors, used=sorted(used))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(float, sys.argv[2:]))
