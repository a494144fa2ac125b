"""Moments of a cell's populations, and populations with given moments, for operators.

Moments are those of populations less their weights, as operators get them. An operator that works
on pairs (`Collision.relax_pairs`) holds even and odd parts: for a pair (i, j) of opposite
populations, element i is (f_i + f_j)/2 and element j is (f_i - f_j)/2; element 0 is the population
at rest. Even moments need even parts only, odd moments odd ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hetero.codegen import compile_source
from lbm._model.lattice import PAIRS, C, Q, W
from lbm.collisions.unroll import balanced_sum, inlined, matrix_product, per_pair

SECOND = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
"""Axes (a, b) of the second moments, sums of c_a c_b f."""

THIRD = ((0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1))
"""Axes (a, b) of the third moments, sums of c_a^2 c_b f. The lattice has no c_x c_y c_z."""

FOURTH = ((0, 1), (0, 2), (1, 2))
"""Axes (a, b) of the fourth moments, sums of c_a^2 c_b^2 f."""


def _moments_source() -> str:
    lines = ["def moments(f):", f"    drho = {balanced_sum(f'f[{q}]' for q in range(Q))}"]
    for axis, name in enumerate("xyz"):
        terms = [f"(f[{i}] - f[{j}])" if C[i][axis] > 0 else f"(f[{j}] - f[{i}])"
                 for i, j in PAIRS if C[i][axis]]  # fmt: skip
        lines.append(f"    j{name} = {balanced_sum(terms)}")
    return "\n".join([*lines, "    return drho, jx, jy, jz", ""])


moments = inlined(compile_source("moments", _moments_source(), {}))
"""moments(f) -> rho - 1 and the momentum of the populations."""


def _powers() -> list[tuple[int, int, int]]:
    """Return the exponents of c_x, c_y, c_z in the 19 independent moments of the lattice."""
    unit = np.eye(3, dtype=int)
    rows = [np.zeros(3, int), *unit]
    rows += [unit[a] + unit[b] for a, b in SECOND]
    rows += [2 * unit[a] + unit[b] for a, b in THIRD]
    rows += [2 * unit[a] + 2 * unit[b] for a, b in FOURTH]
    return [(int(x), int(y), int(z)) for x, y, z in rows]


def _moments_of_parts() -> np.ndarray:
    """Return the matrix [moment, part] of the 19 moments of even and odd parts."""
    matrix = np.zeros((Q, Q))
    for row, powers in enumerate(_powers()):
        monomial = np.prod(np.array(C) ** np.array(powers), axis=1)
        is_odd = sum(powers) % 2
        matrix[row, 0] = 0.0 if is_odd else monomial[0]
        for pair in PAIRS:  # opposite populations contribute equally, up to the sign of odd moments
            matrix[row, pair[is_odd]] = 2.0 * monomial[pair[0]]
    return matrix


MOMENTS_OF_PARTS = _moments_of_parts()
"""Matrix [moment, part]: density, momentum, and the moments `SECOND`, `THIRD` and `FOURTH`."""

PARTS_OF_MOMENTS = np.round(8.0 * np.linalg.inv(MOMENTS_OF_PARTS)) / 8.0
"""The inverse, [part, moment]: its elements are -1, 1 or multiples of 1/4 and 1/2."""

STRESS_TO_PARTS = np.zeros((Q, len(SECOND)))
"""Matrix [part, k] of the populations with second moments `SECOND` alone, in second-order Hermite
polynomials: w_q (9/2) (c_a c_b - delta_ab/3), twice for a < b."""

for _q in (0, *(i for i, _ in PAIRS)):
    STRESS_TO_PARTS[_q] = [
        4.5 * W[_q] * (1 + (a != b)) * (C[_q][a] * C[_q][b] - (a == b) / 3) for a, b in SECOND
    ]

non_equilibrium = per_pair(
    lambda f, g, even, odd: (type(f)(0.5) * (f + g) - even, type(f)(0.5) * (f - g) - odd)
)
"""non_equilibrium(f, pairs) -> the even and odd parts of f - e, where `pairs` are those of e."""

join_parts = per_pair(lambda f, g, even, odd: (even + odd, even - odd))
"""join_parts(parts, parts) -> the populations with these even and odd parts."""

second_moments = matrix_product(MOMENTS_OF_PARTS[4:10])
"""second_moments(parts) -> xx, yy, zz, xy, xz, yz."""

parts_of_moments = matrix_product(PARTS_OF_MOMENTS)
"""parts_of_moments(m) -> even and odd parts with the 19 moments of `MOMENTS_OF_PARTS`."""


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
