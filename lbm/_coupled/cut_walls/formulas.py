"""Formulas of links that end at interpolated walls, and loops over links, for both targets."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from lbm._coupled.cut_walls.tables import MASS_UNIT
from lbm._kernels.formulas.storage_formulas import codec
from lbm._kernels.moments.formulas import add_population, make_arriving_population, make_cell_access
from lbm.collisions.unroll import inlined
from lbm.lattices import Lattice
from lbm.lattices.precision import PRECISIONS


@inlined
def interpolate_population(f, g, sent, other, wall_term):
    """Return what a wall sends back for the population f that runs into it.

    `g` is the second population of the interpolation, and `sent` and `other` are the coefficients
    of both (`lbm.geometry.cut_links`).
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


@functools.cache
def make_interpolate(precision: str) -> Any:
    """Make interpolate(i, populations, wall, other, shares, terms, sent, returned).

    It computes what the wall of link i returns; arrays are those of `LinkTable`, with shares
    [2, link].
    """
    decode, _ = codec(PRECISIONS[precision])

    @inlined
    def interpolate(i, populations, wall, other, shares, terms, sent, returned):
        f, g = decode(populations[wall[i]]), decode(populations[other[i]])
        sent[i] = f
        returned[i] = interpolate_population(f, g, shares[0, i], shares[1, i], terms[i])

    return interpolate


@functools.cache
def make_store(precision: str) -> Any:
    """Make store(i, populations, wall, returned, weight, total, share).

    It writes what the wall of link i returns, less its share of the excess total[0].
    """
    _, encode = codec(PRECISIONS[precision])

    @inlined
    def store(i, populations, wall, returned, weight, total, share):
        back = remove_share(returned[i], weight[i], total[0], share)
        returned[i] = back
        populations[wall[i]] = encode(back)

    return store


@functools.cache
def make_interpolate_moments(lattice: Lattice, precision: str, operator: type, forced: bool) -> Any:
    """Make the `interpolate` of blocks whose state is moments.

    Arrays are those of `LinkTable` and `MomentsTable`, and arguments of `arriving_population`.
    """
    arriving_population = make_arriving_population(lattice, precision, operator, forced)

    @inlined
    def interpolate(
        i, words, viscosity, types, directions, rates, force, numbers, populations, rows, shares,
        terms, sent, returned,
    ):  # fmt: skip
        q, f, g = populations[0, i], terms[i], terms[i]
        for k in range(2):
            f, g = g, arriving_population(
                q, words, viscosity, numbers[k, i], populations[k, i], rows[k, i], types,
                directions, rates, force,
            )  # fmt: skip
        sent[i] = f
        returned[i] = interpolate_population(f, g, shares[0, i], shares[1, i], terms[i])

    return interpolate


@functools.cache
def make_store_moments(precision: str) -> Any:
    """Make the `store` of cell number i of a block whose state is moments.

    The step has added what a wall half-way returns; `words` are those behind it. What they count of
    each link already is `counted`: what it has sent, or `returned` itself to remove another share.
    """
    load, store = make_cell_access(precision)

    @inlined
    def store_moments(
        i, words, directions, first, numbers, populations, counted, returned, weight, total, share
    ):
        n = numbers[0, first[i]]
        m = load(words, n)
        for k in range(first[i], first[i + 1]):
            back = remove_share(returned[k], weight[k], total[0], share)
            change = back - counted[k]
            returned[k], q = back, populations[0, k]
            x, y, z = -directions[0, q], -directions[1, q], -directions[2, q]
            m = add_population(m, change, x, y, z)
        store(words, n, m)

    return store_moments


@inlined
def excess_of_link(i, sent, returned):
    """Return the mass that the wall of link i brings in, in units of `tables.MASS_UNIT`."""
    return mass_in_units(returned[i] - sent[i])
