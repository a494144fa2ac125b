"""What newly covered cells give up, and populations for the cells that a moving body has left."""

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
    velocity_at,
    walls_of,
    wrap,
)
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
    def take_up(lane, partial, cell, point, row, populations, walls, body, size):
        (x, y, z), (pose, scale) = cell, body
        classes, masks, tables = walls
        drho, jx, jy, jz = moments(load(x, y, z, populations, classes, masks, tables, size))
        ux, uy, uz, ax, ay, az = velocity_at(pose, row, point[0], point[1], point[2])
        add_impulse(partial, lane, drho, (jx, jy, jz), (ux, uy, uz), (ax, ay, az), scale)
        add_force(partial, lane, -ux, -uy, -uz, (ax, ay, az), scale)  # that of density 1
        partial[COUNT, lane] += 1

    return take_up


@functools.cache
def make_refill(precision: str, lattice: Lattice) -> Any:
    """Make the formula that fills a cell that a body has left.

    It gets the body's velocity, and the mean density and stress out of equilibrium of the fluid
    beside, of which `arrived` has what other parts have sent, at the places that `places` has for
    the box.
    """
    decode, encode = codec(PRECISIONS[precision])
    index, means = make_access(precision), make_means(precision, lattice)

    @called
    def refill(lane, partial, cell, box, row, populations, labels, lattice, body, sent):
        (x, y, z), (pose, scale), (places, arrived) = cell, body, sent
        classes, masks, tables, directions, weights, size = lattice
        nx, ny, nz, T = size[0], size[1], size[2], type(scale)
        beyond = np.int64(masks[classes[(z * ny + y) * nx + x], INTO])
        count, density, third = T(0), T(0), T(1.0 / 3.0)
        sxx, syy, szz, sxy, sxz, syz = T(0), T(0), T(0), T(0), T(0), T(0)
        for n in range(1, size[4]):
            kx = wrap(x + directions[n, 0], nx)
            ky = wrap(y + directions[n, 1], ny)
            kz = wrap(z + directions[n, 2], nz)
            if (beyond >> n) & 1 == 0 and labels[(kz * ny + ky) * nx + kx] == 0:
                if is_own(kx, ky, kz, size):
                    drho, xx, yy, zz, xy, xz, yz = means(
                        kx, ky, kz, populations, classes, masks, tables, size
                    )
                else:
                    k = places[
                        wrap(box[2] + directions[n, 2], places.shape[0]),
                        wrap(box[1] + directions[n, 1], places.shape[1]),
                        wrap(box[0] + directions[n, 0], places.shape[2]),
                    ]
                    drho, xx, yy, zz, xy, xz, yz = (
                        arrived[k, 0], arrived[k, 1], arrived[k, 2], arrived[k, 3],
                        arrived[k, 4], arrived[k, 5], arrived[k, 6],
                    )  # fmt: skip
                sxx += xx
                syy += yy
                szz += zz
                sxy += xy
                sxz += xz
                syz += yz
                density += drho
                count += T(1)
        share = T(1) / max(count, T(1))
        drho = density * share
        point = middle_of(box, T)
        ux, uy, uz, ax, ay, az = velocity_at(pose, row, point[0], point[1], point[2])
        trace = (sxx + syy + szz) * third
        mass, jx, jy, jz = T(0), T(0), T(0), T(0)
        walls = walls_of(x, y, z, classes, masks, size)
        for q in range(size[4]):
            cx, cy, cz = T(directions[q, 0]), T(directions[q, 1]), T(directions[q, 2])
            stress = (
                cx * cx * sxx + cy * cy * syy + cz * cz * szz - trace
                + T(2) * (cx * cy * sxy + cx * cz * sxz + cy * cz * syz)
            )  # fmt: skip
            f = equilibrium_of(q, drho, ux, uy, uz, directions, weights)
            target = index(x, y, z, q, walls, tables, size)
            populations[target] = encode(f + T(4.5) * weights[q] * stress * share)
            f = decode(populations[target])
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
    take_up, refill = make_take_up(precision, lattice), make_refill(precision, lattice)

    @inlined
    def change(
        i, k, lane, partial, cells, populations, labels, classes, masks, tables, directions,
        weights, size, pose, origin, clock, scale, places, arrived,
    ):  # fmt: skip
        row = clock[0]
        box, cell = unpack_cell(cells[1, i], size, origin, row)
        label = labels[(cell[2] * size[1] + cell[1]) * size[0] + cell[0]]
        if label == size[7]:
            take_up(
                lane, partial, cell, middle_of(box, type(scale)), row, populations,
                (classes, masks, tables), (pose, scale), size,
            )  # fmt: skip
        elif label == FRESH + size[7]:
            lattice = classes, masks, tables, directions, weights, size
            refill(
                lane, partial, cell, box, row, populations, labels, lattice, (pose, scale),
                (places, arrived),
            )  # fmt: skip
        else:
            partial[OVERLAP, lane] += 1

    return change
