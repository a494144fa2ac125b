"""Checkpoints of runs: the finished parts of the first run, and of that for quantiles."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import numpy as np

from hetero import validation
from hetero.compile_cache.fingerprint import UnknownValueError, fingerprint_of_results
from hetero.compile_cache.sources import SourcesChangedError
from hetero.version import VERSION
from rode._solver.finished_parts import Checkpoint
from rode._solver.plan import Plan
from rode._solver.runner import Outcome
from rode._solver.summary import settings_of
from rode.problems.calls import RESULTS


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
    first, second = (Checkpoint(folder, name, [Outcome]) for name in ("results", "inside"))
    return Checkpoints(first, second)


def stored_parts(checkpoints: Checkpoints) -> int | None:
    """Return the number of parts of the run in a folder, or None."""
    identity = checkpoints.results.read_identity()
    return None if identity is None else int(identity["parts"])


def identity_of(plan: Plan, parts: int) -> dict[str, Any]:
    """Return what makes the results of a run: its settings and functions, but not its devices.

    Raises ValueError if a function refers to a value that cannot be compared.
    """
    problem = plan.problem
    parameters = np.ascontiguousarray(problem.parameters)
    return settings_of(plan) | {
        "version": VERSION,
        "hash of parameters": hashlib.blake2b(parameters.tobytes(), digest_size=16).hexdigest(),
        "parameter sets": problem.sets,
        **{
            f"function {name}": _fingerprint(f"{name} of the problem", getattr(problem, name))
            for name in RESULTS
        },
        **{
            f"function {label} of {one.name}": _fingerprint(f"{label} of {one.name}", function)
            for one in plan.reductions
            for label, function in one.functions.items()
        },
        "paths": plan.paths,
        "first_path": plan.first_path,
        "parts": parts,
    }


def _fingerprint(name: str, function: Any) -> str:
    """Return a hash of a function of a problem or functional, and of all that it refers to."""
    try:
        return fingerprint_of_results(function)
    except (UnknownValueError, SourcesChangedError) as error:
        raise ValueError(
            f"checkpoint: another process could not tell whether {name} is the same "
            f"function ({error}); let it refer to numbers, texts, arrays and functions only, and "
            "make it anew after changing them, or leave out checkpoint"
        ) from None
