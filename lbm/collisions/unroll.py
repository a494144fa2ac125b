"""Loops over the populations of a lattice, written out: Numba's tuples need constant indices.

The functions generated here are plain text that becomes scalar functions; a collision operator
uses `per_population`, `per_pair` and `matrix_product`, and never sees the text.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from hetero.codegen import compile_source
from hetero.jit import FUSED, float_scalar
from lbm.lattices import Lattice


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a formula that is always inlined, so that loops around it vectorise on the CPU."""
    return float_scalar(function, forceinline=True, fastmath=FUSED)


def balanced_sum(terms: Iterable[str]) -> str:
    """Return the text of a balanced sum: shorter dependency chains and a smaller error than from
    left to right."""
    terms = list(terms)
    while len(terms) > 1:
        terms = [f"({' + '.join(terms[i : i + 2])})" for i in range(0, len(terms), 2)]
    return terms[0]


def matrix_product(matrix: Sequence[Sequence[float]] | np.ndarray) -> Any:
    """Make a function of a tuple f that returns the tuple `matrix` @ f; zeros are left out."""
    rows = (
        balanced_sum([f"T({float(m)!r}) * f[{q}]" for q, m in enumerate(row) if m] or ["T(0)"])
        for row in matrix
    )
    text = f"def product(f):\n    T = type(f[0])\n    return ({', '.join(rows)},)\n"
    return inlined(compile_source("product", text, {}))


def per_population(lattice: Lattice, populations: int) -> Callable[[Callable[..., Any]], Any]:
    """Make a decorator that applies a scalar formula to every population of a lattice.

    The first `populations` arguments of the formula become tuples with an element for each
    population; the others stay scalars.
    """

    def decorate(formula: Callable[..., Any]) -> Any:
        names = list(inspect.signature(formula).parameters)
        scalars = names[populations:]
        calls = (
            f"formula({', '.join([f'{n}[{q}]' for n in names[:populations]] + scalars)})"
            for q in range(lattice.size)
        )
        text = f"def unrolled({', '.join(names)}):\n    return ({', '.join(calls)})\n"
        return inlined(compile_source("unrolled", text, {"formula": inlined(formula)}))

    return decorate


def per_pair(lattice: Lattice) -> Callable[[Callable[..., Any]], Any]:
    """Make a decorator that applies a formula to every pair of opposite populations of a lattice.

    formula(f, g, even, odd, *rates) of a population, its opposite and their equilibria returns the
    new f and g, whose equilibria are even + odd and even - odd. The population at rest is its own
    opposite.
    """
    return lambda formula: _unroll_pairs(lattice, formula)


def _unroll_pairs(lattice: Lattice, formula: Callable[..., Any]) -> Any:
    rates = list(inspect.signature(formula).parameters)[4:]
    lines = [f"def unrolled({', '.join(['f', 'e', *rates])}):", "    zero = type(f[0])(0)"]
    for i, j in [(0, 0), *lattice.pairs]:
        equilibria = f"e[{i}], {f'e[{j}]' if i else 'zero'}"
        call = f"formula({', '.join([f'f[{i}], f[{j}], {equilibria}', *rates])})"
        lines.append(f"    f{i}, {f'f{j}' if i else '_'} = {call}")
    lines.append(f"    return ({', '.join(f'f{q}' for q in range(lattice.size))})")
    return inlined(
        compile_source("unrolled", "\n".join(lines) + "\n", {"formula": inlined(formula)})
    )
