"""Formulas of a scalar in one cell, for both targets: the lattice D3Q7 with two relaxation times.

Population 0 is at rest; 1 and 2 move along +x and -x, 3 and 4 along y, 5 and 6 along z. The
equilibrium of the population along +-a is s (1/8 + u_a^2/2 +- u_a/2), and that at rest
s (1/4 - u^2), where s is the scalar: its moments are s, s u, and s (1/4 + u_a^2) on the diagonal.
"""

import numpy as np

from lbm._kernels.formulas.scalar_formulas import add_half_impulse, total
from lbm.collisions.unroll import inlined
from lbm.geometry.wall_links import SOLID_CLASS

STREAMS, FLUX, VALUE, OUTFLOW, INFLOW = range(5)
"""Kinds of links: into fluid; a given flux; a value at a wall; a value that is carried away by the
flow, or in by it."""


@inlined
def collide_pair(p, m, s, u, even_rate, odd_rate):
    """Return the populations along +a and -a after the collision, for the velocity u along a."""
    T = type(s)
    even, odd = T(0.5) * (p + m), T(0.5) * (p - m)
    even += even_rate * (s * (T(0.125) + T(0.5) * u * u) - even)
    odd += odd_rate * (s * (T(0.5) * u) - odd)
    return even + odd, even - odd


@inlined
def collide_rest(g, s, ux, uy, uz, even_rate):
    """Return the population at rest after the collision."""
    T = type(s)
    return g + even_rate * (s * (T(0.25) - ((ux * ux + uy * uy) + uz * uz)) - g)


@inlined
def wall_return(h, kind, number, s, u):
    """Return what a wall sends back for the population h that runs into it.

    s is the scalar of the cell and u its velocity across the wall. A flux adds to the bounce-back;
    values bounce back with the opposite sign (anti-bounce-back, Ginzburg 2005).
    """
    T = type(h)
    if kind == FLUX:
        return h + number
    if kind == VALUE:
        return T(0.25) * number - h
    value = s if kind == OUTFLOW else number
    return value * (T(0.25) + u * u) - h


@inlined
def interpolated_return(halfway, other, a, b, k):
    """Return what a wall within a cell sends back, from what one half-way has sent back.

    `other` is the second population of the interpolation, and a, b and k are the coefficients
    (`cut_links`).
    """
    return a * halfway + b * other + k


@inlined
def step_cell(x, y, z, g, target, velocity, classes, kinds, numbers, rates):
    """Collide in a cell of g and stream to `target`; `lbm._coupled.scalars.Loops` has the rest."""
    c = classes[z, y, x]
    if c == SOLID_CLASS:
        return
    nz, ny, nx = classes.shape
    f = (g[0, z, y, x], g[1, z, y, x], g[2, z, y, x], g[3, z, y, x], g[4, z, y, x],
         g[5, z, y, x], g[6, z, y, x])  # fmt: skip
    ux, uy, uz = velocity[0, z, y, x], velocity[1, z, y, x], velocity[2, z, y, x]
    s, (even, odd) = total(f), rates
    target[0, z, y, x] = collide_rest(f[0], s, ux, uy, uz, even)
    a, b = collide_pair(f[1], f[2], s, ux, even, odd)
    if kinds[c, 1] == STREAMS:
        target[1, z, y, x + 1 if x + 1 < nx else 0] = a
    else:
        target[2, z, y, x] = wall_return(a, kinds[c, 1], numbers[c, 1], s, ux)
    if kinds[c, 2] == STREAMS:
        target[2, z, y, (x if x > 0 else nx) - 1] = b
    else:
        target[1, z, y, x] = wall_return(b, kinds[c, 2], numbers[c, 2], s, ux)
    a, b = collide_pair(f[3], f[4], s, uy, even, odd)
    if kinds[c, 3] == STREAMS:
        target[3, z, y + 1 if y + 1 < ny else 0, x] = a
    else:
        target[4, z, y, x] = wall_return(a, kinds[c, 3], numbers[c, 3], s, uy)
    if kinds[c, 4] == STREAMS:
        target[4, z, (y if y > 0 else ny) - 1, x] = b
    else:
        target[3, z, y, x] = wall_return(b, kinds[c, 4], numbers[c, 4], s, uy)
    a, b = collide_pair(f[5], f[6], s, uz, even, odd)
    if kinds[c, 5] == STREAMS:
        target[5, z + 1 if z + 1 < nz else 0, y, x] = a
    else:
        target[6, z, y, x] = wall_return(a, kinds[c, 5], numbers[c, 5], s, uz)
    if kinds[c, 6] == STREAMS:
        target[6, (z if z > 0 else nz) - 1, y, x] = b
    else:
        target[5, z, y, x] = wall_return(b, kinds[c, 6], numbers[c, 6], s, uz)


# ---- items of loops --------------------------------------------------------------------------


@inlined
def interpolate(i, g, wall, other, factors, sent, returned):
    """Compute what the interpolated wall of link i returns; g is flat."""
    halfway = g[wall[i]]
    sent[i] = factors[3, i] - halfway
    returned[i] = interpolated_return(
        halfway, g[other[i]], factors[0, i], factors[1, i], factors[2, i]
    )


@inlined
def store(i, g, wall, returned):
    """Store what the wall of link i returns."""
    g[wall[i]] = returned[i]


@inlined
def add_half_force(i, fields, g, classes, numbers, box):
    """Add half of the buoyancy's impulse to the velocity of cell i in fields [4, z, y, x] of a box.

    `numbers` are the force for each unit of the scalar, and the value without a force.
    """
    width, height = fields.shape[3], fields.shape[2]
    x, j, k = i % width, i // width % height, i // (width * height)
    y, z = box[2] + j, box[4] + k
    if classes[z, y, x] == SOLID_CLASS:
        return
    s = total((g[0, z, y, x], g[1, z, y, x], g[2, z, y, x], g[3, z, y, x], g[4, z, y, x],
               g[5, z, y, x], g[6, z, y, x]))  # fmt: skip
    drho, ux, uy, uz = (
        fields[0, k, j, x],
        fields[1, k, j, x],
        fields[2, k, j, x],
        fields[3, k, j, x],
    )
    ux, uy, uz = add_half_impulse(drho, ux, uy, uz, s, numbers)
    fields[1, k, j, x], fields[2, k, j, x], fields[3, k, j, x] = ux, uy, uz


@inlined
def is_not_finite(i, g, classes, box):
    """Return 1 if the value in cell i of a box is not finite and the cell is fluid, otherwise 0."""
    x0, x1, y0, y1, z0, _ = box
    width, height = x1 - x0, y1 - y0
    x, y, z = x0 + i % width, y0 + i // width % height, z0 + i // (width * height)
    s = total((g[0, z, y, x], g[1, z, y, x], g[2, z, y, x], g[3, z, y, x], g[4, z, y, x],
               g[5, z, y, x], g[6, z, y, x]))  # fmt: skip
    return np.int64((s - s != 0) & (classes[z, y, x] != SOLID_CLASS))
