"""Checkpoints of runs: the finished parts of the first run, and of that for quantiles."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import numpy as np

from hetero import validation
from hetero.distributed.checkpoints import Checkpoint, fingerprint
from hetero.version import VERSION
from rode._solver.plan import Plan


class Checkpoints(NamedTuple):
    """The parts of both runs, in one folder: results, and what quantiles are chosen from."""

    results: Checkpoint
    inside: Checkpoint


def checkpoints_of(name: str, path: Any, rng: Any) -> Checkpoints:
    """Return the checkpoints in a folder; raise ValueError if there is no seed."""
    folder = validation.check_path(name, path)
    if folder.is_file():
        raise ValueError(f"{name} must be the path of a folder, but {folder} is a file")
    if rng is None:
        raise ValueError(
            f"{name} needs rng, for example rng=1: a run that continues draws the same numbers"
        )
    return Checkpoints(Checkpoint(folder, "results"), Checkpoint(folder, "inside"))


def stored_parts(checkpoints: Checkpoints) -> int | None:
    """Return the number of parts of the run in a folder, or None."""
    identity = checkpoints.results.read_identity()
    return None if identity is None else int(identity["parts"])


def identity_of(plan: Plan, parts: int) -> dict[str, Any]:
    """Return what makes the results of a run: its settings and functions, but not its devices."""
    problem = plan.problem
    functions = {
        name: fingerprint(getattr(problem, name))
        for name in (
            *("H", "B", "G", "g", "observe", "start"),
            *("first_derivative", "second_derivative"),
        )
    }
    parameters = np.ascontiguousarray(problem.parameters)
    return {
        "version": VERSION,
        "problem": problem.name,
        "outputs": list(problem.outputs),
        "process": repr(problem.process),
        "start_process": problem.start_process,
        "start_numbers": list(problem.start_numbers),
        "parameters": hashlib.blake2b(parameters.tobytes(), digest_size=16).hexdigest(),
        **{f"function {name}": text for name, text in functions.items()},
        "scheme": plan.scheme.name,
        "t0": plan.t0,
        "h": plan.h,
        "steps": plan.steps,
        "fine_steps": plan.fine_steps,
        "save_every": plan.save_every,
        "paths": plan.paths,
        "first_path": plan.first_path,
        "reductions": [repr(one) for one in plan.reductions],
        "dtype": str(plan.dtype),
        "normals": plan.normals,
        "key": [int(word) for word in plan.key],
        "parts": parts,
    }
