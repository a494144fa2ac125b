"""Formulas of one cell, for both targets: equilibrium and body force.

Populations are stored shifted, f_q - w_q: small numbers, so that float32 keeps its digits and 16
bits suffice (Skordos 1993). `drho` is rho - 1. Lattice units throughout: cells, steps, density 1.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any, NamedTuple

from hetero.codegen import compile_source
from lbm.collisions.moments import moments_of
from lbm.collisions.operator import Collision
from lbm.collisions.unroll import inlined, per_population
from lbm.lattices import Lattice


def dot_expression(c, names=("ux", "uy", "uz")) -> str:
    """Return the scalar product of a lattice velocity and a vector with these component names."""
    return " ".join(f"{'+' if s > 0 else '-'} {n}" for s, n in zip(c, names, strict=True) if s)


def _equilibrium_source(lattice: Lattice) -> str:
    """Write out the equilibrium in the form that `CellFormulas` describes.

    (Riesinger 2017, equation 13.4, with the square of u in its last term, which is missing there.)
    """
    c, weights = lattice.velocities, lattice.weights
    lines = [
        "def equilibrium(drho, ux, uy, uz):",
        "    T = type(drho)",
        "    rho = T(1) + drho",
        "    base = drho - T(1.5) * rho * (ux * ux + uy * uy + uz * uz)",
        f"    e0 = T({weights[0]!r}) * base",
    ]
    for w in sorted(set(weights[1:])):
        name = f"{round(1 / w)}"
        lines += [
            f"    base{name} = T({w!r}) * base",
            f"    odd{name} = T({3 * w!r}) * rho",
            f"    even{name} = T({4.5 * w!r}) * rho",
        ]
    for i, j in lattice.pairs:
        name = f"{round(1 / weights[i])}"
        lines += [
            f"    cu = {dot_expression(c[i])}",
            f"    e{i}, e{j} = base{name} + even{name} * (cu * cu), odd{name} * cu",
        ]
    results = ", ".join(f"e{q}" for q in range(lattice.size))
    return "\n".join([*lines, f"    return ({results})", ""])


def _half_force_source(lattice: Lattice) -> str:
    """Write out half of the forcing term, w (3 (c - u).F + 9 (c.u) (c.F)) / 2 (Guo et al. 2002)."""
    c, weights = lattice.velocities, lattice.weights
    lines = [
        "def half_force(ux, uy, uz, fx, fy, fz):",
        "    T = type(ux)",
        "    uf = T(-1.5) * (ux * fx + uy * fy + uz * fz)",
        f"    s0 = T({weights[0]!r}) * uf",
    ]
    for i, j in lattice.pairs:
        w, cf = weights[i], dot_expression(c[i], ("fx", "fy", "fz"))
        lines += [
            f"    cu, cf = {dot_expression(c[i])}, {cf}",
            f"    even, odd = T({w!r}) * (uf + T(4.5) * cu * cf), T({1.5 * w!r}) * cf",
            f"    s{i}, s{j} = even + odd, even - odd",
        ]
    results = ", ".join(f"s{q}" for q in range(lattice.size))
    return "\n".join([*lines, f"    return ({results})", ""])


class CellFormulas(NamedTuple):
    """Formulas of one cell of a lattice that depend on no operator.

    Attributes
    ----------
    equilibrium : equilibrium(rho - 1, ux, uy, uz) -> the shifted equilibria as even and odd parts
        of pairs: element 0 belongs to the population at rest; for each pair (i, j), element i is
        half the sum of the two equilibria and element j half of their difference, i's less j's
    half_force : half_force(ux, uy, uz, fx, fy, fz) -> half of the forcing term of each population
    equilibrium_populations : equilibrium_populations(rho - 1, ux, uy, uz, force) -> the equilibrium
        of a velocity that includes half of the force's impulse
    relax_towards : relax_towards(f, strength, rho - 1, ux, uy, uz, force) -> f moved by the share
        `strength` towards that equilibrium
    add : add(f, s) -> f + s for each population
    """

    equilibrium: Any
    half_force: Any
    equilibrium_populations: Any
    relax_towards: Any
    add: Any


@functools.cache
def cell_formulas(lattice: Lattice) -> CellFormulas:
    """Return the formulas of a lattice."""
    equilibrium = inlined(compile_source("equilibrium", _equilibrium_source(lattice), {}))
    half_force = inlined(compile_source("half_force", _half_force_source(lattice), {}))
    join_parts = moments_of(lattice).join_parts

    @inlined
    def equilibrium_populations(drho, ux, uy, uz, force):
        T = type(drho)
        shift = T(-0.5) / (T(1) + drho)
        e = equilibrium(drho, ux + shift * force[0], uy + shift * force[1], uz + shift * force[2])
        return join_parts(e, e)

    @per_population(lattice, 2)
    def move(f, e, strength):
        return f + strength * (e - f)

    @inlined
    def relax_towards(f, strength, drho, ux, uy, uz, force):
        return move(f, equilibrium_populations(drho, ux, uy, uz, force), strength)

    @per_population(lattice, 2)
    def add(f, s):
        return f + s

    return CellFormulas(equilibrium, half_force, equilibrium_populations, relax_towards, add)


@functools.cache
def make_drive(lattice: Lattice):
    """Make drive(f, s, force, numbers) for a lattice, which returns the populations f after the
    impulse of a scalar s and the velocity with half of it.

    The impulse is that of Guo et al. (2002) at this velocity: the flow gains force times time, and
    second moments that belong to it, exactly. `numbers` are those of `Engine.accelerate`.
    """
    velocity, _ = make_cell_functions(lattice, lambda f, e, rates: f, True, True)
    half_force, add = cell_formulas(lattice).half_force, cell_formulas(lattice).add

    @inlined
    def drive(f, s, force, numbers):
        d = s - numbers[3]
        bx, by, bz = d * numbers[0], d * numbers[1], d * numbers[2]
        _, ux, uy, uz = velocity(f, (force[0] + bx, force[1] + by, force[2] + bz))
        return add(f, half_force(ux, uy, uz, bx + bx, by + by, bz + bz)), ux, uy, uz

    return drive


def make_relaxation(operator: type[Collision], lattice: Lattice):
    """Make the function relax(f, e, rates) of an operator for a lattice.

    Return it, and whether e is in pairs.
    """
    relax = operator.relax_pairs(lattice)
    takes_pairs = relax is not None
    relax = operator.relax(lattice) if relax is None else relax
    return (inlined(relax) if inspect.isfunction(relax) else relax), takes_pairs


def make_cell_functions(lattice: Lattice, relax, takes_pairs: bool, forced: bool):
    """Make the functions of a cell's populations f that a step on a lattice needs.

    velocity(f, force) -> rho - 1, ux, uy, uz
    collide(f, rates, force) -> f after the collision, ux, uy, uz

    `relax` and `takes_pairs` are those of `make_relaxation`. A body force is added in two halves
    around the relaxation; `lbm.collisions.operator.Collision` says why this is right.
    """
    moments, join_parts = moments_of(lattice).moments, moments_of(lattice).join_parts
    equilibrium, half_force, *_, add = cell_formulas(lattice)
    if not takes_pairs:
        of_populations = relax

        @inlined
        def relax(f, pairs, rates):
            return of_populations(f, join_parts(pairs, pairs), rates)

    @inlined
    def velocity(f, force):
        T = type(f[0])
        drho, jx, jy, jz = moments(f)
        inverse = T(1) / (T(1) + drho)
        if forced:
            jx, jy, jz = jx + T(0.5) * force[0], jy + T(0.5) * force[1], jz + T(0.5) * force[2]
        return drho, jx * inverse, jy * inverse, jz * inverse

    @inlined
    def collide(f, rates, force):
        drho, ux, uy, uz = velocity(f, force)
        if forced:
            s = half_force(ux, uy, uz, force[0], force[1], force[2])
            after = add(relax(add(f, s), equilibrium(drho, ux, uy, uz), rates), s)
        else:
            after = relax(f, equilibrium(drho, ux, uy, uz), rates)
        return after, ux, uy, uz

    return velocity, collide
