"""Formulas of what walls send back, for both targets.

f is a shifted population after the collision that runs into a wall, and w its weight. A wall is a
row of `Links.wall_types`: (is an outlet, rho - 1, Ux, Uy, Uz). On a GPU the populations of a cell
are treated together where they end at one kind of wall; see `lbm._kernels.gpu.source`.
"""

from __future__ import annotations

import functools

import numpy as np

from hetero.codegen import compile_source
from lbm._kernels.formulas.cell_formulas import dot_expression
from lbm.collisions.unroll import inlined
from lbm.geometry.wall_links import slip_images
from lbm.lattices import Lattice


@inlined
def return_from_moving_wall(f, w, c_dot_wall):
    """Return what a wall that moves with U sends back half-way, from c . U (Ladd 1994)."""
    return f - type(f)(6) * w * c_dot_wall


@inlined
def return_from_outlet(f, w, drho, cu, square):
    """Return what an outlet of density 1 + drho sends back with the opposite sign, from c . u and
    u . u in the cell (anti-bounce-back, Ginzburg et al. 2008)."""
    T = type(f)
    rho = T(1) + drho
    return T(2) * w * (drho + rho * (T(4.5) * cu * cu - T(1.5) * square)) - f


@inlined
def wall_return(f, w, c, wall, u):
    """Return what a wall sends back for f with velocity c; u is the velocity of the cell."""
    (cx, cy, cz), (ux, uy, uz) = c, u
    if wall[0] != type(f)(0):
        square = ux * ux + uy * uy + uz * uz
        return return_from_outlet(f, w, wall[1], cx * ux + cy * uy + cz * uz, square)
    return return_from_moving_wall(f, w, cx * wall[2] + cy * wall[3] + cz * wall[4])


def _outlet_returns_source(lattice: Lattice) -> str:
    """Write out `return_from_outlet` for the populations of a mask."""
    names = ", ".join(f"f{q}" for q in range(lattice.size))
    lines = [
        "def outlet_returns(f, bits, drho, ux, uy, uz):",
        "    T = type(f[0])",
        f"    ({names}) = f",
        "    square = ux * ux + uy * uy + uz * uz",
    ]
    for q, (c, w) in enumerate(zip(lattice.velocities, lattice.weights, strict=True)):
        if any(c):
            returned = f"return_from_outlet(f{q}, T({w!r}), drho, {dot_expression(c)}, square)"
            lines.append(f"    f{q} = {returned} if bits & U({1 << q}) else f{q}")
    return "\n".join([*lines, f"    return ({names})", ""])


@functools.cache
def make_outlet_returns(lattice: Lattice):
    """Make outlet_returns(f, bits, rho - 1, ux, uy, uz), which returns the populations f, those in
    the uint32 mask `bits` replaced by what an outlet sends back."""
    names = {"U": np.uint32, "return_from_outlet": return_from_outlet}
    return inlined(compile_source("outlet_returns", _outlet_returns_source(lattice), names))


def _slip_returns_source(lattice: Lattice) -> str:
    """Write out the swaps of the populations of a mask that run into a face with free slip."""
    names = ", ".join(f"f{q}" for q in range(lattice.size))
    lines = ["def slip_returns(f, bits, axis):", f"    ({names}) = f"]
    for axis, keyword in enumerate(("if", "elif", "elif")):
        lines.append(f"    {keyword} axis == U({axis}):")
        for q, image in enumerate(slip_images(lattice, 1 << axis)):
            if q < image and lattice.velocities[q][axis]:
                swapped = f"(f{image}, f{q}) if bits & U({1 << q}) else (f{q}, f{image})"
                lines.append(f"        f{q}, f{image} = {swapped}")
    return "\n".join([*lines, f"    return ({names})", ""])


@functools.cache
def make_slip_returns(lattice: Lattice):
    """Make slip_returns(f, bits, axis), which returns the populations f, those in the uint32 mask
    `bits` replaced by what a face with free slip across an axis sends back."""
    names = {"U": np.uint32}
    return inlined(compile_source("slip_returns", _slip_returns_source(lattice), names))
