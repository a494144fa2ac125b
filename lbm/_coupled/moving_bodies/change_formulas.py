"""Formulas of cells that a moving body covers newly or has left, for both targets."""

import functools
from typing import Any

import numpy as np

from lbm._coupled.moving_bodies.formulas import (
    COUNT,
    FRESH,
    MEANS,
    OVERLAP,
    add_force,
    add_impulse,
    called,
    equilibrium_of,
    inlined,
    is_own,
    make_access,
    make_load,
    make_moments,
    middle_of,
    unpack_cell,
    walls_of,
    wrap,
)
from lbm._coupled.moving_bodies.shape_formulas import velocity_at
from lbm._kernels.formulas.storage_formulas import codec
from lbm.geometry.wall_links import INTO
from lbm.lattices import Lattice
from lbm.lattices.precision import PRECISIONS


@functools.cache
def make_means(precision: str, lattice: Lattice) -> Any:
    """Make means(x, y, z, populations, ...), the MEANS numbers of a cell of fluid."""
    load, moments = make_load(precision, lattice), make_moments(lattice, 2)

    @called
    def means(x, y, z, populations, classes, masks, tables, size):
        f = load(x, y, z, populations, classes, masks, tables, size)
        drho, jx, jy, jz, sxx, syy, szz, sxy, sxz, syz = moments(f)
        T = type(drho)
        inverse, isotropic = T(1) / (T(1) + drho), drho * T(1.0 / 3.0)
        return (
            drho, sxx - isotropic - jx * jx * inverse, syy - isotropic - jy * jy * inverse,
            szz - isotropic - jz * jz * inverse, sxy - jx * jy * inverse, sxz - jx * jz * inverse,
            syz - jy * jz * inverse,
        )  # fmt: skip

    return means


@functools.cache
def make_pack(precision: str, lattice: Lattice) -> Any:
    """Make the item that writes the means of cells of a block beside other parts."""
    means = make_means(precision, lattice)

    @inlined
    def pack(i, populations, cells, classes, masks, tables, size, packed):
        if cells[i] >= 0:
            x, line = cells[i] % size[0], cells[i] // size[0]
            y, z = line % size[1], line // size[1]
            values = means(x, y, z, populations, classes, masks, tables, size)
            for k in range(MEANS):
                packed[i, k] = values[k]

    return pack


@functools.cache
def make_take_up(precision: str, lattice: Lattice) -> Any:
    """Make the formula that adds what a newly covered cell holds to the sums."""
    load, moments = make_load(precision, lattice), make_moments(lattice, 1)

    @called
    def take_up(lane, partial, cell, point, row, populations, lattice, body):
        (x, y, z), (pose, scale) = cell, body
        classes, masks, tables, _, _, size = lattice
        drho, jx, jy, jz = moments(load(x, y, z, populations, classes, masks, tables, size))
        ux, uy, uz, ax, ay, az = velocity_at(pose, row, point[0], point[1], point[2])
        add_impulse(partial, lane, drho, (jx, jy, jz), (ux, uy, uz), (ax, ay, az), scale)
        add_force(partial, lane, -ux, -uy, -uz, (ax, ay, az), scale)  # that of density 1
        partial[COUNT, lane] += 1

    return take_up


@functools.cache
def make_beside(precision: str, lattice: Lattice) -> Any:
    """Make the item that finds the means of neighbour k + 1 of a cell that a body has left.

    `neighbours` [lane, k] gets these means and, behind them, 1, or 0 if there is no fluid. If the
    neighbour is in another part, `arrived` has its means, in the row that `arrival_of` has for its
    cell of the box.
    """
    means = make_means(precision, lattice)

    @inlined
    def beside(
        i, k, lane, neighbours, cells, populations, labels, classes, masks, tables, directions,
        weights, size, pose, origin, clock, scale, arrival_of, arrived,
    ):  # fmt: skip
        box, (x, y, z) = unpack_cell(cells[1, i], size, origin, clock[0])
        nx, ny, nz, q = size[0], size[1], size[2], k + 1
        cell = (z * ny + y) * nx + x
        neighbours[lane, k, MEANS] = 0
        if labels[cell] != FRESH + size[7] or (np.int64(masks[classes[cell], INTO]) >> q) & 1:
            return
        dx, dy, dz = directions[q, 0], directions[q, 1], directions[q, 2]
        x, y, z = wrap(x + dx, nx), wrap(y + dy, ny), wrap(z + dz, nz)
        if labels[(z * ny + y) * nx + x] != 0:
            return
        neighbours[lane, k, MEANS] = 1
        if is_own(x, y, z, size):
            values = means(x, y, z, populations, classes, masks, tables, size)
            for j in range(MEANS):
                neighbours[lane, k, j] = values[j]
        else:
            n = arrival_of[
                wrap(box[2] + dz, arrival_of.shape[0]), wrap(box[1] + dy, arrival_of.shape[1]),
                wrap(box[0] + dx, arrival_of.shape[2]),
            ]  # fmt: skip
            for j in range(MEANS):
                neighbours[lane, k, j] = arrived[n, j]

    return beside


@functools.cache
def make_refill(precision: str) -> Any:
    """Make the formula that fills a cell that a body has left.

    It gets the body's velocity, and the mean density and stress out of equilibrium of the fluid
    beside it.
    """
    decode, encode = codec(PRECISIONS[precision])
    index = make_access(precision)

    @called
    def refill(lane, partial, neighbours, cell, point, row, populations, lattice, body):
        (x, y, z), (pose, scale), T = cell, body, type(point[0])
        classes, masks, tables, directions, weights, size = lattice
        count, drho = T(0), T(0)
        sxx, syy, szz, sxy, sxz, syz = T(0), T(0), T(0), T(0), T(0), T(0)
        for k in range(size[4] - 1):
            if neighbours[lane, k, MEANS] != 0:
                count += T(1)
                drho += neighbours[lane, k, 0]
                sxx += neighbours[lane, k, 1]
                syy += neighbours[lane, k, 2]
                szz += neighbours[lane, k, 3]
                sxy += neighbours[lane, k, 4]
                sxz += neighbours[lane, k, 5]
                syz += neighbours[lane, k, 6]
        share = T(1) / max(count, T(1))
        drho *= share
        ux, uy, uz, ax, ay, az = velocity_at(pose, row, point[0], point[1], point[2])
        trace = (sxx + syy + szz) * T(1.0 / 3.0)
        mass, jx, jy, jz = T(0), T(0), T(0), T(0)
        walls = walls_of(x, y, z, classes, masks, size)
        for q in range(size[4]):
            cx, cy, cz = T(directions[q, 0]), T(directions[q, 1]), T(directions[q, 2])
            stress = (
                cx * cx * sxx + cy * cy * syy + cz * cz * szz - trace
                + T(2) * (cx * cy * sxy + cx * cz * sxz + cy * cz * syz)
            )  # fmt: skip
            f = equilibrium_of(q, drho, ux, uy, uz, directions, weights)
            stored = encode(f + T(4.5) * weights[q] * stress * share)
            populations[index(x, y, z, q, walls, tables, size)] = stored
            f = decode(stored)
            mass += f
            jx += f * cx
            jy += f * cy
            jz += f * cz
        add_impulse(partial, lane, -mass, (-jx, -jy, -jz), (ux, uy, uz), (ax, ay, az), scale)
        add_force(partial, lane, ux, uy, uz, (ax, ay, az), scale)  # that of density 1
        partial[COUNT, lane] -= 1

    return refill


@functools.cache
def make_change(precision: str, lattice: Lattice) -> Any:
    """Make the item that takes up what a newly covered cell holds, or fills one that was left.

    `cells` has the lists of `cover`. A cell that belongs to another body is counted.
    """
    take_up, refill = make_take_up(precision, lattice), make_refill(precision)

    @inlined
    def change(
        i, lane, partial, neighbours, cells, populations, labels, classes, masks, tables,
        directions, weights, size, pose, origin, clock, scale, arrival_of, arrived,
    ):  # fmt: skip
        row = clock[0]
        box, cell = unpack_cell(cells[1, i], size, origin, row)
        point = middle_of(box, type(scale))
        label = labels[(cell[2] * size[1] + cell[1]) * size[0] + cell[0]]
        lattice = classes, masks, tables, directions, weights, size
        if label == size[7]:
            take_up(lane, partial, cell, point, row, populations, lattice, (pose, scale))
        elif label == FRESH + size[7]:
            refill(lane, partial, neighbours, cell, point, row, populations, lattice, (pose, scale))
        else:
            partial[OVERLAP, lane] += 1

    return change
