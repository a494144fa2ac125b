"""Formulas of a cell whose state is ten moments, for both targets.

They are drho = rho - 1, the momentum j, and the second moments s_ab = sum c_a c_b (f - w) less
drho/3 for a = b, in the order of `lbm.collisions.moments.SECOND`, of the populations f before the
collision. All are linear in f. So whatever relaxes or drives populations between two steps, such as
a sponge or a buoyancy, changes the moments to what those of the changed populations are.
"""

from __future__ import annotations

import functools

from hetero.codegen import compile_source
from lbm._kernels.formulas.cell_formulas import cell_formulas
from lbm._kernels.formulas.storage_formulas import join_word, split_word
from lbm._kernels.formulas.wall_formulas import wall_return
from lbm.boundaries.free_stream import EQUILIBRIUM
from lbm.collisions.moments import SECOND, make_hermite_populations
from lbm.collisions.unroll import balanced_sum, inlined
from lbm.lattices import Lattice
from lbm.lattices.precision import PRECISIONS

MOMENTS = 10
"""Numbers of a cell."""

GROUP = 32
"""Neighbours along x whose numbers are stored together: [z, y, group, number, cell of the group].
These are whole cache lines and, on a GPU, the accesses of a warp."""


@functools.cache
def make_collision(lattice: Lattice, operator: type, forced: bool):
    """Make collide(m, rates, force), which returns the populations of a cell after the collision.

    Half of the force's impulse changes the moments before the operator, and half the populations
    behind it: `lbm.collisions.operator.Collision` says why.
    """
    collide_stress = _make_collision_of_stress(lattice, operator, forced)
    return inlined(lambda m, rates, force: collide_stress(without_flux(m), rates, force))


def _make_collision_of_stress(lattice: Lattice, operator: type, forced: bool):
    """Make collide(m, rates, force) for moments `without_flux`."""
    relax = inlined(operator.relax_moments(lattice))  # type: ignore[attr-defined]
    half_force, add = cell_formulas(lattice).half_force, cell_formulas(lattice).add

    @inlined
    def collide(m, rates, force):
        T, drho, j, p = type(m[0]), m[0], (m[1], m[2], m[3]), (m[4], m[5], m[6], m[7], m[8], m[9])
        inverse = T(1) / (T(1) + drho)
        if not forced:
            return relax(drho, j, (j[0] * inverse, j[1] * inverse, j[2] * inverse), p, rates)
        # With h for half of the force, j + h and s_ab + u_a h_b + h_a u_b, where u counts h, leave
        # P_ab + h_a h_b/rho of the stress.
        fx, fy, fz = T(0.5) * force[0], T(0.5) * force[1], T(0.5) * force[2]
        j = j[0] + fx, j[1] + fy, j[2] + fz
        x, y, z = j[0] * inverse, j[1] * inverse, j[2] * inverse
        gx, gy, gz = fx * inverse, fy * inverse, fz * inverse
        p = (
            p[0] + fx * gx, p[1] + fy * gy, p[2] + fz * gz,
            p[3] + fx * gy, p[4] + fx * gz, p[5] + fy * gz,
        )  # fmt: skip
        after = relax(drho, j, (x, y, z), p, rates)
        return add(after, half_force(x, y, z, fx + fx, fy + fy, fz + fz))

    return collide


@functools.cache
def make_reconstruction(lattice: Lattice, operator: type, forced: bool, words: int):
    """Make reconstruct(w, rates, force): the populations of a cell of so many words after the
    collision. Five words hold the stresses that the operator relaxes."""
    if words == MOMENTS:
        return make_collision(lattice, operator, forced)
    collide = _make_collision_of_stress(lattice, operator, forced)
    return inlined(lambda w, rates, force: collide(split_words(w), rates, force))


@functools.cache
def make_conversions(lattice: Lattice):
    """Make (moments, populations) of a lattice.

    moments(f) returns the ten numbers, and populations(m) the sum of Hermite polynomials of the
    second order that has these moments.
    """
    hermite = make_hermite_populations(lattice, 2)

    @inlined
    def populations(m):
        s = m[4], m[5], m[6], m[7], m[8], m[9]
        return hermite(m[0], (m[1], m[2], m[3]), s, s)

    return inlined(compile_source("moments", _moments_source(lattice), {})), populations


def _moments_source(lattice: Lattice) -> str:
    """Write out the moments by the sums and differences of opposite populations."""
    pairs = [(lattice.velocities[i], i, j) for i, j in lattice.pairs]
    lines = ["def moments(f):", "    T = type(f[0])"]
    lines += [f"    e{i}, o{i} = f[{i}] + f[{j}], f[{i}] - f[{j}]" for _, i, j in pairs]
    lines += [f"    drho = f[0] + {balanced_sum(f'e{i}' for _, i, _ in pairs)}"]
    results = ["drho"]
    for axis in range(3):
        odd = (f"{'-' if c[axis] < 0 else ''}o{i}" for c, i, _ in pairs if c[axis])
        results.append(balanced_sum(odd))
    for a, b in SECOND:
        even = (f"{'-' if c[a] * c[b] < 0 else ''}e{i}" for c, i, _ in pairs if c[a] * c[b])
        results.append(balanced_sum(even) + f" - T({1 / 3!r}) * drho" * (a == b))
    return "\n".join([*lines, f"    return ({', '.join(results)})", ""])


@inlined
def without_flux(m):
    """Return the moments with s_ab - j_a u_b, which is small, in the place of s_ab."""
    inverse = type(m[0])(1) / (type(m[0])(1) + m[0])
    x, y, z = m[1] * inverse, m[2] * inverse, m[3] * inverse
    return (
        m[0], m[1], m[2], m[3], m[4] - m[1] * x, m[5] - m[2] * y, m[6] - m[3] * z,
        m[7] - m[1] * y, m[8] - m[1] * z, m[9] - m[2] * z,
    )  # fmt: skip


@inlined
def with_flux(m):
    """Return the moments of which `without_flux` has made m."""
    inverse = type(m[0])(1) / (type(m[0])(1) + m[0])
    x, y, z = m[1] * inverse, m[2] * inverse, m[3] * inverse
    return (
        m[0], m[1], m[2], m[3], m[4] + m[1] * x, m[5] + m[2] * y, m[6] + m[3] * z,
        m[7] + m[1] * y, m[8] + m[1] * z, m[9] + m[2] * z,
    )  # fmt: skip


@inlined
def split_words(w):
    """Return the moments `without_flux` of five words."""
    (a, b), (c, d), (e, f), (g, h), (i, j) = (
        split_word(w[0]), split_word(w[1]), split_word(w[2]), split_word(w[3]), split_word(w[4]),
    )  # fmt: skip
    return a, b, c, d, e, f, g, h, i, j


@functools.cache
def make_packing(words: int):
    """Make (unpack, pack) for cells of so many words: the moments of the words, and back.

    In five words each has two halves; stresses are stored less their flux then, because a half has
    a relative error of 2^-11.
    """
    if words == MOMENTS:
        return (inlined(lambda w: w),) * 2

    @inlined
    def unpack(w):
        return with_flux(split_words(w))

    @inlined
    def pack(m):
        m = without_flux(m)
        return (
            join_word(m[0], m[1]), join_word(m[2], m[3]), join_word(m[4], m[5]),
            join_word(m[6], m[7]), join_word(m[8], m[9]),
        )  # fmt: skip

    return unpack, pack


@functools.cache
def make_cell_access(precision: str):
    """Make (load, store) of a cell by its number n in the flat array of a block.

    load(words, n) returns its moments, and store(words, n, moments) sets them.
    """
    count = PRECISIONS[precision].moments
    names = dict(zip(("unpack", "pack"), make_packing(count), strict=True))
    at = f"    at = n // {GROUP} * {GROUP * count} + n % {GROUP}"
    loaded = ", ".join(f"words[at + {GROUP * k}]" for k in range(count))
    load = ["def load(words, n):", at, f"    return unpack(({loaded}))"]
    store = ["def store(words, n, moments):", at, "    w = pack(moments)"]
    store += [f"    words[at + {GROUP * k}] = w[{k}]" for k in range(count)]
    return tuple(
        inlined(compile_source(name, "\n".join(lines) + "\n", names))
        for name, lines in (("load", load), ("store", store))
    )


@inlined
def add_population(m, f, x, y, z):
    """Return the moments m of a cell that gets the population f with the velocity (x, y, z)."""
    third = type(f)(1 / 3) * f
    return (
        m[0] + f, m[1] + x * f, m[2] + y * f, m[3] + z * f,
        m[4] + (x * x * f - third), m[5] + (y * y * f - third), m[6] + (z * z * f - third),
        m[7] + x * y * f, m[8] + x * z * f, m[9] + y * z * f,
    )  # fmt: skip


@functools.cache
def make_arriving_population(lattice: Lattice, precision: str, operator: type, forced: bool):
    """Make arriving_population(q, words, viscosity, n, sent, row, types, directions, rates, force).

    It returns the population q of a cell after the step that reads `words`. Cell number n has sent
    the population `sent`, which the wall of a row of `types` (`Links.wall_types`) has returned into
    the same cell, or, if the row is -1, nothing has changed; `sent` is then q, unless what leaves
    the cell is asked for. `directions` [4, q] are velocities and weights.
    """
    load, collide = make_cell_access(precision)[0], make_collision(lattice, operator, forced)
    lines = ["def pick(f, q):", "    chosen = f[0]"]
    lines += [f"    chosen = f[{k}] if q == {k} else chosen" for k in range(1, lattice.size)]
    pick = inlined(compile_source("pick", "\n".join([*lines, "    return chosen", ""]), {}))
    attach = inlined(lambda rates, viscosity, n: rates)
    if operator.reads_viscosity:  # type: ignore[attr-defined]
        attach = inlined(lambda rates, viscosity, n: (*rates, viscosity[n]))
    half = 0.5 * forced

    @inlined
    def arriving_population(q, words, viscosity, n, sent, row, types, directions, rates, force):
        m = load(words, n)
        f = pick(collide(m, attach(rates, viscosity, n), force), sent)
        if row < 0:
            return f
        T = type(f)
        h, inverse = T(half), T(1) / (T(1) + m[0])
        u = (
            (m[1] + h * force[0]) * inverse, (m[2] + h * force[1]) * inverse,
            (m[3] + h * force[2]) * inverse,
        )  # fmt: skip
        wall = types[row, 0], types[row, 1], types[row, 2], types[row, 3], types[row, 4]
        c = -directions[0, q], -directions[1, q], -directions[2, q]
        if wall[0] == T(EQUILIBRIUM):
            cu = c[0] * wall[2] + c[1] * wall[3] + c[2] * wall[4]
            square = wall[2] * wall[2] + wall[3] * wall[3] + wall[4] * wall[4]
            return directions[3, q] * (T(4.5) * cu * cu - T(3) * cu - T(1.5) * square)
        return wall_return(f, directions[3, q], c, wall, u)

    return arriving_population


@functools.cache
def make_sum_of_arrivals(lattice: Lattice, precision: str, operator: type, forced: bool):
    """Make the item sum_arrivals(i, words, viscosity, types, directions, rates, force, numbers,
    sent, rows, cells, after): store the moments of all that arrives in the cell cells[i].

    numbers, sent and rows [q, i] are `Arrivals`, and what precedes them is that of the step.
    """
    arriving_population = make_arriving_population(lattice, precision, operator, forced)
    store = make_cell_access(precision)[1]

    @inlined
    def sum_arrivals(
        i, words, viscosity, types, directions, rates, force, numbers, sent, rows, cells, after
    ):
        zero = type(directions[0, 0])(0)
        m = zero, zero, zero, zero, zero, zero, zero, zero, zero, zero
        for q in range(numbers.shape[0]):
            f = arriving_population(
                q, words, viscosity, numbers[q, i], sent[q, i], rows[q, i], types, directions,
                rates, force,
            )  # fmt: skip
            m = add_population(m, f, directions[0, q], directions[1, q], directions[2, q])
        store(after, cells[i], m)

    return sum_arrivals
