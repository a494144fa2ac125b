"""Programs that measure something on ranks of their own, and what they return."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import hetero
from hetero.command_line import ComputationFailedError
from lbm.launcher import run_ranks


def run_program(
    module: str,
    ranks: int,
    *arguments: str,
    threads: int | None = None,
    environment: Mapping[str, str] | None = None,
) -> Any:
    """Run `python -m MODULE PATH ARGUMENTS` and return what its first rank wrote to PATH.

    Standard output is no way for a result: launchers and libraries print there, too.

    Parameters
    ----------
    module : a module whose main function ends with `write_result`
    ranks : number of ranks; 1 needs no launcher
    threads : threads of each rank; by default the cores are shared out evenly, and one rank has as
        many as this process
    environment : further environment variables

    Raises
    ------
    ComputationFailedError
        If a rank fails. The message has what all ranks printed.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "result.json"
        command = ["-m", module, str(path), *arguments]
        if ranks > 1:
            done = run_ranks(
                ranks, command, threads=threads, environment=environment,
                capture_output=True, text=True,
            )  # fmt: skip
        else:
            count = str(threads or hetero.threads())
            variables = {"NUMBA_NUM_THREADS": count, "OMP_NUM_THREADS": count}
            variables |= environment or {}
            done = subprocess.run(
                [sys.executable, *command], env=os.environ | variables, check=False,
                capture_output=True, text=True,
            )  # fmt: skip
        if done.returncode or not path.exists():
            raise ComputationFailedError(
                f"{module} on {ranks} rank{'s' * (ranks > 1)} ended with code {done.returncode}:\n"
                f"{done.stdout}{done.stderr}"
            )
        return json.loads(path.read_text())


def write_result(path: str, result: Any) -> None:
    """Write the result of a program, on its first rank, to the path that it was given."""
    Path(path).write_text(json.dumps(result))
