"""Case files, commands and ranks of lbm, for several tests."""

import os
from functools import partial
from pathlib import Path

import pytest

from commands import call_main
from lbm.__main__ import main
from lbm._commands.cases.case import read_case
from lbm.launcher import find_launcher, run_ranks

ROOT = Path(__file__).parents[2]


def read_text(folder, text):
    """Write a case file into a folder and return the case."""
    path = folder / "case.toml"
    path.write_text(text)
    return read_case(path)


call = partial(call_main, main)


def start(count, *arguments, environment=None, threads=1, timeout=200, **options):
    """Run `python ARGUMENTS` on ranks and return its exit status, output and messages.

    The test is skipped where no ranks can be started.
    """
    pytest.importorskip("mpi4py")
    try:
        find_launcher()
    except FileNotFoundError as error:
        pytest.skip(str(error))
    folders = ROOT, ROOT / "tests/support", ROOT / "tests/lbm"
    paths = [*map(str, folders), os.environ.get("PYTHONPATH", "")]
    done = run_ranks(
        count, [str(argument) for argument in arguments], threads=threads, timeout=timeout,
        environment={"PYTHONPATH": os.pathsep.join(paths)} | (environment or {}),
        capture_output=True, text=True, **options,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr
