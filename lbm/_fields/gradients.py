"""Gradients of the velocity, and the fields that visualise vortices, in host memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lbm._model.extent import Extent
from lbm.boundaries import Periodic

if TYPE_CHECKING:
    from lbm._domain.flow import Flow

AXES = 0, 1, 2


def velocity_gradient(flow: Flow) -> np.ndarray:
    """Return du_i/dx_j [i, j, x, y, z] of this rank's cells in 1/step; all ranks must call it.

    Differences are central where both neighbours are fluid, second order in the cell. Beside walls
    and solids they are one-sided, first order; they are 0 in solid cells and between two walls.
    """
    u, fluid = _with_neighbours(flow, flow.u), _fluid_with_neighbours(flow)
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


def _shift(cells: tuple[slice, ...], axis: int, step: int) -> tuple[slice, ...]:
    """Return slices that select the neighbours of inner cells at -1 or +1 along an axis."""
    moved = slice(0, -2) if step < 0 else slice(2, None)
    return tuple(moved if a == axis else cells[a] for a in AXES)


def _fluid_with_neighbours(flow: Flow) -> np.ndarray:
    """Return the fluid cells of this rank and one cell around; beyond a wall there is no fluid."""
    fluid = _with_neighbours(flow, flow.fluid)
    for axis in AXES:
        if isinstance(flow.faces[2 * axis], Periodic):
            continue
        along = np.moveaxis(fluid, axis, 0)
        if flow.region.start[axis] == 0:
            along[0] = False
        if flow.region.stop[axis] == flow.shape[axis]:
            along[-1] = False
    return fluid


def _with_neighbours(flow: Flow, values: np.ndarray) -> np.ndarray:
    """Return a field [..., x, y, z] of this rank with one more cell at both ends of each axis.

    These belong to other ranks, or to the other end of the domain.
    """
    ranks, partition = flow.domain.ranks, flow.domain.partition
    region, shape = flow.region, flow.shape
    regions = [partition.region(rank) for rank in range(ranks.size)]
    lead = values.shape[:-3]
    out = np.zeros((*lead, *(n + 2 for n in region.shape)), values.dtype)
    pieces = []
    for theirs in regions:
        halo = _halo_positions(theirs, region, shape)
        x, y, z = (cells - first for (_, cells), first in zip(halo, region.start, strict=True))
        pieces.append(values[..., x[:, None, None], y[:, None], z])
    for owner, piece in zip(regions, ranks.exchange(pieces), strict=True):
        x, y, z = (position for position, _ in _halo_positions(region, owner, shape))
        out[..., x[:, None, None], y[:, None], z] = piece
    return out


def _halo_positions(
    reader: Extent, owner: Extent, shape: tuple[int, int, int]
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return along each axis (positions in the reader's array with neighbours, cells there).

    Only cells that belong to the owner are returned.
    """
    positions = []
    for axis in AXES:
        cells = np.arange(reader.start[axis] - 1, reader.stop[axis] + 1) % shape[axis]
        (position,) = np.nonzero((owner.start[axis] <= cells) & (cells < owner.stop[axis]))
        positions.append((position, cells[position]))
    return positions
