"""Spalding's law of the wall, and the formula of a cell beside a modelled wall, for both targets.

Spalding (1961): the speed u at the distance y from a wall with the friction velocity v is u+ = u/v
at y+ = y v/nu,

    y+ = u+ + exp(-kappa B) (exp(kappa u+) - 1 - kappa u+ - (kappa u+)^2/2 - (kappa u+)^3/6),

which holds in the viscous layer, above it and between both.

Walls half-way return all of the momentum along the wall that runs into them. The friction of the
law of the wall replaces it: the wall slips with the velocity s that gives this friction,

    f_-q -= 6 w_q (c_q . s),    (6 sum w_q c_q c_q) s = K - F,

where K is the momentum along the wall that the links of the cell have given to it, and F the
friction on the area of the cell (as in the inverse momentum exchange of Asmuth et al. 2021).

On an oblique wall the links of a cell do not face the wall: they belong to a step of a staircase,
on which the stream along the wall has a pressure and a flux of mass and momentum. K leaves out all
of these, 2 w_q (rho - 1 + rho (9/2 (c_q . u)^2 - 3/2 u^2)) on each link, where u is the velocity
along the wall without friction, and rho - 1 the density once the wall slips with it, both by
iteration. A stream along any wall thus stays as it is but for the friction. What flows into a step
flows out of others, so that mass is kept in sum only.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from lbm._kernels.formulas.storage_formulas import codec
from lbm._kernels.moments.formulas import add_population, make_cell_access
from lbm.collisions.unroll import inlined
from lbm.lattices.precision import PRECISIONS

KAPPA, INTERCEPT = 0.41, 5.2
"""Constants of the logarithmic law u+ = ln(y+)/kappa + B (Pope 2000, equation 7.43)."""

SHIFT = math.exp(-KAPPA * INTERCEPT)
"""Factor of the terms of Spalding's law that vanish in the viscous layer."""

POWER, LOG_FACTOR = 1.0 / 7.0, math.log(8.3)
"""The power law u+ = 8.3 y+^(1/7) of Werner and Wengle (1991), at which the iteration starts."""

NEWTON_STEPS = 4
"""Steps of Newton's method; the error is then rounding for Reynolds numbers y u/nu up to 6e7."""


FRAME, DISTANCE, AREA, INVERSE = 0, 6, 7, 8
"""First rows of the geometry of cells: two vectors along the wall, the distance of the centre in
cells, the area in cells^2, and the inverse xx, xy, yy of 6 sum w c c along the two vectors."""

ROWS = 11
"""Numbers of a cell."""

FASTEST = 1.2
"""Largest speed of the slip over that of the fluid, of which walls without friction have 1: corners
of staircases with few links would have more. With 1.5 spheres of 36 and 48 cells at Re 1e5 blew up
within 300 steps; with 1 plane walls near a body had three times the friction of the law."""

FLUX_STEPS = 5
"""Steps of the iteration for the velocity along the wall without friction and for the density. Each
leaves some 15 % of the error at 0.1 cells/step."""

MOST_FRICTION = 0.5
"""Largest share of the momentum of a cell that friction may take in a step."""


@inlined
def friction_velocity(speed, distance, viscosity):
    """Return the friction velocity of a wall at a distance from which the fluid has a speed.

    Newton's method for the logarithm of y u/nu = u+ y+ as a function of u+.
    """
    T = type(speed)
    local = speed * distance / viscosity
    if local < T(1e-6):
        return T(math.sqrt(speed * viscosity / distance))
    power = T(POWER)
    logarithm = T(math.log(local))
    u = min(T(math.sqrt(local)), T(math.exp((T(LOG_FACTOR) + power * logarithm) / (T(1) + power))))
    for _ in range(NEWTON_STEPS):
        k = T(KAPPA) * u
        tail = T(SHIFT) * (T(math.exp(k)) - T(1) - k * (T(1) + k * (T(0.5) + k * T(1.0 / 6.0))))
        slope = T(SHIFT) * T(KAPPA) * (T(math.exp(k)) - T(1) - k * (T(1) + T(0.5) * k))
        y = u + tail
        derivative = T(1) / u + (T(1) + slope) / y
        u = max(T(0.5) * u, u - (T(math.log(u * y)) - logarithm) / derivative)
    return speed / u


def find_friction_velocities(
    speed: np.ndarray, distance: np.ndarray, viscosity: float
) -> np.ndarray:
    """Return the friction velocities of arrays of speeds and distances."""
    if not len(speed):
        return np.zeros(0)
    compute = np.vectorize(friction_velocity.py_func, otypes=[float])
    result: np.ndarray = compute(speed, np.maximum(distance, 1e-6), viscosity)
    return result


@inlined
def find_slip(drho, along, across, i, sent, returned, links, first, q_of, cells, lattice, nu):
    """Return the velocity, along the two vectors of cell number i, with which its wall slips.

    `drho` is its density less 1, `along` and `across` its momentum after the step; `make_slip` has
    the arrays.
    """
    T = type(nu)
    rho, u, v = T(1) + drho, T(0), T(0)
    lost_along = lost_across = change = T(0)
    for _ in range(FLUX_STEPS):
        density, square = drho + change, u * u + v * v
        lost_along = lost_across = change = T(0)
        for j in range(first[i], first[i + 1]):
            k, q = links[j], q_of[j]
            c, d = component(q, i, cells, lattice, 0), component(q, i, cells, lattice, 3)
            weight, moved = T(2) * lattice[3, q], c * u + d * v
            flux = T(4.5) * moved * moved - T(1.5) * square
            f = sent[k] + returned[k] - weight * (density + (T(1) + density) * flux)
            change -= T(3) * weight * moved
            lost_along += c * f
            lost_across += d * f
        rho = T(1) + density
        u, v = (along + lost_along) / rho, (across + lost_across) / rho
    speed = T(math.sqrt(u * u + v * v)) + T(1e-12)
    friction = friction_velocity(speed, cells[6, i], nu)
    drag = rho * min(T(MOST_FRICTION), friction * friction * cells[7, i] / speed)
    r, t = lost_along - drag * u, lost_across - drag * v
    a = cells[8, i] * r + cells[9, i] * t
    b = cells[9, i] * r + cells[10, i] * t
    limit = T(FASTEST) * speed / (T(math.sqrt(a * a + b * b)) + T(1e-12))
    return a * min(limit, T(1)), b * min(limit, T(1))


@functools.cache
def make_slip(precision: str) -> Any:
    """Make slip(i, ...), whose further arguments are below.

    It replaces the friction of the links of cell number i, in place.

    Parameters
    ----------
    populations : flat array of a block
    loads : int64 [q, cell], where the next step loads the populations
    wall, sent, returned : those of `cut_walls.tables.LinkTable`
    links : int64 [link], numbers of the links of modelled walls among these
    first : int64 [cell + 1], first of them of each cell
    q_of : int64 [link]
    cells : [ROWS, cell]
    lattice : [4, q], velocities and weights
    nu : kinematic viscosity in cells^2/step
    """
    decode, encode = codec(PRECISIONS[precision])

    @inlined
    def slip(i, populations, loads, wall, sent, returned, links, first, q_of, cells, lattice, nu):
        T = type(nu)
        drho = along = across = T(0)
        for q in range(loads.shape[0]):
            f = decode(populations[loads[q, i]])
            drho += f
            along += component(q, i, cells, lattice, 0) * f
            across += component(q, i, cells, lattice, 3) * f
        a, b = find_slip(
            drho, along, across, i, sent, returned, links, first, q_of, cells, lattice, nu
        )
        for j in range(first[i], first[i + 1]):
            k, q = links[j], q_of[j]
            moved = component(q, i, cells, lattice, 0) * a + component(q, i, cells, lattice, 3) * b
            back = returned[k] - T(6) * lattice[3, q] * moved
            returned[k] = back
            populations[wall[k]] = encode(back)

    return slip


@functools.cache
def make_slip_moments(precision: str) -> Any:
    """Make the `slip` of a block whose state is moments: `words`, of cells with these numbers."""
    load, store = make_cell_access(precision)

    @inlined
    def slip(i, words, numbers, sent, returned, links, first, q_of, cells, lattice, nu):
        T, m = type(nu), load(words, numbers[i])
        along = m[1] * cells[0, i] + m[2] * cells[1, i] + m[3] * cells[2, i]
        across = m[1] * cells[3, i] + m[2] * cells[4, i] + m[3] * cells[5, i]
        a, b = find_slip(
            m[0], along, across, i, sent, returned, links, first, q_of, cells, lattice, nu
        )
        for j in range(first[i], first[i + 1]):
            k, q = links[j], q_of[j]
            moved = component(q, i, cells, lattice, 0) * a + component(q, i, cells, lattice, 3) * b
            change = -T(6) * lattice[3, q] * moved
            returned[k] += change
            m = add_population(m, change, -lattice[0, q], -lattice[1, q], -lattice[2, q])
        store(words, numbers[i], m)

    return slip


@functools.cache
def make_mixing(precision: str) -> Any:
    """Make mix(i, ...), which raises the eddy viscosity of cell number i to that of Spalding's law.

    It is that between this cell and the next one, half a cell farther from the wall. Models that
    fade at walls leave too little of it, where cells resolve none of the eddies that would mix.

    Parameters
    ----------
    moments : [4, cell], rho - 1 and the velocity of the block's cells
    viscosity : eddy viscosity of the block's cells, as it is stored
    index : int64 [2, cell], positions of the cells in these arrays
    cells : [ROWS, cell]
    nu : kinematic viscosity in cells^2/step
    """
    decode, encode = codec(PRECISIONS[precision])

    @inlined
    def mix(i, moments, viscosity, index, cells, nu):
        T = type(nu)
        n, k, u, v = index[0, i], index[1, i], T(0), T(0)
        for a in range(3):
            u += moments[1 + a, n] * cells[a, i]
            v += moments[1 + a, n] * cells[3 + a, i]
        speed, distance = T(math.sqrt(u * u + v * v)) + T(1e-12), cells[6, i]
        x = T(KAPPA) * speed / friction_velocity(speed, distance, nu)
        mixed = T(KAPPA * SHIFT) * nu * (T(math.exp(x)) - T(1) - x * (T(1) + T(0.5) * x))
        mixed *= T(1) + T(0.5) / distance
        viscosity[k] = encode(max(decode(viscosity[k]), mixed))

    return mix


@inlined
def component(q, i, cells, lattice, row):
    """Return the component of c_q along one of the two vectors of a cell, which begins at a row."""
    return (
        lattice[0, q] * cells[row, i]
        + lattice[1, q] * cells[row + 1, i]
        + lattice[2, q] * cells[row + 2, i]
    )
