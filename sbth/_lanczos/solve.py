"""The wanted eigenpairs of a sparse matrix or an operator by Lanczos."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType
from typing import Any, NoReturn

import numpy as np

from hetero import region
from hetero.display.progress_bar import report_loop
from hetero.memory import SMALL, free_bytes, shortage
from sbth._lanczos.arguments import Arguments, read_start
from sbth._lanczos.operators import Operator, require_hermitian
from sbth._lanczos.problem import SparseProblem
from sbth._lanczos.residuals import Residuals
from sbth._lanczos.shift_invert import inverse_operator
from sbth._lanczos.thick_restart import Iteration, Outcome
from sbth._problem.arrays import copy_like
from sbth._problem.inspection import round_to_dtype, safe_scale
from sbth._vendor.array_modules import as_library_array
from sbth.results import NoConvergenceError


def solve_by_lanczos(
    xp: ModuleType, problem: SparseProblem, arguments: Arguments, inverse: Any, v0: Any,
    vectors: bool, random: np.random.Generator,
) -> Any:  # fmt: skip
    """Return the wanted eigenvalues and eigenvectors, in arrays of the caller's library."""
    start = read_start(v0, problem.order, problem.dtype, xp)
    shift = arguments.sigma
    kind = "operator" if problem.kind == "operator" else "matrix"
    operator, matrix = problem.operator(xp), None
    if shift is not None:
        matrix = _scaled(operator, kind, random)
        operator, shift = inverse_operator(problem, shift, inverse, xp)
        kind = "factors" if inverse is None else "operator"
    operator = _scaled(operator, kind, random)
    _require_memory(problem, arguments)
    is_exact = problem.kind != "operator" and inverse is None
    residuals = Residuals(matrix or operator, operator, shift, arguments, is_exact, random)
    with region("Lanczos"), report_loop(float(arguments.k)) as advance:
        iteration = Iteration(operator, arguments, random, advance)
        outcome = residuals.improve(iteration, iteration.run(start))
    values = residuals.eigenvalues(outcome)
    order = np.argsort(values, kind="stable")
    host = round_to_dtype("a", values[order], problem.dtype)
    eigenvalues = copy_like(host, problem.like)
    columns = None
    is_good = outcome.is_converged and residuals.are_acceptable(outcome)
    if vectors or not is_good:
        columns = as_library_array(xp, outcome.rows[xp.asarray(order)].T, problem.like)
    if not is_good:
        _refuse_iteration(arguments, outcome, eigenvalues, columns)
    return (eigenvalues, columns) if vectors else eigenvalues


def _scaled(operator: Operator, kind: str, random: np.random.Generator) -> Operator:
    """Check that an operator is Hermitian; scale it so that squares stay within range."""
    largest = require_hermitian(operator, kind, random)
    return replace(operator, factor=safe_scale(largest, np.dtype(operator.dtype.char.lower())))


def _require_memory(problem: SparseProblem, arguments: Arguments) -> None:
    """Raise MemoryError if the vectors of Lanczos do not fit into the memory of the device."""
    count = 2 * arguments.k + 2 * arguments.size
    need = count * problem.order * problem.dtype.itemsize
    if need >= SMALL and need > (free := free_bytes(problem.device, need)):
        subject = f"Lanczos with k={arguments.k} and ncv={arguments.size} for order {problem.order}"
        raise shortage(subject, problem.device, need, free, ["a smaller ncv, or a smaller k"])


def _refuse_iteration(
    arguments: Arguments, outcome: Outcome, values: Any, vectors: Any
) -> NoReturn:
    """Raise the error for an iteration that ended too early."""
    count, k = outcome.values.size, arguments.k
    if outcome.is_converged:
        where = "" if arguments.sigma is None else f" with sigma={arguments.sigma!r}"
        message = (
            f"residuals |a v - w v|{where} are up to {outcome.residual:.2g} of the norm of a; the "
            "error carries eigenvalues and eigenvectors. "
        )
        message += (
            "Remedy: another sigma, farther from eigenvalues" if where else "a may be inexact"
        )
    else:
        state = f"{k} eigenpairs have converged, but copies of theirs may be missing"
        if count < k:
            state = f"{count} of {k} eigenpairs have converged"
        message = (
            f"{state} after maxiter={arguments.restarts} restarts; the error carries them as "
            "eigenvalues and eigenvectors. Remedy: a larger ncv, maxiter or tol, or a shift sigma"
        )
    raise NoConvergenceError(message, values, vectors)
