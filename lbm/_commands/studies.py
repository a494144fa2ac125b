"""`lbm study`: published experiments, repeated on this machine."""

from __future__ import annotations

import argparse
from typing import Any

import hetero
from hetero.measurement.studies import add_arguments, run_chosen
from lbm.study import STUDIES

_EXAMPLES = (
    ("weak strong", "scaling over the ranks and GPUs of this machine, which it starts itself"),
    ("hybrid --device cuda", "a GPU and the CPU of its machine on one domain"),
    ("--quick", "all of them at tiny sizes"),
)


def add_study(subcommands: Any) -> None:
    """Add the command."""
    text = "repeat the measurements of Riesinger (2017, chapter 16), and find stable settings"
    parser = subcommands.add_parser("study", help=text, description=text, examples=_EXAMPLES)
    add_arguments(parser, STUDIES)
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    """Run the chosen studies; by default all that this device can do."""
    if options.comm is not None:
        raise ValueError("a study starts its ranks itself: run it without mpiexec or srun")
    device = hetero.resolve(options.device, work=1, break_even=0)
    if not options.what and device.kind == "cpu":
        options.what = [name for name in STUDIES if name != "hybrid"]  # it needs a GPU
    return run_chosen(options, STUDIES)
