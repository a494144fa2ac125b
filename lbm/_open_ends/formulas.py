"""The formulas of ends that do not reflect, for both targets.

A plane wave that leaves has a density that is the excess of its velocity over the mean one divided
by the speed of sound, times the density: rho' = rho (u - u_mean) / c_s. An outlet at which the
density does so returns nothing of it (the incoming characteristic of Thompson 1987 and of Poinsot
and Lele 1992 does not change), and neither does an inlet whose mass flux follows the density.
"""

from __future__ import annotations

import functools

import numpy as np

from lbm._engines.storage_formulas import codec
from lbm._model.arguments import SOUND
from lbm._model.precision import PRECISIONS
from lbm.collisions.unroll import inlined

_IMPEDANCE = 1.0 / SOUND


@inlined
def excess_density(rho, momentum, mean, share):
    """Return by how much the density at an outlet exceeds its target.

    Parameters
    ----------
    rho, momentum : density of the cell, and its momentum out of the domain, with populations that
        an outlet at the target has returned
    mean : mean velocity out of the domain
    share : sum of 2 w_q of the links through the outlet; the cell gains this share of the excess
        as mass, and loses it as momentum, so that the equation is implicit
    """
    T = type(rho)
    impedance = T(_IMPEDANCE)
    return impedance * (momentum / rho - mean) / (T(1) + impedance * share / rho)


@inlined
def excess_flux(drho, momentum, mean, share):
    """Return by how much the mass flux out of an inlet exceeds its target.

    A plane wave that leaves moves with c_s + u, where u is the velocity out of the domain, and
    carries this speed times its density.

    Parameters
    ----------
    drho, momentum : density of the cell less 1, and its momentum out of the domain, with
        populations that an inlet at the target has returned
    mean : running mean of the density less 1
    share : sum of 2 w_q of the links through the inlet; the cell loses 3 times this share of the
        excess as mass, so that the equation is implicit
    """
    T = type(drho)
    speed = T(SOUND) + momentum / (T(1) + drho)
    return speed * (drho - mean) / (T(1) + T(3) * share * speed)


@inlined
def respond_as_outlet(drho, momentum, share, mean, rate):
    """Return what an outlet adds to the populations that it returns, over 2 w_q, and its new mean
    velocity out of the domain; the arguments are those of `excess_density`."""
    rho = type(drho)(1) + drho
    excess = excess_density(rho, momentum, mean, share)
    return excess, mean + rate * ((momentum - share * excess) / rho - mean)


@inlined
def respond_as_inlet(drho, momentum, share, mean, rate):
    """Return what an inlet adds to the populations that it returns, over 2 w_q, and its new mean
    density less 1; the arguments are those of `excess_flux`.

    An inlet is a moving wall: what it returns falls by 6 w_q for each unit of the flux outwards.
    """
    change = type(drho)(-3) * excess_flux(drho, momentum, mean, share)
    return change, mean + rate * (drho + share * change - mean)


RESPONSES = {"outlet": respond_as_outlet, "inlet": respond_as_inlet}
"""Formulas by the kind of the end."""


@functools.cache
def make_correct_cell(kind: str, precision: str):
    """Make correct_cell(i, populations, loads, links, numbers, directions, opposite, rate).

    It corrects what an end has returned to its cell number i, in place. `loads` [q, cell] and
    `links` [cell] are those of `EndTable`; `numbers` [2, cell] has its `share` and the running
    means; `directions` [2, q] has `outwards` and 2 w_q; `opposite` [q] is that of the lattice.
    """
    decode, encode = codec(PRECISIONS[precision])
    respond = RESPONSES[kind]

    @inlined
    def correct_cell(i, populations, loads, links, numbers, directions, opposite, rate):
        T = type(rate)
        drho = momentum = T(0)
        for q in range(loads.shape[0]):
            f = decode(populations[loads[q, i]])
            drho += f
            momentum += directions[0, q] * f
        change, mean = respond(drho, momentum, numbers[0, i], numbers[1, i], rate)
        for q in range(loads.shape[0]):
            if (links[i] >> np.uint32(q)) & np.uint32(1):
                k = loads[opposite[q], i]
                populations[k] = encode(decode(populations[k]) + directions[1, q] * change)
        numbers[1, i] = mean

    return correct_cell
