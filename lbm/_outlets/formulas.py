"""The formula of an outlet that does not reflect, for both targets.

A plane wave that leaves has a density that is the excess of its velocity over the mean one divided
by the speed of sound, times the density: rho' = rho (u - u_mean) / c_s. An outlet at which the
density does so returns nothing of it (the incoming characteristic of Thompson 1987 and of Poinsot
and Lele 1992 does not change).
"""

from __future__ import annotations

from lbm._model.arguments import SOUND
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
def follow(mean, rho, momentum, rate):
    """Return the mean velocity after a step of the flow."""
    return mean + rate * (momentum / rho - mean)
