"""What happens in one cell, for both targets: moments, equilibrium, body force, reflection.

Populations are kept shifted, f_q - w_q, as every step uses them: small numbers, so that float32
keeps its digits and 16 bits suffice (Skordos 1993). `rise` is the density less 1.
"""

from __future__ import annotations

from hetero.jit import define
from lbm._unroll import each, inlined, pairs
from lbm.lattice import PAIRS, C, Q, W


def _sum(terms) -> str:
    """A balanced sum: fewer dependent additions than from left to right, and a smaller error."""
    terms = list(terms)
    while len(terms) > 1:
        terms = [f"({' + '.join(terms[i : i + 2])})" for i in range(0, len(terms), 2)]
    return terms[0]


def _signed(c, names=("ux", "uy", "uz")) -> str:
    return " ".join(f"{'+' if s > 0 else '-'} {n}" for s, n in zip(c, names, strict=True) if s)


def _moments() -> str:
    lines = ["def moments(f):", f"    rise = {_sum(f'f[{q}]' for q in range(Q))}"]
    for axis, name in enumerate("xyz"):
        terms = [f"(f[{i}] - f[{j}])" if C[i][axis] > 0 else f"(f[{j}] - f[{i}])"
                 for i, j in PAIRS if C[i][axis]]  # fmt: skip
        lines.append(f"    j{name} = {_sum(terms)}")
    return "\n".join([*lines, "    return rise, jx, jy, jz", ""])


def _equilibrium() -> str:
    """Equation 13.4, u.u in its last term, by opposite pairs: the half sum and half difference."""
    lines = [
        "def equilibrium(rise, ux, uy, uz):",
        "    T = type(rise)",
        "    rho = T(1) + rise",
        "    base = rise - T(1.5) * rho * (ux * ux + uy * uy + uz * uz)",
        f"    e0 = T({W[0]!r}) * base",
    ]
    for w in sorted(set(W[1:])):
        name = f"{round(1 / w)}"
        lines += [
            f"    base{name} = T({w!r}) * base",
            f"    odd{name} = T({3 * w!r}) * rho",
            f"    even{name} = T({4.5 * w!r}) * rho",
        ]
    for i, j in PAIRS:
        name = f"{round(1 / W[i])}"
        lines += [
            f"    cu = {_signed(C[i])}",
            f"    e{i}, e{j} = base{name} + even{name} * (cu * cu), odd{name} * cu",
        ]
    return "\n".join([*lines, f"    return ({', '.join(f'e{q}' for q in range(Q))})", ""])


def _half_source() -> str:
    """Guo, Zheng, Shi (2002), half of the source: w (3 (c - u).F + 9 (c.u) (c.F)) / 2."""
    lines = [
        "def half_source(ux, uy, uz, fx, fy, fz):",
        "    T = type(ux)",
        "    uf = T(-1.5) * (ux * fx + uy * fy + uz * fz)",
        f"    s0 = T({W[0]!r}) * uf",
    ]
    for i, j in PAIRS:
        lines += [
            f"    cu, cf = {_signed(C[i])}, {_signed(C[i], ('fx', 'fy', 'fz'))}",
            f"    even, odd = T({W[i]!r}) * (uf + T(4.5) * cu * cf), T({1.5 * W[i]!r}) * cf",
            f"    s{i}, s{j} = even + odd, even - odd",
        ]
    return "\n".join([*lines, f"    return ({', '.join(f's{q}' for q in range(Q))})", ""])


moments = inlined(define("moments", _moments(), {}))
"""moments(f) -> rho - 1 and the momentum of the populations."""

equilibrium = inlined(define("equilibrium", _equilibrium(), {}))
"""equilibrium(rho - 1, ux, uy, uz) -> the shifted equilibria, equation 13.4, as parts of pairs.

19 numbers: that at rest; for each pair (i, j) at i half the sum of both, at j half of i's less j's.
"""

half_source = inlined(define("half_source", _half_source(), {}))


@each(2)
def _add(f, s):
    return f + s


@pairs
def _together(f, g, even, odd):
    return even + odd, even - odd


@inlined
def start(rise, ux, uy, uz, force):
    """Equilibria of a cell at rho - 1 and u, where u includes half of the force's impulse."""
    T = type(rise)
    less = T(-0.5) / (T(1) + rise)
    e = equilibrium(rise, ux + less * force[0], uy + less * force[1], uz + less * force[2])
    return _together(e, e)


def cell_functions(relax, forced: bool):
    """What a step does in a cell, as functions of its populations f.

    velocity(f, force) -> rho - 1, ux, uy, uz
    collide(f, rates, force) -> f after the collision, ux, uy, uz

    `relax(f, e, rates)` moves the populations towards `equilibrium`'s parts of pairs. With a body
    force the source of Guo et al. is (1 - Omega/2) S: that is what relaxing f + S/2 and then adding
    S/2 gives for every linear operator, so that operators need not know of forces.
    """

    @inlined
    def velocity(f, force):
        T = type(f[0])
        rise, jx, jy, jz = moments(f)
        inverse = T(1) / (T(1) + rise)
        if forced:
            jx, jy, jz = jx + T(0.5) * force[0], jy + T(0.5) * force[1], jz + T(0.5) * force[2]
        return rise, jx * inverse, jy * inverse, jz * inverse

    @inlined
    def collide(f, rates, force):
        rise, ux, uy, uz = velocity(f, force)
        if forced:
            s = half_source(ux, uy, uz, force[0], force[1], force[2])
            after = _add(relax(_add(f, s), equilibrium(rise, ux, uy, uz), rates), s)
        else:
            after = relax(f, equilibrium(rise, ux, uy, uz), rates)
        return after, ux, uy, uz

    return velocity, collide


@inlined
def reflect(f, w, cx, cy, cz, wall, ux, uy, uz):
    """What a wall sends back of the population f that moves with c (shifted, after the collision).

    wall = (pressure, rho - 1, Ux, Uy, Uz) of the boundary's kind, (ux, uy, uz) the cell's velocity.
    A wall moves with U (Ladd 1994, half-way). A pressure outlet bounces back with the sign turned
    (anti-bounce-back, Ginzburg et al. 2008).
    """
    T = type(f)
    if wall[0] != T(0):
        cu = cx * ux + cy * uy + cz * uz
        square = ux * ux + uy * uy + uz * uz
        rho = T(1) + wall[1]
        return T(2) * w * (wall[1] + rho * (T(4.5) * cu * cu - T(1.5) * square)) - f
    return f - T(6) * w * (cx * wall[2] + cy * wall[3] + cz * wall[4])
