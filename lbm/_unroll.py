"""Loops over the 19 populations, written out: Numba's tuples need constant indices.

The functions made here are plain text turned into scalar functions; a collision operator uses
`each` and `pairs` and never sees the text.
"""

from __future__ import annotations

import inspect

from hetero.jit import FUSED, define, scalar
from lbm.lattice import PAIRS, Q


def inlined(function):
    """A formula that is always inlined: loops around it vectorise on the CPU."""
    return scalar(function, forceinline=True, cache=False, fastmath=FUSED)


def each(populations: int):
    """Apply a scalar formula to every population.

    The first `populations` arguments of the formula become tuples of 19, the others stay scalars.
    """

    def decorate(formula):
        names = list(inspect.signature(formula).parameters)
        rest = names[populations:]
        calls = (
            f"one({', '.join([f'{n}[{q}]' for n in names[:populations]] + rest)})" for q in range(Q)
        )
        text = f"def each({', '.join(names)}):\n    return ({', '.join(calls)})\n"
        return inlined(define("each", text, {"one": inlined(formula)}))

    return decorate


def pairs(formula):
    """Apply a formula of a population, its opposite and their equilibria to every pair.

    formula(f, g, even, odd, *rates) returns the new f and g, whose equilibria are even + odd and
    even - odd. The population at rest is its own opposite.
    """
    rates = list(inspect.signature(formula).parameters)[4:]
    lines = [f"def pairs({', '.join(['f', 'e', *rates])}):", "    none = type(f[0])(0)"]
    for i, j in [(0, 0), *PAIRS]:
        parts = f"e[{i}], {f'e[{j}]' if i else 'none'}"
        call = f"one({', '.join([f'f[{i}], f[{j}], {parts}', *rates])})"
        lines.append(f"    f{i}, {f'f{j}' if i else '_'} = {call}")
    lines.append(f"    return ({', '.join(f'f{q}' for q in range(Q))})")
    return inlined(define("pairs", "\n".join(lines) + "\n", {"one": inlined(formula)}))
