"""Loops over the 19 populations, written out: Numba's tuples need constant indices.

The functions generated here are plain text that becomes scalar functions; a collision operator
uses the decorators `per_population` and `per_pair` and never sees the text.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from hetero.codegen import compile_source
from hetero.jit import FUSED, scalar
from lbm._model.lattice import PAIRS, Q


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a formula that is always inlined, so that loops around it vectorise on the CPU."""
    return scalar(function, forceinline=True, fastmath=FUSED)


def per_population(populations: int) -> Callable[[Callable[..., Any]], Any]:
    """Make a decorator that applies a scalar formula to every population.

    The first `populations` arguments of the formula become tuples of 19; the others stay scalars.
    """

    def decorate(formula: Callable[..., Any]) -> Any:
        names = list(inspect.signature(formula).parameters)
        scalars = names[populations:]
        calls = (
            f"formula({', '.join([f'{n}[{q}]' for n in names[:populations]] + scalars)})"
            for q in range(Q)
        )
        text = f"def unrolled({', '.join(names)}):\n    return ({', '.join(calls)})\n"
        return inlined(compile_source("unrolled", text, {"formula": inlined(formula)}))

    return decorate


def per_pair(formula: Callable[..., Any]) -> Any:
    """Apply a formula of a population, its opposite and their equilibria to every pair.

    formula(f, g, even, odd, *rates) returns the new f and g, whose equilibria are even + odd and
    even - odd. The population at rest is its own opposite.
    """
    rates = list(inspect.signature(formula).parameters)[4:]
    lines = [f"def unrolled({', '.join(['f', 'e', *rates])}):", "    zero = type(f[0])(0)"]
    for i, j in [(0, 0), *PAIRS]:
        equilibria = f"e[{i}], {f'e[{j}]' if i else 'zero'}"
        call = f"formula({', '.join([f'f[{i}], f[{j}], {equilibria}', *rates])})"
        lines.append(f"    f{i}, {f'f{j}' if i else '_'} = {call}")
    lines.append(f"    return ({', '.join(f'f{q}' for q in range(Q))})")
    return inlined(
        compile_source("unrolled", "\n".join(lines) + "\n", {"formula": inlined(formula)})
    )
