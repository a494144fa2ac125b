"""Right-hand sides and outputs of shear frames, written out for a number of storeys.

The unknowns are the drifts d of the storeys, their rates v and, with hysteresis, the hysteretic
drifts z: x = (d_1 .. d_N, v_1 .. v_N, z_1 .. z_N). In drifts the equations are banded, and the
ground acts on the first storey alone. The text is generated because Numba's tuples need constant
indices.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from hetero.codegen import compile_source
from rode.problems.user_functions import compiled

KINDS = ("drift", "shear", "acceleration", "displacement", "velocity", "ground")
"""What a frame can put out; all but "ground" of each storey."""

ROWS = ("flexibility", "stiffness", "dashpot")
"""Parameters of each storey: 1/mass, stiffness of the elastic part, dashpot."""

HYSTERETIC_ROWS = ("hysteretic", "inverse_yield", "beta", "gamma")
"""Those of a storey with hysteresis: (1 - alpha) k, 1/yield drift, and the shape of the loop."""


def parameter_names(storeys: int, is_hysteretic: bool) -> list[str]:
    """Return the names of p in order: rows of all storeys, then what the frame has once."""
    rows = ROWS + (HYSTERETIC_ROWS if is_hysteretic else ())
    return [f"{row}{i}" for row in rows for i in range(storeys)] + ["mass_damping", "scale"]


@functools.cache
def frame_functions(
    storeys: int, exponent: float | None, outputs: tuple[tuple[str, int], ...]
) -> tuple[Any, Any, Any]:
    """Make H, B and observe; `exponent` is that of the hysteresis, None for an elastic frame.

    `outputs` are pairs (kind, storey); storeys are counted from 0. Frames with as many storeys
    share the functions, and with them the compiled solver.
    """
    p = {name: f"p[{k}]" for k, name in enumerate(parameter_names(storeys, exponent is not None))}
    shear = [_shear(i, storeys, p, exponent is not None) for i in range(storeys)]
    # Force of storey i on its floors, with its dashpot.
    lines = [
        f"    q{i} = {shear[i]} + {p[f'dashpot{i}']} * x[{storeys + i}]" for i in range(storeys)
    ]
    above = [*(f"q{i + 1}" for i in range(storeys - 1)), ""]
    lines += [
        f"    a{i} = {p[f'flexibility{i}']} * ({f'{above[i]} - q{i}' if above[i] else f'-q{i}'})"
        for i in range(storeys)
    ]
    velocity = [f"x[{storeys + i}]" for i in range(storeys)]
    rates = [
        f"a{i}{f' - a{i - 1}' if i else ''} - {p['mass_damping']} * {velocity[i]}"
        for i in range(storeys)
    ]
    names: dict[str, Any] = {}
    growth = []
    if exponent is not None:
        names["bouc_wen"] = make_bouc_wen(exponent)
        growth = [
            f"bouc_wen({velocity[i]}, x[{2 * storeys + i}], "
            + ", ".join(p[f"{row}{i}"] for row in HYSTERETIC_ROWS[1:])
            + ")"
            for i in range(storeys)
        ]
    H = _function("frame_drift", "x, p", lines, [*velocity, *rates, *growth], names)
    zero = "p[0] - p[0]"
    columns = [zero] * (len(growth) + 2 * storeys)
    columns[storeys] = f"-{p['scale']}"
    B = _function("frame_noise", "p", [], columns, {})
    for i in range(storeys):  # of floors relative to the ground
        lines.append(f"    s{i} = {f's{i - 1} + ' if i else ''}x[{i}]")
        lines.append(f"    w{i} = {f'w{i - 1} + ' if i else ''}{velocity[i]}")
    formulas = {
        "drift": lambda i: f"x[{i}]",
        "shear": lambda i: shear[i],
        "acceleration": lambda i: f"a{i} - {p['mass_damping']} * w{i}",
        "displacement": lambda i: f"s{i}",
        "velocity": lambda i: f"w{i}",
        "ground": lambda i: f"{p['scale']} * o",
    }
    results = [formulas[kind](i) for kind, i in outputs]
    return H, B, _function("frame_outputs", "t, x, o, p", lines, results, {})


def _shear(i: int, storeys: int, p: dict[str, str], is_hysteretic: bool) -> str:
    """Return the text of the restoring force of a storey."""
    elastic = f"{p[f'stiffness{i}']} * x[{i}]"
    return f"{elastic} + {p[f'hysteretic{i}']} * x[{2 * storeys + i}]" if is_hysteretic else elastic


def _function(
    name: str, arguments: str, lines: Sequence[str], results: Sequence[str], names: dict[str, Any]
) -> Any:
    """Compile the text of a function that returns a tuple."""
    text = "\n".join([f"def {name}({arguments}):", *lines, f"    return {', '.join(results)},\n"])
    return compiled(compile_source(name, text, names))


@functools.cache
def make_bouc_wen(exponent: float) -> Any:
    """Make the rate of the hysteretic drift z (Bouc 1967, Wen 1976), with A = 1.

    z' = v (1 - |z/d|^n (gamma + beta sign(v z))), where d is the yield drift.
    """
    n = int(exponent) if exponent == int(exponent) else exponent  # whole powers are products

    def bouc_wen(v: Any, z: Any, inverse_yield: Any, beta: Any, gamma: Any) -> Any:
        T = type(v)
        slope = gamma + beta if v * z > T(0.0) else gamma - beta
        return v * (T(1.0) - abs(z * inverse_yield) ** n * slope)

    return bouc_wen
