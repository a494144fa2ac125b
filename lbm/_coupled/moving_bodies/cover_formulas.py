"""The cells that a moving body covers, and what they hold."""

import functools
from typing import Any

import numpy as np

from lbm._coupled.moving_bodies.formulas import (
    CHANGED,
    FRESH,
    NEAR_SURFACE,
    called,
    equilibrium_of,
    find_cell,
    inlined,
    is_fluid,
    is_own,
    make_access,
    middle_of,
    pack_cell,
    walls_of,
)
from lbm._coupled.moving_bodies.shape_formulas import (
    END,
    ROUNDED,
    find_in_frame,
    height,
    velocity_at,
)
from lbm._kernels.formulas.storage_formulas import codec
from lbm.geometry.wall_links import SOLID_CLASS
from lbm.lattices import Lattice
from lbm.lattices.precision import PRECISIONS


@functools.cache
def make_cover(precision: str, lattice: Lattice) -> Any:
    """Make the item that marks a cell if a body covers it, and returns to which lists it belongs.

    Cells that the body has covered until now get the equilibrium of its velocity at density 1.
    """
    _, encode = codec(PRECISIONS[precision])
    index = make_access(precision)
    # No link from a fluid cell reaches deeper.
    depth_of_links = max(np.linalg.norm(lattice.velocities, axis=1)) + 2.0 * ROUNDED

    @called
    def carry_along(cell, point, row, populations, lattice, pose):
        (x, y, z), (px, py, pz) = cell, point
        classes, masks, tables, directions, weights, size = lattice
        walls = walls_of(x, y, z, classes, masks, size)
        ux, uy, uz, _, _, _ = velocity_at(pose, row, px, py, pz)
        zero = type(px)(0)
        for q in range(size[4]):
            f = equilibrium_of(q, zero, ux, uy, uz, directions, weights)
            populations[index(x, y, z, q, walls, tables, size)] = encode(f)

    @inlined
    def cover(
        i, populations, labels, classes, masks, tables, directions, weights, size, pose, origin,
        clock, shape, grid,
    ):  # fmt: skip
        row, T = clock[0], type(weights[0])
        box, (x, y, z) = find_cell(i, size, origin, row)
        if x < 0:
            return 0
        cell = (z * size[1] + y) * size[0] + x
        if classes[cell] == SOLID_CLASS:
            return 0
        is_inside, (px, py, pz), before = is_own(x, y, z, size), middle_of(box, T), labels[cell]
        label = before
        if before == size[7] and is_inside:
            lattice = classes, masks, tables, directions, weights, size
            carry_along((x, y, z), (px, py, pz), row, populations, lattice, pose)
        # Bodies mark cells in the order of their numbers: those with higher ones not yet.
        if before >= FRESH + size[7]:
            label = 0
        a, b, c = find_in_frame(pose, row, END, px, py, pz)
        depth = -height(shape, grid, a, b, c)
        changed = False
        if depth > T(0):
            changed = label != size[7] and label < FRESH
            if is_fluid(label):
                label = size[7]
        elif label == size[7]:
            label, changed = FRESH + size[7], True
        if label != before:
            labels[cell] = label
        lists = CHANGED if changed and is_inside else 0
        if label == size[7] and depth < T(depth_of_links):
            lists += NEAR_SURFACE
        return 4 * pack_cell(x, y, z) + lists

    return cover
