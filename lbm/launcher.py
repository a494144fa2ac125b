"""Starting several ranks of a program from Python, where no launcher has done so."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lbm._parallel.ranks.abort import abort_all_ranks_on_errors
from lbm._parallel.ranks.communication import usable_cores

SIZE_VARIABLES = ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MPI_LOCALNRANKS", "SLURM_STEP_NUM_TASKS")
"""Environment variables in which launchers give the number of ranks; the last is that of `srun`.

Slurm sets SLURM_NTASKS in batch scripts, too, where a program without `srun` is a process alone.
"""


def world() -> Any:
    """Return MPI.COMM_WORLD if a launcher started several ranks, and None otherwise.

    From then on an exception that a rank does not handle ends all of them.

    Raises
    ------
    ImportError
        If there are several ranks, but mpi4py is not installed.
    RuntimeError
        If mpi4py was built for another MPI than that of the launcher: each process would compute
        the whole domain and write the same files.
    """
    texts = {name: os.environ.get(name, "") for name in SIZE_VARIABLES}
    counts = {name: int(text) for name, text in texts.items() if text.isdecimal()}
    if max(counts.values(), default=1) == 1:
        return None
    try:
        from mpi4py import MPI
    except ImportError:
        raise ImportError(
            "this program was started with several ranks, which need mpi4py: "
            "pip install 'heterokit[mpi]'"
        ) from None
    if MPI.COMM_WORLD.size == 1:
        # The innermost launcher counts: `mpiexec -n 1` in a step of Slurm is a process alone.
        name, count = next(iter(counts.items()))
        if count == 1:
            return None
        raise RuntimeError(
            f"a launcher started {count} ranks ({name}), but mpi4py, which uses "
            f"{MPI.get_vendor()[0]}, knows of only one: start the program by the launcher of this "
            "MPI, or build mpi4py for the MPI of the launcher "
            "(pip install --no-binary mpi4py mpi4py)"
        )
    abort_all_ranks_on_errors()
    return MPI.COMM_WORLD


def find_launcher() -> str:
    """Return the path of `mpiexec`, that of this Python environment if it has one.

    Raises
    ------
    FileNotFoundError
        If there is none.
    """
    beside_python = Path(sys.executable).with_name("mpiexec")
    launcher = str(beside_python) if beside_python.exists() else shutil.which("mpiexec")
    if launcher is None:
        raise FileNotFoundError(
            "no mpiexec was found: pip install 'heterokit[mpi]', or load your cluster's MPI"
        )
    return launcher


def can_start_ranks(consequence: str) -> bool:
    """Return whether several ranks can be started; if not, print why, and what that means here.

    The text goes to standard error, because standard output may be read by a program.
    """
    try:
        find_launcher()
    except FileNotFoundError as error:
        print(f"{consequence}: {error}", file=sys.stderr)
        return False
    return True


def run_ranks(
    count: int,
    arguments: Sequence[str],
    *,
    threads: int | None = None,
    environment: Mapping[str, str] | None = None,
    **options: Any,
) -> subprocess.CompletedProcess:
    """Run `python ARGUMENTS` on `count` ranks of this machine and wait for them.

    Parameters
    ----------
    count : number of ranks
    arguments : what follows `python`, such as ["-m", "lbm", "cavity"]
    threads : threads of each rank; by default the cores are shared out evenly
    environment : further environment variables
    options : those of `subprocess.run`
    """
    if threads is None:
        threads = max(1, len(usable_cores()) // count)
    variables = {
        "NUMBA_NUM_THREADS": str(threads),
        "OMP_NUM_THREADS": str(threads),
        # Open MPI refuses more ranks than cores, and root, unless it is told otherwise.
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
        # Open MPI would bind each of few ranks to a single core, with all of its threads.
        "OMPI_MCA_hwloc_base_binding_policy": "none",
        "PRTE_MCA_hwloc_default_binding_policy": "none",
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
    command = [find_launcher(), "-n", str(count), sys.executable, *arguments]
    return subprocess.run(
        command, env=os.environ | variables | dict(environment or {}), check=False, **options
    )
