"""Populations for the cells that a moving body has left."""

import functools
from typing import Any

import numpy as np

from lbm._coupled.moving_bodies.formulas import (
    COUNT,
    FRESH,
    MEANS,
    add_force,
    add_impulse,
    called,
    equilibrium_of,
    find_piece,
    is_own,
    make_access,
    place,
    velocity_at,
    wrap,
)
from lbm._kernels.formulas.storage_formulas import codec
from lbm.collisions.unroll import inlined
from lbm.geometry.wall_links import INTO
from lbm.lattices.precision import PRECISIONS


@functools.cache
def make_means(precision: str) -> Any:
    """Make means(x, y, z, populations, ...), the MEANS numbers of a cell of fluid."""
    decode, _ = codec(PRECISIONS[precision])
    index = make_access(precision)

    @called
    def means(x, y, z, populations, classes, masks, tables, directions, size):
        drho = decode(populations[index(x, y, z, 0, classes, masks, tables, size)])
        T = type(drho)
        jx, jy, jz, third = T(0), T(0), T(0), T(1.0 / 3.0)
        sxx, syy, szz, sxy, sxz, syz = T(0), T(0), T(0), T(0), T(0), T(0)
        for q in range(1, size[4]):
            f = decode(populations[index(x, y, z, q, classes, masks, tables, size)])
            cx, cy, cz = T(directions[q, 0]), T(directions[q, 1]), T(directions[q, 2])
            drho += f
            jx += f * cx
            jy += f * cy
            jz += f * cz
            sxx += f * cx * cx
            syy += f * cy * cy
            szz += f * cz * cz
            sxy += f * cx * cy
            sxz += f * cx * cz
            syz += f * cy * cz
        inverse = T(1) / (T(1) + drho)
        sxx -= drho * third + jx * jx * inverse
        syy -= drho * third + jy * jy * inverse
        szz -= drho * third + jz * jz * inverse
        sxy -= jx * jy * inverse
        sxz -= jx * jz * inverse
        syz -= jy * jz * inverse
        return drho, sxx, syy, szz, sxy, sxz, syz

    return means


@functools.cache
def make_pack(precision: str) -> Any:
    """Make the item that writes the means of cells of a block beside other parts."""
    means = make_means(precision)

    @inlined
    def pack(i, populations, cells, classes, masks, tables, directions, size, packed):
        if cells[i] >= 0:
            x, line = cells[i] % size[0], cells[i] // size[0]
            y, z = line % size[1], line // size[1]
            values = means(x, y, z, populations, classes, masks, tables, directions, size)
            for k in range(MEANS):
                packed[i, k] = values[k]

    return pack


@functools.cache
def make_refill(precision: str) -> Any:
    """Make the item that fills the cells that a body has left.

    They get its velocity, and the mean density and stress out of equilibrium of the fluid beside,
    of which `arrived` has what other parts have sent, at the places that `places` has for the box.
    """
    decode, encode = codec(PRECISIONS[precision])
    index, means = make_access(precision), make_means(precision)

    @called
    def refill_cell(i, cell, box, point, row, populations, labels, lattice, body, sent, partial):
        (x, y, z), (px, py, pz), (pose, scale) = cell, point, body
        classes, masks, tables, directions, weights, size = lattice
        nx, ny, nz = size[0], size[1], size[2]
        T = type(px)
        walls = np.int64(masks[classes[(z * ny + y) * nx + x], INTO])
        count, density, third = T(0), T(0), T(1.0 / 3.0)
        sxx, syy, szz, sxy, sxz, syz = T(0), T(0), T(0), T(0), T(0), T(0)
        places, arrived = sent
        for n in range(1, size[4]):
            kx = wrap(x + directions[n, 0], nx)
            ky = wrap(y + directions[n, 1], ny)
            kz = wrap(z + directions[n, 2], nz)
            if (walls >> n) & 1 == 0 and labels[(kz * ny + ky) * nx + kx] == 0:
                if is_own(kx, ky, kz, size):
                    drho, xx, yy, zz, xy, xz, yz = means(
                        kx, ky, kz, populations, classes, masks, tables, directions, size
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
        ux, uy, uz, ax, ay, az = velocity_at(pose, row, px, py, pz)
        trace = (sxx + syy + szz) * third
        mass, jx, jy, jz = T(0), T(0), T(0), T(0)
        for q in range(size[4]):
            cx, cy, cz = T(directions[q, 0]), T(directions[q, 1]), T(directions[q, 2])
            stress = (
                cx * cx * sxx + cy * cy * syy + cz * cz * szz - trace
                + T(2) * (cx * cy * sxy + cx * cz * sxz + cy * cz * syz)
            )  # fmt: skip
            f = equilibrium_of(q, drho, ux, uy, uz, directions, weights)
            target = index(x, y, z, q, classes, masks, tables, size)
            populations[target] = encode(f + T(4.5) * weights[q] * stress * share)
            f = decode(populations[target])
            mass += f
            jx += f * cx
            jy += f * cy
            jz += f * cz
        add_impulse(partial, i, -mass, (-jx, -jy, -jz), (ux, uy, uz), (ax, ay, az), scale)
        add_force(partial, i, ux, uy, uz, (ax, ay, az), scale)  # that of density 1
        partial[COUNT, i] -= 1

    @inlined
    def refill(
        i, populations, labels, classes, masks, tables, directions, weights, size, pose, origin,
        clock, shape, grid, partial, scale, places, arrived,
    ):  # fmt: skip
        T = type(weights[0])
        row = clock[0]
        lattice, body = (classes, masks, tables, directions, weights, size), (pose, scale)
        bx, end, by, bz, y, z = find_piece(i, size, origin, row)
        for b in range(bx, end):
            x = place(origin[row, 0] + b, 0, size)
            if x < 0:
                continue
            label = labels[(z * size[1] + y) * size[0] + x]
            if label == FRESH + size[7] and is_own(x, y, z, size):
                point = T(b) + T(0.5), T(by) + T(0.5), T(bz) + T(0.5)
                refill_cell(
                    i, (x, y, z), (b, by, bz), point, row, populations, labels, lattice, body,
                    (places, arrived), partial,
                )  # fmt: skip

    return refill
