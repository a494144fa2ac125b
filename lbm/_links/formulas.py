"""The formula of a link that ends at an interpolated wall, for both targets."""

from __future__ import annotations

import numpy as np

from lbm._links.tables import MASS_UNIT
from lbm.collisions.unroll import inlined


@inlined
def interpolate_population(f, g, sent, other, wall_term):
    """Return what a wall sends back for the population f that runs into it.

    `g` is the second population of the interpolation, and `sent` and `other` are the coefficients
    of both (`lbm._model.cut_links`).
    """
    return sent * f + other * g - wall_term


@inlined
def mass_in_units(mass):
    """Return a mass as a number of units: integers have the same sum in any order.

    What is less than a unit is cut off.
    """
    T = type(mass)
    return np.int64(mass * T(1.0 / MASS_UNIT))


@inlined
def remove_share(f, weight, total, share):
    """Return the population f that a wall returns, less its share of the mass brought in.

    `total` is that mass in units, and `share` the mass of a unit over the sum of all weights.
    """
    T = type(f)
    return f - weight * (T(total) * share)
