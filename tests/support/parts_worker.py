"""Runs in parts, for the engines of tests: `python parts_worker.py ACTION OUT`.

With "pool" rank 0 of `python -m mpi4py.futures` sends parts to the others; with the other actions
all ranks call alike: "ranks" computes everything, "errors" fails on one rank at a time, "dies" and
"resumes" are two jobs with one checkpoint, the first of which is killed.
"""

import os
import signal
import sys
import traceback
from pathlib import Path

import numpy as np

import rode
import sbth
import stablegpu
import tmd

SETTINGS = {
    "t_span": (0.0, 1.0), "h": 2.0**-5, "delta": 2.0**-7, "paths": 61, "rng": 3, "save_every": 8,
    "reduction": ("paths", "moments", "peaks", rode.Quantiles(0.1, 0.5, 0.9)),
}  # fmt: skip
SEARCH = {"domain": ("1.5", "0x1.8000008p+0"), "bits": 20}


def solve(device="cpu", **engine):
    """Return the arrays of a run."""
    result = rode.solve(rode.relaxation(), "averaged-heun", device=device, **SETTINGS, **engine)
    names = ("paths", "mean", "variance", "peaks", "quantiles")
    return {name: getattr(result, name) for name in names}


def search(device="cpu", **engine):
    """Return the arguments that a search finds."""
    domain, bits = SEARCH["domain"], SEARCH["bits"]
    cases = tmd.search("exp", domain, bits=bits, device=device, **engine).cases
    return {"cases": np.array([float(case.argument) for case in cases])}


def fit(device="cpu", **engine):
    """Return the estimates of data sets of different sizes."""
    rng = np.random.default_rng(4)
    sets = [rng.standard_t(3, size) for size in (31, 60, 9, 45, 22)]
    fits = stablegpu.fit(sets, device=device, **engine)
    assert len(fits) == len(sets)
    assert fits.converged.all()
    return {"estimates": np.array([*fits.params.values(), fits.loglik]), "errors": fits.errors}


def diagonalize(device="cpu", **engine):
    """Return the eigenvalues and eigenvectors of a batch of matrices."""
    matrices = np.random.default_rng(5).standard_normal((3, 5, 6, 6))
    values, vectors = sbth.solve_batch(sbth.eigh, matrices, device=device, **engine)
    return {"eigenvalues": values, "eigenvectors": vectors}


def run(device="cpu", **engine):
    """Return the arrays of all workloads."""
    workloads = solve, search, fit, diagonalize
    return {name: x for work in workloads for name, x in work(device, **engine).items()}


def provoke_errors():
    """Yield what this rank says of errors before, in and after the parts, of one rank each."""
    from mpi4py import MPI

    from hetero.distributed.engines import Engine

    comm = MPI.COMM_WORLD
    rank, engine = comm.Get_rank(), Engine.create("cpu", None, comm)

    def before():
        with engine.raised_by_all():
            if rank == 1:
                raise MemoryError("too little here")

    def exit_in_part(part, device):
        if part == 1:
            raise SystemExit(3)

    def store(number, result):
        if rank == 0:
            raise OSError("disk full")

    for call in (
        before,
        lambda: engine.run(exit_in_part, range(3)),
        lambda: engine.run(lambda part, device: part, range(3), on_result=store),
    ):
        try:
            call()
        except BaseException as error:
            yield "".join(traceback.format_exception_only(error)).strip()


def die_in_part(number):
    """Let the process that computes a part of `rode.solve` die when it begins."""
    from rode import solving

    compute, first_path = solving.compute, number * SETTINGS["paths"] // 6

    def compute_or_die(part, device):
        if part.first_path == first_path:
            os.kill(os.getpid(), signal.SIGKILL)
        return compute(part, device)

    solving.compute = compute_or_die


def main() -> None:
    """Run on the engine that the command line names, and save what rank 0 gets."""
    from mpi4py import MPI

    engine, out = sys.argv[1], Path(sys.argv[2])
    if engine == "errors":
        out.with_suffix(f".{MPI.COMM_WORLD.Get_rank()}").write_text("\n".join(provoke_errors()))
        return
    if engine == "dies":
        die_in_part(3)
    if engine in ("dies", "resumes"):
        found = solve(comm=MPI.COMM_WORLD, parts=6, checkpoint=out.with_suffix(".parts"))
        if MPI.COMM_WORLD.Get_rank() > 0:
            return
    elif engine == "ranks":
        checkpoint = out.with_suffix(".checkpoint")
        found = solve(comm=MPI.COMM_WORLD)
        for _ in range(2):  # the second search finds all of its blocks in the checkpoint
            found |= search(comm=MPI.COMM_WORLD, checkpoint=checkpoint)
        found |= fit(comm=MPI.COMM_WORLD) | diagonalize(comm=MPI.COMM_WORLD)
        alike = MPI.COMM_WORLD.allgather({name: array.tobytes() for name, array in found.items()})
        assert all(other == alike[0] for other in alike)
        if MPI.COMM_WORLD.Get_rank() > 0:
            return
    else:
        from mpi4py.futures import MPIPoolExecutor

        with MPIPoolExecutor() as executor:
            found = run(executor=executor)
    np.savez(out, **found)


if __name__ == "__main__":
    main()
