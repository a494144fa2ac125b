"""Populations that ran into walls in the last step, from the moments before it."""

from __future__ import annotations

import numpy as np

from lbm._kernels.engine import Engine
from lbm._kernels.moments.formulas import GROUP, MOMENTS
from lbm._kernels.problem import Problem
from lbm.collisions.moments import SECOND


def read_sent(engine: Engine, t: int, cells: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return f_q - w_q in float64 that left cells [i, (z, y, x)] along links q in step t - 1.

    The step has not overwritten what it read. These are few cells, which NumPy collides.
    """
    problem, words = engine.problem, engine.problem.precision.moments
    (z, y, x), (nx, ny, _) = cells.T, problem.shape
    cell = (z * ny + y) * nx + x
    first = cell // GROUP * (GROUP * words) + cell % GROUP
    indices = first[:, None] + GROUP * np.arange(words)
    stored = engine.read_elements(t - 1, indices.reshape(-1)).reshape(len(q), words)
    eddies: tuple[np.ndarray, ...] = ()
    if problem.collision.reads_viscosity:
        eddies = (engine.read_viscosity(cell).astype(np.float64)[:, None, None],)
    sent: np.ndarray = _collide(problem, _decode(stored), eddies, t - 1)[q, np.arange(len(q))]
    return sent


def _decode(stored: np.ndarray) -> np.ndarray:
    """Return the moments [k, cell] of the words of cells [cell, word] in float64."""
    if stored.shape[1] == MOMENTS:
        return stored.T.astype(np.float64)
    m = np.ascontiguousarray(stored).view(np.float16).T.astype(np.float64) * 2.0**-15
    for k, (a, b) in enumerate(SECOND):
        m[4 + k] += m[1 + a] * m[1 + b] / (1.0 + m[0])
    return m


def _collide(
    problem: Problem, m: np.ndarray, eddies: tuple[np.ndarray, ...], step: int
) -> np.ndarray:
    """Return the populations less their weights after the collision of a step, [q, cell]."""
    lattice, force = problem.lattice, np.array(problem.force_in(step))
    c, w = np.array(lattice.velocities, float), np.array(lattice.weights)[:, None]
    rho, u = 1.0 + m[0], (m[1:4] + 0.5 * force[:, None]) / (1.0 + m[0])
    cu, cf = c @ u, (c @ force)[:, None]
    even = sum((2 - (a == b)) * np.multiply.outer(c[:, a] * c[:, b] - (a == b) / 3, m[4 + k])
               for k, (a, b) in enumerate(SECOND))  # fmt: skip
    f = w * (rho + 3.0 * (c @ m[1:4]) + 4.5 * even)
    e = w * rho * (1.0 + 3.0 * cu + 4.5 * cu**2 - 1.5 * (u**2).sum(axis=0))
    half = 0.5 * w * (3.0 * (cf - force @ u) + 9.0 * cu * cf)
    before, equilibrium = (f + half)[..., None, None], e[..., None, None]
    after = problem.collision.reference_collide(before, equilibrium, *eddies)
    return np.asarray(after[..., 0, 0] + half - w)
