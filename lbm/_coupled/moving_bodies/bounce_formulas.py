"""The return of populations that have run into a moving body."""

import functools
from typing import Any

import numpy as np

from lbm._coupled.moving_bodies.formulas import (
    add_impulse,
    called,
    inlined,
    is_fluid,
    is_own,
    make_access,
    middle_of,
    unpack_cell,
    walls_of,
    wrap,
)
from lbm._coupled.moving_bodies.shape_formulas import find_share, velocity_at
from lbm._kernels.formulas.storage_formulas import codec
from lbm.geometry.wall_links import INTO, SOLID_CLASS
from lbm.lattices.precision import PRECISIONS


@functools.cache
def make_bounce(precision: str) -> Any:
    """Make the item that returns what has run into a body along a link.

    It is number k + 1 of the links of cell i beside the surface, of which `cells` has the list.
    """
    decode, encode = codec(PRECISIONS[precision])
    index = make_access(precision)

    @called
    def bounce_link(lane, partial, q, cell, fluid, point, row, populations, labels, lattice, body):
        (x, y, z), (fx, fy, fz), (px, py, pz) = cell, fluid, point
        classes, masks, tables, directions, weights, size = lattice
        pose, shape, grid, scale = body
        nx, ny, nz, T = size[0], size[1], size[2], type(px)
        cx, cy, cz = directions[q, 0], directions[q, 1], directions[q, 2]
        walls = walls_of(x, y, z, classes, masks, size)
        f = decode(populations[index(x, y, z, q, walls, tables, size)])
        w, opposite = weights[q], directions[q, 3]
        dx, dy, dz = T(cx), T(cy), T(cz)
        walls = walls_of(fx, fy, fz, classes, masks, size)
        share, sent, other, g = T(0.5), T(1), T(0), T(0)
        if size[8]:
            share = find_share(shape, grid, pose, row, px - dx, py - dy, pz - dz, dx, dy, dz)
            hx, hy, hz = wrap(fx - cx, nx), wrap(fy - cy, ny), wrap(fz - cz, nz)
            if (walls >> q) & 1 == 0 and is_fluid(labels[(hz * ny + hy) * nx + hx]):
                if share < T(0.5):
                    sent = share + share
                    k = index(fx, fy, fz, q, walls, tables, size)
                else:
                    sent = T(0.5) / share
                    behind = walls_of(hx, hy, hz, classes, masks, size)
                    k = index(hx, hy, hz, opposite, behind, tables, size)
                other = T(1) - sent
                g = decode(populations[k])
        back = share - T(1)
        ux, uy, uz, ax, ay, az = velocity_at(
            pose, row, px + back * dx, py + back * dy, pz + back * dz
        )
        term = T(6) * w * (dx * ux + dy * uy + dz * uz)
        if sent < T(1) and share >= T(0.5):
            term = term * sent
        target = index(fx, fy, fz, opposite, walls, tables, size)
        stored = encode(sent * f + other * g - term)
        populations[target], r = stored, decode(stored)
        add_impulse(
            partial, lane, f - r, ((f + r) * dx, (f + r) * dy, (f + r) * dz),
            (ux, uy, uz), (ax, ay, az), scale,
        )  # fmt: skip

    @inlined
    def bounce(
        i, k, lane, partial, cells, populations, labels, classes, masks, tables, directions,
        weights, size, pose, origin, clock, shape, grid, scale,
    ):  # fmt: skip
        q, row = k + 1, clock[0]
        box, cell = unpack_cell(cells[0, i], size, origin, row)
        x = wrap(cell[0] - directions[q, 0], size[0])
        y = wrap(cell[1] - directions[q, 1], size[1])
        z = wrap(cell[2] - directions[q, 2], size[2])
        beside = (z * size[1] + y) * size[0] + x
        if not (is_fluid(labels[beside]) and is_own(x, y, z, size)):
            return
        kind = classes[beside]
        if kind != SOLID_CLASS and (np.int64(masks[kind, INTO]) >> q) & 1 == 0:
            lattice = classes, masks, tables, directions, weights, size
            point = middle_of(box, type(weights[0]))
            bounce_link(
                lane, partial, q, cell, (x, y, z), point, row, populations, labels, lattice,
                (pose, shape, grid, scale),
            )  # fmt: skip

    return bounce
