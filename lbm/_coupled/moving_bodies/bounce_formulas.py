"""The return of populations that have run into a moving body."""

import functools
from typing import Any

import numpy as np

from lbm._coupled.moving_bodies.formulas import (
    FRESH,
    SUMS,
    add_impulse,
    called,
    equilibrium_of,
    find_piece,
    find_share,
    is_fluid,
    is_own,
    make_access,
    place,
    velocity_at,
    wrap,
)
from lbm._kernels.formulas.storage_formulas import codec
from lbm.collisions.unroll import inlined
from lbm.geometry.wall_links import FROM, INTO, SOLID_CLASS
from lbm.lattices.precision import PRECISIONS


@functools.cache
def make_bounce(precision: str) -> Any:
    """Make the item that returns what has run into a body."""
    decode, encode = codec(PRECISIONS[precision])
    index = make_access(precision)

    @called
    def bounce_cell(i, cell, point, row, populations, labels, lattice, body, partial):
        (x, y, z), (px, py, pz), (pose, shape, grid, scale) = cell, point, body
        classes, masks, tables, directions, weights, size = lattice
        nx, ny, nz = size[0], size[1], size[2]
        T = type(px)
        own = is_own(x, y, z, size)
        bx, by, bz, _, _, _ = velocity_at(pose, row, px, py, pz)
        for q in range(1, size[4]):
            cx, cy, cz = directions[q, 0], directions[q, 1], directions[q, 2]
            fx, fy, fz = wrap(x - cx, nx), wrap(y - cy, ny), wrap(z - cz, nz)
            source = index(x, y, z, q, classes, masks, tables, size)
            beside = (fz * ny + fy) * nx + fx
            wall = (np.int64(masks[classes[beside], INTO]) >> q) & 1 == 1
            is_open = classes[beside] != SOLID_CLASS and not wall
            if is_open and is_own(fx, fy, fz, size) and is_fluid(labels[beside]):
                f, w, opposite = decode(populations[source]), weights[q], directions[q, 3]
                dx, dy, dz = T(cx), T(cy), T(cz)
                share, sent, other, g = T(0.5), T(1), T(0), T(0)
                if size[8]:
                    share = find_share(
                        shape, grid, pose, row, px - dx, py - dy, pz - dz, dx, dy, dz
                    )
                    hx, hy, hz = wrap(fx - cx, nx), wrap(fy - cy, ny), wrap(fz - cz, nz)
                    behind = np.int64(masks[classes[beside], FROM])
                    if (behind >> q) & 1 == 0 and is_fluid(labels[(hz * ny + hy) * nx + hx]):
                        if share < T(0.5):
                            sent = share + share
                            other = T(1) - sent
                            k = index(fx, fy, fz, q, classes, masks, tables, size)
                        else:
                            sent = T(0.5) / share
                            other = T(1) - sent
                            k = index(hx, hy, hz, opposite, classes, masks, tables, size)
                        g = decode(populations[k])
                back = share - T(1)
                ux, uy, uz, ax, ay, az = velocity_at(
                    pose, row, px + back * dx, py + back * dy, pz + back * dz
                )
                term = T(6) * w * (dx * ux + dy * uy + dz * uz)
                if sent < T(1) and share >= T(0.5):
                    term = term * sent
                r = sent * f + other * g - term
                target = index(fx, fy, fz, opposite, classes, masks, tables, size)
                populations[target] = encode(r)
                r = decode(populations[target])
                add_impulse(
                    partial, i, f - r, ((f + r) * dx, (f + r) * dy, (f + r) * dz),
                    (ux, uy, uz), (ax, ay, az), scale,
                )  # fmt: skip
            if own:
                g = equilibrium_of(q, T(0), bx, by, bz, directions, weights)
                populations[source] = encode(g)
        if own:
            source = index(x, y, z, 0, classes, masks, tables, size)
            populations[source] = encode(equilibrium_of(0, T(0), bx, by, bz, directions, weights))

    @inlined
    def bounce(
        i, populations, labels, classes, masks, tables, directions, weights, size, pose, origin,
        clock, shape, grid, partial, scale,
    ):  # fmt: skip
        T = type(weights[0])
        row = clock[0]
        lattice = classes, masks, tables, directions, weights, size
        body = pose, shape, grid, scale
        bx, end, by, bz, y, z = find_piece(i, size, origin, row)
        for k in range(SUMS):
            partial[k, i] = 0
        for b in range(bx, end):
            x = place(origin[row, 0] + b, 0, size)
            if x < 0:
                continue
            cell = (z * size[1] + y) * size[0] + x
            label = labels[cell]
            if label >= FRESH:
                labels[cell] = 0
            elif label == size[7]:
                point = T(b) + T(0.5), T(by) + T(0.5), T(bz) + T(0.5)
                bounce_cell(i, (x, y, z), point, row, populations, labels, lattice, body, partial)

    return bounce
