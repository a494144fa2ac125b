"""The largest ground accelerations of many earthquakes, by every engine that shares work.

python many_workers.py                                 # this machine's GPUs, or its CPU
python many_workers.py --processes 4                   # processes of this machine
python many_workers.py --dask                          # a Dask cluster of this machine
python many_workers.py --dask tcp://scheduler:8786     # one that runs already
mpiexec -n 4 python many_workers.py --ranks            # ranks of MPI; on Slurm: srun
"""

import argparse
import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import hetero
import rode


def solve(paths, **engine):
    """Return quantiles of the acceleration over time, and the peaks of all paths."""
    quake = rode.kanai_tajimi(outputs=("acceleration",))
    return rode.solve(
        quake,
        "3-rode-taylor",
        t_span=(0.0, 2.0),
        h=2.0**-6,
        sampling="exact",
        paths=paths,
        rng=1,
        save_every=32,
        reduction=("peaks", rode.Quantiles(0.5, 0.99)),
        **engine,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--paths", type=int, default=4096)
    parser.add_argument("--quick", action="store_true", help="64 paths")
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the picture")
    parser.add_argument("--processes", type=int)
    parser.add_argument("--dask", nargs="?", const="", help="address of a scheduler")
    parser.add_argument("--ranks", action="store_true")
    options = parser.parse_args()

    rank = 0
    with ExitStack() as stack:
        if options.ranks:
            from mpi4py import MPI

            engine, rank = {"comm": MPI.COMM_WORLD}, MPI.COMM_WORLD.Get_rank()
        elif options.dask is not None:
            from distributed import Client

            client = stack.enter_context(Client(options.dask or None))
            engine = {"executor": client.get_executor()}
        elif options.processes:
            context = multiprocessing.get_context("spawn")
            pool = stack.enter_context(ProcessPoolExecutor(options.processes, context))
            engine = {"executor": pool}
        else:
            gpus = [device for device in hetero.available() if device.kind == "cuda"]
            engine = {"device": gpus or "cpu"}
        start = time.perf_counter()
        paths = 64 if options.quick else options.paths
        result = solve(paths, **engine)
        seconds = time.perf_counter() - start
    if rank == 0:
        options.out.mkdir(parents=True, exist_ok=True)
        result.plot().savefig(options.out / "quakes.png", dpi=110)
        print(f"{paths} paths in {seconds:.2f} s, compilation included")
        print(f"largest of all accelerations: {result.peaks.max():.3f} m/s^2")
        median, rare = result.quantiles[:, -1, 0]
        print(f"after 2 s: median {median:.3f}, 99 % quantile {rare:.3f} m/s^2")


if __name__ == "__main__":
    main()
