"""Gradients of the velocity, and the fields that visualise vortices, in host memory."""

from __future__ import annotations

import numpy as np

from lbm._coupled.flow import Flow
from lbm._parallel.neighbours import add_neighbours, clear_beyond_walls
from lbm._parallel.partition import AXES


def velocity_gradient(flow: Flow) -> np.ndarray:
    """Return du_i/dx_j [i, j, x, y, z] of this rank's cells in 1/step; all ranks must call it.

    Differences are central where both neighbours are fluid, second order in the cell. Beside walls
    and solids they are one-sided, first order; they are 0 in solid cells and between two walls.
    """
    u, fluid = velocity_with_neighbours(flow, 1)
    centre = (slice(1, -1),) * 3
    gradient = np.zeros((3, *u[(slice(None), *centre)].shape), u.dtype)
    for axis in AXES:
        low, high = (_shift(centre, axis, step) for step in (-1, 1))
        below, above = (fluid[side] & fluid[centre] for side in (low, high))
        for i in range(3):
            middle, before, after = u[i][centre], u[i][low], u[i][high]
            backward, forward = middle - before, after - middle
            gradient[i, axis] += np.where(below, backward, 0.0) + np.where(above, forward, 0.0)
        gradient[:, axis] /= np.where(below & above, 2.0, 1.0).astype(u.dtype)
    return gradient


def vorticity(gradient: np.ndarray) -> np.ndarray:
    """Return the curl of the velocity [c, x, y, z] from its gradient."""
    pairs = ((2, 1), (0, 2), (1, 0))
    return np.stack([gradient[i, j] - gradient[j, i] for i, j in pairs])


def q_criterion(gradient: np.ndarray) -> np.ndarray:
    """Return Q = (|W|^2 - |S|^2)/2 [x, y, z], positive in vortices (Hunt, Wray and Moin 1988).

    W and S are the antisymmetric and the symmetric part of the gradient.
    """
    products = (gradient[i, j] * gradient[j, i] for i in AXES for j in AXES)
    return -0.5 * sum(products, np.zeros_like(gradient[0, 0]))


def strain_rate(gradient: np.ndarray) -> np.ndarray:
    """Return |S| = sqrt(2 S:S) [x, y, z], where S is the symmetric part of the gradient."""
    parts = (0.5 * (gradient[i, j] + gradient[j, i]) ** 2 for i in AXES for j in AXES)
    return np.sqrt(sum(parts, np.zeros_like(gradient[0, 0])))


def _shift(cells: tuple[slice, ...], axis: int, step: int) -> tuple[slice, ...]:
    """Return slices that select the neighbours of inner cells at -1 or +1 along an axis."""
    moved = slice(0, -2) if step < 0 else slice(2, None)
    return tuple(moved if a == axis else cells[a] for a in AXES)


def velocity_with_neighbours(flow: Flow, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the velocity and the fluid cells of this rank and of `width` cells around them.

    Beyond a wall there is no fluid. All ranks must call it.
    """
    ranks, partition = flow.domain.ranks, flow.domain.partition
    fluid = add_neighbours(flow.fluid, ranks, partition, width)
    clear_beyond_walls(fluid, flow.region, partition, width)
    return add_neighbours(flow.u, ranks, partition, width), fluid
