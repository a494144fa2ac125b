"""Formulas of a scalar at a moving body, for the items of both targets.

Three loops follow those of the flow: what has run into the body returns as from the walls of
`lbm._coupled.scalars`, seen by an observer on the body; cells that it covers give up what they
hold; and those that it has left get the value of its wall, or the one at which the neighbours would
have sent what they sent. With the velocity u of the wall along a link, the populations of both
directions hold v (1/4 + u^2) in equilibrium at the value v, and differ by v u. What is for fresh
cells waits in population 0 of the step before, which nobody reads any more.
"""

from lbm._coupled.moving_bodies.formulas import (
    FRESH,
    called,
    find_cell,
    in_units,
    inlined,
    is_fluid,
    is_own,
    middle_of,
    wrap,
)
from lbm._coupled.moving_bodies.shape_formulas import find_share, velocity_at
from lbm._coupled.scalars.formulas import STREAMS
from lbm._kernels.formulas.scalar_formulas import total
from lbm.geometry.wall_links import SOLID_CLASS

TAKEN, ENTERED = 0, 1
"""Sums: what the fluid has lost, and what has entered it through the wall. At a wall with a value v
cells that it sweeps count by what they hold; v for each of them is added to ENTERED on the host."""

HEAT_SUMS = 2


@inlined
def value_of(g, x, y, z):
    """Return the scalar of a cell."""
    return total((g[0, z, y, x], g[1, z, y, x], g[2, z, y, x], g[3, z, y, x], g[4, z, y, x],
                  g[5, z, y, x], g[6, z, y, x]))  # fmt: skip


@inlined
def clear_cell(g, x, y, z, value):
    """Set the scalar of a cell to a value at rest in population 0."""
    for q in range(1, 7):
        g[q, z, y, x] = 0
    g[0, z, y, x] = value


@called
def return_from_body(
    i, cell, point, row, after, before, classes, kinds, labels, size, body, wall, partial
):
    """Return what has run into cell (x, y, z) of a body, and keep the value for a fresh cell."""
    (x, y, z), (px, py, pz), (pose, shape, grid) = cell, point, body
    nx, ny, nz = size[0], size[1], size[2]
    is_inside, T = is_own(x, y, z, size), type(px)
    sent, weight = T(0), T(0)
    for q in range(1, 7):
        axis, sign = (q - 1) // 2, 1 - 2 * ((q - 1) % 2)
        back = q + sign
        cx, cy, cz = sign * (axis == 0), sign * (axis == 1), sign * (axis == 2)
        fx, fy, fz = wrap(x - cx, nx), wrap(y - cy, ny), wrap(z - cz, nz)
        if not is_fluid(labels[(fz * ny + fy) * nx + fx]):
            continue
        dx, dy, dz = T(cx), T(cy), T(cz)
        share, h, kind = T(0.5), after[q, z, y, x], classes[fz, fy, fx]
        if size[8]:
            share = find_share(shape, grid, pose, row, px - dx, py - dy, pz - dz, dx, dy, dz)
        behind = share - T(1)
        ux, uy, uz, _, _, _ = velocity_at(
            pose, row, px + behind * dx, py + behind * dy, pz + behind * dz
        )
        u = dx * ux + dy * uy + dz * uz
        if is_inside and kinds[classes[z, y, x], back] == STREAMS:
            sent += h
            weight += T(0.125) + T(0.5) * (u * u + u)
        if not is_own(fx, fy, fz, size) or kind == SOLID_CLASS or kinds[kind, q] != STREAMS:
            continue
        if wall[0] == T(0):
            r = h + wall[1] - (value_of(before, fx, fy, fz) + share * wall[4]) * u
            entered = wall[1]
        else:
            r = wall[1] * (T(0.25) + u * u) - h
            hx, hy, hz = wrap(fx - cx, nx), wrap(fy - cy, ny), wrap(fz - cz, nz)
            if kinds[kind, back] == STREAMS and is_fluid(labels[(hz * ny + hy) * nx + hx]):
                if share < T(0.5):
                    r = r + (T(1) - share - share) * (h - after[q, fz, fy, fx])
                else:
                    r = r * T(0.5) / share + (T(1) - T(0.5) / share) * after[back, hz, hy, hx]
            entered = r - h + wall[1] * u
        after[back, fz, fy, fx] = r
        partial[TAKEN, i] += in_units((h - r) * wall[3])
        partial[ENTERED, i] += in_units(entered * wall[3])
    if is_inside:
        clear_cell(after, x, y, z, T(0))
        before[0, z, y, x] = wall[1]
        if wall[0] == T(0):
            before[0, z, y, x] = sent / max(weight, T(1e-9)) + wall[5]


@inlined
def bounce_scalar(
    i, k, lane, partial, after, before, classes, kinds, labels, size, pose, origin, clock, shape,
    grid, wall,
):  # fmt: skip
    """Let a body return what has run into it.

    `wall` is whether it has a value, the value or the flux, the value of covered cells, the scale
    of sums, and by how much a flux raises the value of a cell beside to that at the wall, and what
    neighbours send to the value of a fresh cell.
    """
    row = clock[0]
    box, (x, y, z) = find_cell(i, size, origin, row)
    if x >= 0 and labels[(z * size[1] + y) * size[0] + x] == size[7]:
        return_from_body(
            lane, (x, y, z), middle_of(box, type(wall[0])), row, after, before, classes, kinds,
            labels, size, (pose, shape, grid), wall, partial,
        )  # fmt: skip


@called
def fill_cell(i, cell, point, row, after, before, pose, wall, partial):
    """Fill a cell that the body has left, with its velocity."""
    x, y, z = cell
    s, T = before[0, z, y, x], type(point[0])
    ux, uy, uz, _, _, _ = velocity_at(pose, row, point[0], point[1], point[2])
    after[0, z, y, x] = s * (T(0.25) - ((ux * ux + uy * uy) + uz * uz))
    for axis in range(3):
        u = ux if axis == 0 else (uy if axis == 1 else uz)
        even, odd = s * (T(0.125) + T(0.5) * u * u), T(0.5) * s * u
        after[1 + 2 * axis, z, y, x] = even + odd
        after[2 + 2 * axis, z, y, x] = even - odd
    add_held(i, -value_of(after, x, y, z), wall, partial)


@inlined
def add_held(i, value, wall, partial):
    """Add what a cell held, which the fluid has lost, to the sums."""
    amount = in_units(value * wall[3])
    partial[TAKEN, i] += amount
    if wall[0] != 0:
        partial[ENTERED, i] -= amount


@inlined
def sweep_scalar(i, k, lane, partial, after, before, labels, size, pose, origin, clock, wall):
    """Take up what newly covered cells hold (the others hold nothing after `bounce_scalar`), and
    fill those that the body has left."""
    row = clock[0]
    box, (x, y, z) = find_cell(i, size, origin, row)
    if x < 0 or not is_own(x, y, z, size):
        return
    label = labels[(z * size[1] + y) * size[0] + x]
    if label == size[7]:
        add_held(lane, value_of(after, x, y, z), wall, partial)
        clear_cell(after, x, y, z, wall[2])
    elif label == FRESH + size[7]:
        point = middle_of(box, type(wall[0]))
        fill_cell(lane, (x, y, z), point, row, after, before, pose, wall, partial)
