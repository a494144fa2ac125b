"""Pencils A x = lambda B x as problems of one matrix."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from sbth._problem.problem import Problem
from sbth._reduction.pencils.band import reduce_pencil
from sbth._reduction.pencils.band_as_full import reduce_as_full
from sbth._reduction.pencils.full import module_arrays, reduce_full_pencil


def reduce_pencil_problem(xp: ModuleType, problem: Problem) -> tuple[Problem, Callable[[Any], Any]]:
    """Return the problem of one matrix, and the function that turns its eigenvectors into x.

    On a GPU bands are treated as full matrices.
    """
    (a,), b, lower = problem.arrays, problem.second, problem.lower
    standard = problem._replace(second=None, lower=True)
    if problem.form == "band" and xp is np:
        band, x = reduce_pencil(a, b, lower, vectors=problem.vectors)
        width = min(len(band) - 1, max(problem.order - 1, 0))
        return standard._replace(arrays=(band,), width=width, dtype=band.dtype), lambda y: x @ y
    if problem.form == "band":
        c, transform = reduce_as_full(xp, a, b, lower, problem.device)
    else:
        c, transform = reduce_full_pencil(xp, *module_arrays(xp, a, b), lower)
    standard = standard._replace(form="full", arrays=(c,), dtype=c.dtype)
    return standard, lambda y: transform(xp.ascontiguousarray(y))
