"""Formulas of faces that respond to the flow, and of sheared outlets, for both targets.

Sheared outlets. Anti-bounce-back sets the shear stress at an outlet to 0. Let a profile u(y, z) of
the velocity out of the domain be steady, g = 3 w c_t . grad u along a diagonal q with the velocity
c_t in the plane, and m the diagonal with -c_t. Of the exact solution of two relaxation times,

    (f_q - f_m)/2 - equilibrium = -(tau+ + 2 tau- u) g,

and the population that comes back lacks -(2 tau+ - 1) g + 2 u g, and a term of the curvature, which
is -rate- ((f_q + f_m)/2 - f_a w_q/w_a), where a is the axis across the outlet. All follow from
populations that leave, so that nothing extrapolates what the outlet itself has returned.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from hetero.codegen import compile_source
from lbm._kernels.formulas.storage_formulas import codec
from lbm._kernels.moments.formulas import (
    MOMENTS,
    add_population,
    make_arriving_population,
    make_cell_access,
)
from lbm.collisions.unroll import balanced_sum, inlined
from lbm.lattices import Lattice
from lbm.lattices.precision import PRECISIONS


@functools.cache
def make_correct_cell(make_response: Callable[[], Any], precision: str):
    """Make correct_cell(i, populations, loads, links, cells, directions, opposite, numbers).

    It corrects what a face has returned to its cell number i, in place. `loads` [q, cell] and
    `links` [cell] are those of `FaceTable`; `cells` [2, cell] has its `share` and the memory;
    `directions` [2, q] has `outwards` and 2 w_q; `opposite` [q] is that of the lattice. The formula
    and `numbers` are `respond` and `response_numbers` of a condition.
    """
    decode, encode = codec(PRECISIONS[precision])
    respond = make_response()

    @inlined
    def correct_cell(i, populations, loads, links, cells, directions, opposite, numbers):
        T = type(numbers[0])
        drho = momentum = T(0)
        for q in range(loads.shape[0]):
            f = decode(populations[loads[q, i]])
            drho += f
            momentum += directions[0, q] * f
        change, memory = respond(drho, momentum, cells[0, i], cells[1, i], numbers)
        for q in range(loads.shape[0]):
            if (links[i] >> np.uint32(q)) & np.uint32(1):
                k = loads[opposite[q], i]
                populations[k] = encode(decode(populations[k]) + directions[1, q] * change)
        cells[1, i] = memory

    return correct_cell


@functools.cache
def make_correct_moments(make_response: Callable[[], Any], precision: str, face: int):
    """Make correct_moments(i, words, numbers_of, cells, changes, numbers) for a face and a state
    of moments.

    `numbers_of` [cell] are those of the cells, `cells` and `numbers` as for `make_correct_cell`,
    and `changes` [10, cell] the moments of all populations that the face returns, each 2 w_q.
    """
    (load, store), respond = make_cell_access(precision), make_response()
    axis, at_end = divmod(face, 2)
    sums = ", ".join(f"m[{k}] + changes[{k}, i] * change" for k in range(MOMENTS))
    text = f"def add(m, changes, i, change):\n    return ({sums})\n"
    add, row, sign = inlined(compile_source("add", text, {})), 1 + axis, 1 if at_end else -1

    @inlined
    def correct_moments(i, words, numbers_of, cells, changes, numbers):
        m = load(words, numbers_of[i])
        momentum = type(m[0])(sign) * m[row]
        change, memory = respond(m[0], momentum, cells[0, i], cells[1, i], numbers)
        store(words, numbers_of[i], add(m, changes, i, change))
        cells[1, i] = memory

    return correct_moments


@functools.cache
def make_fill(precision: str) -> Any:
    """Make fill(i, populations, wall, values), which stores what the face returns along link i."""
    _, encode = codec(PRECISIONS[precision])

    @inlined
    def fill(i, populations, wall, values):
        populations[wall[i]] = encode(values[i])

    return fill


@functools.cache
def make_arrive(lattice: Lattice, precision: str, operator: type, forced: bool) -> Any:
    """Make arrive(i, ...), which computes population number i of cells after a step.

    Arrays are those of `Arrivals` for [q, cell], arguments of `arriving_population`, and the
    numbers of links into interpolated walls, or -1, with what these have returned.
    """
    arriving_population = make_arriving_population(lattice, precision, operator, forced)

    @inlined
    def arrive(
        i, words, viscosity, types, directions, rates, force, numbers, sent, rows, links, returned,
        before, after,
    ):  # fmt: skip
        q = i * directions.shape[1] // after.shape[0]
        if links[i] < 0:
            f = arriving_population(
                q, words, viscosity, numbers[i], sent[i], rows[i], types, directions, rates, force
            )
        else:
            f = returned[links[i]]
        before[i] = after[i] = f

    return arrive


@functools.cache
def make_add_changes(precision: str) -> Any:
    """Make add_changes(i, words, cells, directions, before, after), which adds what populations
    [q, cell] have gained to the moments of cell number i."""
    load, store = make_cell_access(precision)

    @inlined
    def add_changes(i, words, cells, directions, before, after):
        m = load(words, cells[i])
        for q in range(directions.shape[1]):
            k = q * cells.shape[0] + i
            x, y, z = directions[0, q], directions[1, q], directions[2, q]
            m = add_population(m, after[k] - before[k], x, y, z)
        store(words, cells[i], m)

    return add_changes


@inlined
def sheared_excess(f, mirror, axis, w, share, along, rho, across, times):
    """Return what an outlet adds to the population that it returns along a diagonal.

    Parameters
    ----------
    f, mirror, axis : populations that leave along the diagonal, along its mirror image, whose
        velocity in the plane is the opposite one, and straight across the outlet
    w, share : weight of the diagonal, and its ratio to that of the axis
    along : product of the diagonal's velocity in the plane and the momentum of the cell
    rho, across : density of the cell and its momentum out of the domain
    times : relaxation times of the even and of the odd part, the one by which the curvature is
        divided, and the inverse of the speed from which on the term fades; it is 0 at twice that
    """
    T = type(f)
    half, even, odd = T(0.5), times[0], times[1]
    speed, moved = across / rho, T(3) * w * along
    shear = half * (f - mirror) - moved * (T(1) + T(3) * speed)
    curve = half * (f + mirror) - share * axis - T(1.5) * moved * along / rho
    # Fast inflow hides the shear, and would change its sign.
    time = even + T(2) * odd * speed
    gradient = -shear / time if time > half * even else T(0)
    added = (T(2) * speed + T(1) - T(2) * even) * gradient - curve / times[2]
    return added * min(T(1), max(T(0), T(2) - times[3] * abs(speed)))


@functools.cache
def make_bend_cell(precision: str, lattice: Lattice, face: int) -> Any:
    """Make bend_cell(i, populations, loads, links, times) for the outlets of a face.

    It adds `sheared_excess` to what an outlet has returned to its cell number i along diagonals, in
    place. `loads` [q, cell] and `links` [cell] are those of `ShearedTable`. The populations are
    written out, so that a GPU loads all of them at once, and none twice.
    """
    decode, encode = codec(PRECISIONS[precision])
    axis, at_end = divmod(face, 2)
    sign = 1 if at_end else -1
    others = [a for a in range(3) if a != axis]
    c, w = lattice.velocities, lattice.weights
    straight = c.index(tuple(sign * (a == axis) for a in range(3)))
    lines = [f"f{q} = decode(populations[loads[{q}, i]])" for q in range(lattice.size)]
    lines += ["T, one, bits = type(f0), type(f0)(1), links[i]",
              f"rho = one + {balanced_sum(f'f{q}' for q in range(lattice.size))}"]  # fmt: skip
    momenta = ("across", axis, sign), ("first", others[0], 1), ("second", others[1], 1)
    for name, a, factor in momenta:
        terms = [f"{'' if factor * v[a] > 0 else '-'}f{q}" for q, v in enumerate(c) if v[a]]
        lines.append(f"{name} = {balanced_sum(terms)}")
    for q, v in enumerate(c):
        if v[axis] != sign or q == straight:
            continue
        mirror = c.index(tuple(v[a] if a == axis else -v[a] for a in range(3)))
        back, weight, share = lattice.opposite[q], float(w[q]), float(w[q] / w[straight])
        along = f"T({v[others[0]]}) * first + T({v[others[1]]}) * second"
        lines += [
            f"if (bits >> uint32({q})) & uint32(1):",
            f"    excess = sheared_excess(f{q}, f{mirror}, f{straight}, T({weight!r}), "
            f"T({share!r}), {along}, rho, across, times)",
            f"    populations[loads[{back}, i]] = encode(f{back} + excess)",
        ]
    head = "def bend_cell(i, populations, loads, links, times):\n    "
    names = {"decode": decode, "encode": encode, "sheared_excess": sheared_excess}
    text = head + "\n    ".join(lines) + "\n"
    return inlined(compile_source("bend_cell", text, names | {"uint32": np.uint32}))
