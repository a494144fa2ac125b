"""Moments of a cell's populations, and populations with given moments, for operators.

Moments are those of populations less their weights, as operators get them. An operator that works
on pairs (`Collision.relax_pairs`) holds even and odd parts: for a pair (i, j) of opposite
populations, element i is (f_i + f_j)/2 and element j is (f_i - f_j)/2; element 0 is the population
at rest. Even moments need even parts only, odd moments odd ones.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from hetero.codegen import compile_source
from lbm.collisions.unroll import balanced_sum, inlined, matrix_product, per_pair
from lbm.lattices import Lattice

SECOND = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
"""Axes (a, b) of the second moments, sums of c_a c_b f."""

THIRD = ((0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1))
"""Axes (a, b) of the third moments, sums of c_a^2 c_b f. D3Q19 has no c_x c_y c_z."""

FOURTH = ((0, 1), (0, 2), (1, 2))
"""Axes (a, b) of the fourth moments, sums of c_a^2 c_b^2 f."""


POWERS_OF_CORNERS = (
    *((1, 1, 1), (2, 1, 1), (1, 2, 1), (1, 1, 2)),
    *((2, 2, 1), (2, 1, 2), (1, 2, 2), (2, 2, 2)),
)
"""Exponents of c_x, c_y, c_z in the further independent moments of D3Q27."""


class Moments(NamedTuple):
    """Functions and matrices of the moments of a lattice.

    Attributes
    ----------
    moments : moments(f) -> rho - 1 and the momentum of the populations
    non_equilibrium : non_equilibrium(f, pairs) -> the even and odd parts of f - e, where `pairs`
        are those of e
    second_moments : second_moments(parts) -> xx, yy, zz, xy, xz, yz
    join_parts : join_parts(parts, parts) -> the populations with these even and odd parts
    of_parts : matrix [moment, part]: density, momentum, the moments `SECOND`, `THIRD` and `FOURTH`,
        and, with corners, `POWERS_OF_CORNERS`
    to_parts : the inverse, [part, moment]: its elements are -1, 1 or multiples of 1/8
    stress_to_parts : matrix [part, k] of the populations with second moments `SECOND` alone, in
        second-order Hermite polynomials: w_q (9/2) (c_a c_b - delta_ab/3), twice for a < b
    """

    moments: Any
    non_equilibrium: Any
    second_moments: Any
    join_parts: Any
    of_parts: np.ndarray
    to_parts: np.ndarray
    stress_to_parts: np.ndarray


@functools.cache
def moments_of(lattice: Lattice) -> Moments:
    """Return the functions and matrices of the moments of a lattice."""
    of_parts = _moments_of_parts(lattice)
    return Moments(
        inlined(compile_source("moments", _moments_source(lattice), {})),
        per_pair(lattice)(_deviations),
        matrix_product(of_parts[4:10]),
        per_pair(lattice)(lambda f, g, even, odd: (even + odd, even - odd)),
        of_parts,
        np.round(8.0 * np.linalg.inv(of_parts)) / 8.0,
        _stress_to_parts(lattice),
    )


def _deviations(f: Any, g: Any, even: Any, odd: Any) -> tuple[Any, Any]:
    """Return the even and odd parts of a pair less those of the equilibrium."""
    return type(f)(0.5) * (f + g) - even, type(f)(0.5) * (f - g) - odd


def _moments_source(lattice: Lattice) -> str:
    c, populations = lattice.velocities, (f"f[{q}]" for q in range(lattice.size))
    lines = ["def moments(f):", f"    drho = {balanced_sum(populations)}"]
    for axis, name in enumerate("xyz"):
        terms = [f"(f[{i}] - f[{j}])" if c[i][axis] > 0 else f"(f[{j}] - f[{i}])"
                 for i, j in lattice.pairs if c[i][axis]]  # fmt: skip
        lines.append(f"    j{name} = {balanced_sum(terms)}")
    return "\n".join([*lines, "    return drho, jx, jy, jz", ""])


def powers_of(lattice: Lattice) -> list[tuple[int, int, int]]:
    """Return the exponents of c_x, c_y, c_z in the independent moments of a lattice."""
    unit = np.eye(3, dtype=int)
    rows = [np.zeros(3, int), *unit]
    rows += [unit[a] + unit[b] for a, b in SECOND]
    rows += [2 * unit[a] + unit[b] for a, b in THIRD]
    rows += [2 * unit[a] + 2 * unit[b] for a, b in FOURTH]
    powers = [(int(x), int(y), int(z)) for x, y, z in rows]
    return powers + list(POWERS_OF_CORNERS if lattice.has_corners else ())


def _moments_of_parts(lattice: Lattice) -> np.ndarray:
    matrix = np.zeros((lattice.size, lattice.size))
    for row, powers in enumerate(powers_of(lattice)):
        monomial = np.prod(np.array(lattice.velocities) ** np.array(powers), axis=1)
        is_odd = sum(powers) % 2
        matrix[row, 0] = 0.0 if is_odd else monomial[0]
        for pair in lattice.pairs:  # opposite populations contribute equally, up to a sign
            matrix[row, pair[is_odd]] = 2.0 * monomial[pair[0]]
    return matrix


@functools.cache
def make_hermite_populations(lattice: Lattice, order: int) -> Any:
    """Make populations(drho, j, s, t), less their weights, of Hermite polynomials up to an order.

    s are second moments less drho/3 for a = b, and t third-order coefficients: those of the axes
    `THIRD` and, with corners, of x y z. The order is 2, without t, or 3.
    """
    source = _hermite_source(lattice, order == 3)
    return inlined(compile_source("populations", source, {}))


def _hermite_source(lattice: Lattice, with_third: bool) -> str:
    """Write out the polynomials, whose odd parts are sums of a term for each axis b of a velocity.

    A coefficient aab adds 27 w_q/2 (c_a^2 - 1/3) c_b with corners. D3Q19 takes the two polynomials
    of b in their orthogonal combinations: 9 w_q c_b on edges along a, and -9 w_q c_b on faces.
    """
    lines = ["def populations(drho, j, s, t):", "    T = type(drho)"]
    lines += ["    base = drho - T(1.5) * ((s[0] + s[1]) + s[2])"]
    lines += [f"    h{k} = T({4.5 if a == b else 9.0}) * s[{k}]" for k, (a, b) in enumerate(SECOND)]
    odd: dict[tuple[int, tuple[int, ...]], str] = {}

    def term(b: int, others: tuple[int, ...]) -> str:
        if (b, others) not in odd:
            odd[b, others] = name = f"odd{b}_{''.join(map(str, others))}"
            terms = [f"T(3) * j[{b}]"]
            for a in (0, 1, 2) if with_third else ():
                outside = -4.5 if lattice.has_corners else (0.0 if others else -9.0)
                factor = 9.0 if a in others else outside
                if a != b and factor:
                    terms.append(f"T({factor}) * t[{THIRD.index((a, b))}]")
            lines.append(f"    {name} = {' + '.join(terms)}")
        return odd[b, others]

    for i, j in lattice.pairs:
        c, w = lattice.velocities[i], f"T({lattice.weights[i]!r})"
        axes = [a for a in range(3) if c[a]]
        even = ["base"] + [f"h{k}" for k, (a, b) in enumerate(SECOND) if a == b and c[a]]
        signed = [(c[b], term(b, tuple(a for a in axes if a != b))) for b in axes]
        if with_third and len(axes) == 3:
            signed.append((c[0] * c[1] * c[2], "T(27) * t[6]"))
        cross = [
            (c[a] * c[b], f"h{k}") for k, (a, b) in enumerate(SECOND) if a != b and c[a] * c[b]
        ]
        lines += [f"    e = {w} * ({_signed_sum([(1, name) for name in even] + cross)})"]
        lines += [f"    o = {_signed_sum(signed)}"]
        lines += [f"    f{i}, f{j} = e + {w} * o, e - {w} * o"]
    resting = f"T({lattice.weights[0]!r}) * base"
    results = ", ".join([resting, *(f"f{q}" for q in range(1, lattice.size))])
    return "\n".join([*lines, f"    return ({results})", ""])


def _signed_sum(terms: list[tuple[int, str]]) -> str:
    return " ".join(f"{'-' if sign < 0 else '+'} {name}" for sign, name in terms)


def _stress_to_parts(lattice: Lattice) -> np.ndarray:
    matrix, c, w = np.zeros((lattice.size, len(SECOND))), lattice.velocities, lattice.weights
    for q in (0, *(i for i, _ in lattice.pairs)):
        matrix[q] = [
            4.5 * w[q] * (1 + (a != b)) * (c[q][a] * c[q][b] - (a == b) / 3) for a, b in SECOND
        ]
    return matrix


@inlined
def third_moments(u: Any, s: Any) -> Any:
    """Return u_b s_aa + 2 u_a s_ab for the axes `THIRD`; s has the order of `SECOND`."""
    xx, yy, zz, xy, xz, yz = s
    x, y, z = u
    two = type(x)(2)
    return (
        y * xx + two * x * xy,
        z * xx + two * x * xz,
        x * yy + two * y * xy,
        z * yy + two * y * yz,
        x * zz + two * z * xz,
        y * zz + two * z * yz,
    )


@inlined
def relax_stress(j: Any, u: Any, stress: Any, share: Any) -> Any:
    """Return P_ab = share stress_ab, and P_ab + j_a u_b, in the order of `SECOND`."""
    xx, yy, zz, xy, xz, yz = stress
    p = share * xx, share * yy, share * zz, share * xy, share * xz, share * yz
    return p, (
        p[0] + j[0] * u[0], p[1] + j[1] * u[1], p[2] + j[2] * u[2],
        p[3] + j[0] * u[1], p[4] + j[0] * u[2], p[5] + j[1] * u[2],
    )  # fmt: skip
