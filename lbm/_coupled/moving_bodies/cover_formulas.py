"""The cells that a moving body covers, and what newly covered ones hold."""

import functools
from typing import Any

from lbm._coupled.moving_bodies.formulas import (
    COUNT,
    END,
    FRESH,
    OVERLAP,
    add_force,
    add_impulse,
    called,
    find_piece,
    height_at,
    is_fluid,
    is_own,
    make_access,
    place,
    velocity_at,
)
from lbm._kernels.formulas.storage_formulas import codec
from lbm.collisions.unroll import inlined
from lbm.geometry.wall_links import SOLID_CLASS
from lbm.lattices.precision import PRECISIONS


@functools.cache
def make_cover(precision: str) -> Any:
    """Make the item that marks the cells of a body, and takes up what newly covered ones hold."""
    decode, _ = codec(PRECISIONS[precision])
    index = make_access(precision)

    @called
    def take_up(i, cell, point, row, populations, lattice, pose, partial, scale):
        (x, y, z), (px, py, pz) = cell, point
        classes, masks, tables, directions, size = lattice
        T = type(px)
        drho, jx, jy, jz = T(0), T(0), T(0), T(0)
        for q in range(size[4]):
            f = decode(populations[index(x, y, z, q, classes, masks, tables, size)])
            drho += f
            jx += f * T(directions[q, 0])
            jy += f * T(directions[q, 1])
            jz += f * T(directions[q, 2])
        ux, uy, uz, ax, ay, az = velocity_at(pose, row, px, py, pz)
        add_impulse(partial, i, drho, (jx, jy, jz), (ux, uy, uz), (ax, ay, az), scale)
        add_force(partial, i, -ux, -uy, -uz, (ax, ay, az), scale)  # that of density 1
        partial[COUNT, i] += 1

    @inlined
    def cover(
        i, populations, labels, classes, masks, tables, directions, weights, size, pose, origin,
        clock, shape, grid, partial, scale,
    ):  # fmt: skip
        T = type(weights[0])
        row = clock[0]
        lattice = classes, masks, tables, directions, size
        bx, end, by, bz, y, z = find_piece(i, size, origin, row)
        py, pz = T(by) + T(0.5), T(bz) + T(0.5)
        for b in range(bx, end):
            x, px = place(origin[row, 0] + b, 0, size), T(b) + T(0.5)
            cell = (z * size[1] + y) * size[0] + x
            if x < 0 or classes[cell] == SOLID_CLASS:
                continue
            label, own = labels[cell], is_own(x, y, z, size)
            if height_at(shape, grid, pose, row, END, px, py, pz) < T(0):
                if label == 0 and own:
                    take_up(
                        i, (x, y, z), (px, py, pz), row, populations, lattice, pose, partial, scale
                    )
                if is_fluid(label):
                    labels[cell] = size[7]
                elif label != size[7] and own:
                    partial[OVERLAP, i] += 1
            elif label == size[7]:
                labels[cell] = FRESH + size[7]

    return cover
