"""Formulas of a scalar in one cell, for both targets: the lattice D3Q7 with two relaxation times.

Population 0 is at rest; 1 and 2 move along +x and -x, 3 and 4 along y, 5 and 6 along z. The
equilibrium of the population along +-a is s (1/8 + u_a^2/2 +- u_a/2), and that at rest
s (1/4 - u^2), where s is the scalar: its moments are s, s u, and s (1/4 + u_a^2) on the diagonal.
"""

from lbm.collisions.unroll import inlined

STREAMS, FLUX, VALUE, OUTFLOW, INFLOW = range(5)
"""Kinds of links: into fluid; a given flux; a value at a wall; a value that is carried away by the
flow, or in by it."""


@inlined
def total(g):
    """Return the scalar of a cell with the populations g, a tuple of 7."""
    return ((g[1] + g[2]) + (g[3] + g[4])) + ((g[5] + g[6]) + g[0])


@inlined
def add_half_impulse(drho, ux, uy, uz, s, numbers):
    """Return the velocity of a cell with half of the impulse of its scalar s.

    drho is the density less 1; `numbers` are those of `Engine.accelerate`.
    """
    T = type(drho)
    half = T(0.5) * (s - numbers[3]) / (T(1) + drho)
    return ux + half * numbers[0], uy + half * numbers[1], uz + half * numbers[2]


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
    (`lbm._scalars.cut_links`).
    """
    return a * halfway + b * other + k
