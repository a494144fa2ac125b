"""A few eigenpairs of large sparse matrices: seconds beside SciPy's ARPACK, or on a GPU CuPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg

import hetero
import sbth
from benchmarks.measurements import Measurement
from sbth._lanczos.thick_restart import CONVERGED

_REPEATS = 5

_MOST_PRODUCTS = 3000
"""Products with the matrix after which CuPy's solver ends. It measures residuals in absolute terms
and would go on for 10 n products where rounding errors keep them above its tolerance."""

_MOST_RESIDUAL = 1e-10
"""Largest residual over the norm of the matrix with which a result counts as one."""


@dataclass(frozen=True)
class Problem:
    """A sparse matrix, and the arguments of `eigsh`.

    Attributes
    ----------
    name : str
    matrix : SciPy's sparse matrix
    k : int
        Number of eigenpairs.
    options : dict
        `which`, and `sigma` for the inverse.
    """

    name: str
    matrix: sp.csr_matrix
    k: int
    options: dict[str, Any] = field(default_factory=dict)


def run(device: hetero.Device, quick: bool) -> Iterator[Measurement]:
    """Measure matrices that are in the memory of the device."""
    side, order = (18, 200) if quick else (60, 5000)
    if device.kind == "cuda" and not quick:
        side, order = 150, 200_000
    for problem in problems(side, order):
        if device.kind == "cpu" or "sigma" not in problem.options:
            yield measure_problem(problem, device)


def problems(side: int, order: int) -> Iterator[Problem]:
    """Yield the problems: grids of `side`^2 points, and random matrices of the given order."""
    grid = laplacian(side)
    name = f"Laplacian of a grid of {side} x {side} points"
    yield Problem(f"{name}, 10 largest", grid, 10, {"which": "LA"})
    yield Problem(f"{name}, 6 nearest to 0 by shift-invert", grid, 6, {"sigma": 0.0})
    graph = graph_laplacian(order, 8)
    name = f"Laplacian of a random graph of {order} nodes, 10 largest"
    yield Problem(name, graph, 10, {"which": "LA"})
    matrix = random_matrix(order, 10)
    name = f"random matrix of order {order}, 10 elements a row"
    yield Problem(f"{name}, 6 of largest magnitude", matrix, 6, {"which": "LM"})
    yield Problem(f"{name}, 20 smallest", matrix, 20, {"which": "SA"})


def laplacian(side: int) -> sp.csr_matrix:
    """Return the five-point Laplacian of a square with zeros around it."""
    path = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(side, side))
    return sp.csr_matrix(sp.kronsum(path, path))


def graph_laplacian(nodes: int, degree: int) -> sp.csr_matrix:
    """Return the Laplacian of a graph with random edges, on average `degree` at a node."""
    rng = np.random.default_rng(5)
    ends = rng.integers(0, nodes, (2, nodes * degree // 2))
    ends = ends[:, ends[0] != ends[1]]
    weights = sp.coo_matrix((np.ones(ends.shape[1]), tuple(ends)), (nodes, nodes))
    weights = weights + weights.T
    degrees = np.asarray(weights.sum(axis=1)).ravel()
    return sp.csr_matrix(sp.diags_array(degrees) - weights)


def random_matrix(order: int, per_row: int) -> sp.csr_matrix:
    """Return a symmetric matrix with normal elements at random places."""
    rng = np.random.default_rng(6)
    rows = np.repeat(np.arange(order), per_row // 2)
    columns = rng.integers(0, order, rows.size)
    half = sp.coo_matrix((rng.standard_normal(rows.size), (rows, columns)), (order, order))
    return sp.csr_matrix(half + half.T)


def measure_problem(problem: Problem, device: hetero.Device) -> Measurement:
    """Measure `sbth.eigsh` and another program, and the residuals of all results.

    A result of another program with larger residuals than `_MOST_RESIDUAL` is noted, and not timed.
    """
    here, peer, peer_name = problem.matrix, scipy.sparse.linalg.eigsh, "SciPy (ARPACK)"
    of_peer = dict(problem.options)
    if device.kind == "cuda":
        import cupyx.scipy.sparse
        import cupyx.scipy.sparse.linalg

        here = cupyx.scipy.sparse.csr_matrix(problem.matrix)
        peer, peer_name = cupyx.scipy.sparse.linalg.eigsh, "CuPy (eigsh)"
        of_peer["maxiter"] = _MOST_PRODUCTS
        of_peer["tol"] = CONVERGED * float(np.finfo(float).eps) * norm_bound(problem.matrix)
    calls: dict[str, Callable[[], Any]] = {
        "sbth": lambda: sbth.eigsh(here, problem.k, **problem.options, device=device),
        "without a search for copies": lambda: sbth.eigsh(
            here, problem.k, **problem.options, search_copies=False, device=device
        ),
        peer_name: lambda: peer(here, problem.k, **of_peer),
    }
    notes = [sbth.forecast_eigsh(here, problem.k, **problem.options).method]
    if device.kind == "cuda":
        notes.append(f"{peer_name}: residuals of {of_peer['tol']:.2g}, {_MOST_PRODUCTS} products")
    peers, timing = {}, None
    for name, call in calls.items():
        try:
            pairs = call()  # compiles, too
        except scipy.sparse.linalg.ArpackNoConvergence as error:
            notes.append(f"{name}: {error}")
            continue
        residual = largest_residual(problem.matrix, pairs)
        notes.append(f"{name}: largest residual {residual:.2g} |A|")
        if name == "sbth":
            timing = hetero.benchmark(call, repeats=_REPEATS, device=device)
        elif residual <= _MOST_RESIDUAL:
            peers[name] = hetero.benchmark(call, repeats=_REPEATS, device=device).median
    assert timing is not None
    return Measurement(
        problem.name, timing.median, "s", peers=peers,
        note="; ".join(notes), timing=timing.as_dict(),
    )  # fmt: skip


def largest_residual(matrix: sp.csr_matrix, pairs: tuple[Any, Any]) -> float:
    """Return the largest norm of A v - w v over a bound of |A|, in host memory."""
    w, v = (x if isinstance(x, np.ndarray) else x.get() for x in pairs)
    return float(np.linalg.norm(matrix @ v - v * w, axis=0).max()) / norm_bound(matrix)


def norm_bound(matrix: sp.csr_matrix) -> float:
    """Return the 1-norm of a matrix, which bounds its eigenvalues."""
    return float(abs(matrix).sum(axis=0).max())
