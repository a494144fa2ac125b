"""Shear frames on moving ground: linear ones, and ones with the hysteresis of Bouc and Wen."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from hetero import validation
from hetero.arrays import as_real
from rode.excitations.excitation import Excitation
from rode.problems.checks import names_of, parameter_of
from rode.problems.descriptions import MAX_DIMENSION, additive
from rode.problems.frame_functions import KINDS, frame_functions
from rode.problems.problem import Problem

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["BoucWen", "shear_frame"]

MAX_HYSTERETIC = 20
"""Largest number of storeys with hysteresis. Compiling 20 takes as long as their solution (not
tuned)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class BoucWen:
    """Hysteresis of the storeys of a frame, by Bouc (1967) and Wen (1976).

    The shear of a storey with drift d is alpha k d + (1 - alpha) k z, where

        z' = d' (1 - |z/yield_drift|^exponent (gamma + beta sign(d' z))).

    With beta + gamma = 1 the hysteretic part yields at z = yield_drift. This is the usual model
    with A = 1, which is no restriction (Ma et al. 2004): k and z take up another A.

    Attributes
    ----------
    yield_drift : drift at which a storey yields, m; infinity for a storey that stays elastic
    alpha : stiffness after yielding over that before, from 0 to 1
    beta, gamma : shape of the loop; beta >= 0, beta + gamma > 0
    exponent : sharpness of the transition, from 1 to 100, one for all storeys

        All but `exponent` are one number, or one for each storey.

    Raises
    ------
    TypeError, ValueError
        A number is not in its range; the message names it.
    """

    yield_drift: ArrayLike
    alpha: ArrayLike = 0.05
    beta: ArrayLike = 0.5
    gamma: ArrayLike = 0.5
    exponent: float = 1.0

    def __post_init__(self) -> None:
        columns = {}
        for name in ("yield_drift", "alpha", "beta", "gamma"):
            column = np.atleast_1d(as_real(name, getattr(self, name)))
            if column.ndim != 1 or column.size == 0 or np.isnan(column).any():
                raise ValueError(
                    f"{name} must be a number, or one for each storey, got "
                    f"{validation.describe(getattr(self, name))}"
                )
            columns[name] = column
        ranges = {
            "yield_drift must be positive": columns["yield_drift"] > 0.0,
            "alpha must lie in [0, 1]": (columns["alpha"] >= 0.0) & (columns["alpha"] <= 1.0),
            "beta must be finite and not negative": (columns["beta"] >= 0.0)
            & np.isfinite(columns["beta"]),
            "gamma must be finite": np.isfinite(columns["gamma"]),
        }
        for text, is_right in ranges.items():
            if not is_right.all():
                value = columns[text.split(" ")[0]][~is_right][0]
                raise ValueError(f"{text}, got {value:g}")
        beta, gamma = columns["beta"], columns["gamma"]
        # Lengths that do not fit are refused by the frame, which knows the number of storeys.
        if (beta.size == gamma.size or 1 in (beta.size, gamma.size)) and min(beta + gamma) <= 0.0:
            raise ValueError(
                "beta + gamma must be positive, or the force of a storey grows without bounds, got "
                f"beta={self.beta!r} and gamma={self.gamma!r}"
            )
        exponent = validation.check_in_range("exponent", self.exponent, 1.0, 100.0)
        object.__setattr__(self, "exponent", exponent)

    def _columns(self, storeys: int) -> list[np.ndarray]:
        """Return alpha, yield_drift, beta and gamma as (storeys, 1) arrays."""
        result = []
        for name in ("alpha", "yield_drift", "beta", "gamma"):
            column = np.atleast_1d(as_real(name, getattr(self, name)))
            if column.size not in (1, storeys):
                raise ValueError(
                    f"{name} of hysteresis must be one number, or one for each of {storeys} "
                    f"storeys, got {column.size}"
                )
            result.append(np.broadcast_to(column, storeys)[:, None])
        return result


def shear_frame(
    masses: ArrayLike,
    stiffnesses: ArrayLike,
    damping: ArrayLike | None = None,
    *,
    excitation: Excitation,
    hysteresis: BoucWen | None = None,
    dashpots: ArrayLike | None = None,
    damped_modes: tuple[int, int] = (1, 2),
    scale: ArrayLike = 1.0,
    outputs: str | Sequence[str] = ("drift", "shear", "acceleration"),
    name: str | None = None,
) -> Problem:
    """Describe a building whose floors are rigid and whose storeys are springs, on moving ground.

    Storey 1 stands on the ground, and floor i is the top of storey i. Units are those of m, s and
    N (kg), or kN and t.

    Parameters
    ----------
    masses : (storeys,) array of the masses of the floors, or (storeys, paths)
    stiffnesses : of the storeys in the same way, or one number for all; with hysteresis those
        before yielding
    damping : ratio such as 0.05, or one for each path
        Rayleigh's damping c_0 M + c_1 K with this ratio in both `damped_modes`; of one storey,
        c_1 K. K are the stiffnesses before yielding.
    excitation : acceleration of the ground, with one component: `rode.Filtered.kanai_tajimi(..)`,
        `rode.Record`, `rode.read_record(..)`
    hysteresis : `rode.BoucWen(..)`; None for a linear frame
    dashpots : instead of damping, the constant of a dashpot in each storey, as stiffnesses
    damped_modes : numbers of two modes, the slowest is 1
    scale : factor of the excitation, or one for each path
    outputs : kinds of outputs, of all storeys or floors, or single ones such as "drift[1]"
        - "drift": displacement between both floors of a storey
        - "shear": restoring force of a storey, without dashpots
        - "acceleration": of a floor, absolute
        - "displacement", "velocity": of a floor, relative to the ground
        - "ground": acceleration of the ground, one output
    name : by default the number of storeys and the first period, which shows wrong units

    Returns
    -------
    Problem
        Linear frames are for "3-rode-taylor", others for "averaged-heun"; both take
        sampling="exact". Linear ones of more than 50 storeys take K-RODE-Taylor on a CPU only.

    Raises
    ------
    TypeError, ValueError
        Masses, stiffnesses, dashpots or a scale are not positive and finite, their shapes do not
        fit, or another argument is not valid; the message names it. (A dashpot and a scale may be
        0.)

    References
    ----------
    Wen (1976), Method for random vibration of hysteretic systems, Journal of the Engineering
    Mechanics Division 102, 249.
    """
    if not isinstance(excitation, Excitation) or excitation.components != 1:
        raise TypeError(
            "excitation must be the acceleration of the ground, with one component, such as "
            "rode.Filtered.kanai_tajimi(c=0.05), rode.Record(values, dt) or rode.read_record(file),"
            f" got {validation.describe(excitation)}"
        )
    if hysteresis is not None and not isinstance(hysteresis, BoucWen):
        raise TypeError(
            "hysteresis must be rode.BoucWen(yield_drift=..), or None for a linear frame, got "
            f"{validation.describe(hysteresis)}"
        )
    m = _storeys("masses", masses, None)
    storeys = len(m)
    largest = MAX_DIMENSION // 2 if hysteresis is None else MAX_HYSTERETIC
    if storeys > largest:
        kind = "with hysteresis" if hysteresis is not None else "of a linear frame"
        raise ValueError(f"masses must be of at most {largest} storeys {kind}, got {storeys}")
    k = _storeys("stiffnesses", stiffnesses, storeys)
    if (damping is None) == (dashpots is None):
        raise ValueError(
            "a frame needs damping, a ratio such as 0.05 (0 for none), or dashpots: one of both"
        )
    periods = _periods(m, k)
    if damping is not None:
        c0, c1 = _rayleigh(_column("damping", damping, 0.0, 1.0), periods, damped_modes)
        c = c1 * k
    else:
        assert dashpots is not None
        c0, c = np.zeros(1), _storeys("dashpots", dashpots, storeys, least=0.0)
    pairs = _pairs_of(outputs, storeys)
    whole = [c0[None], _column("scale", scale, 0.0, np.inf)[None]]
    exponent, rows, stiffest = None, [k], k
    if hysteresis is not None:
        exponent = hysteresis.exponent
        alpha, d, beta, gamma = hysteresis._columns(storeys)
        rows = [alpha * k, (1.0 - alpha) * k, 1.0 / d + 0.0 * k, beta + 0.0 * k, gamma + 0.0 * k]
        # On unloading z' may be larger than v, by at most this factor.
        stiffest = k * (1.0 + (1.0 - alpha) * np.maximum(beta - gamma, 0.0) / (beta + gamma))
    first = periods.max()
    make = functools.partial(
        additive,
        excitation=excitation,
        name=name or f"{storeys}-storey frame with the first period {first:.3g} s",
    )
    H, B, observe = frame_functions(storeys, exponent, pairs)
    problem = make(
        H,
        B,
        dimension=storeys * (2 if hysteresis is None else 3),
        linear=hysteresis is None,
        parameters=_table(1.0 / m, rows[0], c, *rows[1:], *whole),
        observe=observe,
        outputs=[kind if kind == "ground" else f"{kind}[{i + 1}]" for kind, i in pairs],
    )
    if hysteresis is None:
        rates = None
        if damping is not None:  # Rayleigh's: each mode is an oscillator of its own
            w = 2.0 * np.pi / periods
            decay = 0.5 * (c0[:, None] + c1[:, None] * w**2)
            root = np.sqrt((decay**2 - w**2).astype(complex))
            rates = np.concatenate([root - decay, -root - decay])
        return replace(problem, frame=pairs, rates=rates)
    H, B, observe = frame_functions(storeys, None, (("drift", 0),))
    elastic = make(
        *(H, B), dimension=2 * storeys, linear=True, observe=observe,
        parameters=_table(1.0 / m, stiffest, c, *whole),
    )  # fmt: skip
    return replace(problem, linearization=elastic)


def _table(*rows: np.ndarray) -> list[np.ndarray]:
    """Return all rows of parameters, for one set or one for each path."""
    sets = {row.shape[1] for row in rows} - {1}
    if len(sets) > 1:
        raise ValueError(
            f"arguments with one number for each path must be for as many paths, got {sorted(sets)}"
        )
    size = sets.pop() if sets else 1
    return [np.broadcast_to(one, size) for row in rows for one in row]


def _storeys(
    name: str, values: ArrayLike, storeys: int | None, least: float | None = None
) -> np.ndarray:
    """Return positive numbers as a (storeys, 1 or paths) array; zeros too if `least` is 0."""
    array = as_real(name, values)
    if storeys is not None and array.ndim == 0:
        array = np.full(storeys, float(array))
    if array.ndim not in (1, 2) or array.size == 0 or storeys not in (None, len(array)):
        count = "storeys" if storeys is None else storeys
        raise ValueError(
            f"{name} must have the shape ({count},), or ({count}, paths), got the shape "
            f"{array.shape}"
        )
    is_right = np.isfinite(array) & ((array > 0.0) if least is None else (array >= least))
    if not is_right.all():
        storey = int(np.argwhere(~is_right)[0][0]) + 1
        kind = "positive" if least is None else "not negative"
        raise ValueError(
            f"{name} must be finite and {kind}, got {array[~is_right][0]:g} in storey {storey}"
        )
    return array.reshape(len(array), -1)


def _column(name: str, value: ArrayLike, least: float, most: float) -> np.ndarray:
    """Return a number, or one for each path, in [least, most)."""
    column = parameter_of(name, value)
    if not np.all((column >= least) & (column < most)):
        bad = column[~((column >= least) & (column < most))][0]
        raise ValueError(f"{name} must lie in [{least:g}, {most:g}), got {bad:g}")
    return column


def _periods(m: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Return the natural periods in s, (sets, storeys), the longest first."""
    m, k = np.broadcast_arrays(m, k)
    size = len(m)
    matrix = np.zeros((m.shape[1], size, size))
    scaled = 1.0 / np.sqrt(m)
    for i in range(size):
        matrix[:, i, i] = (k[i] + (k[i + 1] if i + 1 < size else 0.0)) * scaled[i] ** 2
        if i:
            matrix[:, i, i - 1] = matrix[:, i - 1, i] = -k[i] * scaled[i] * scaled[i - 1]
    return 2.0 * np.pi / np.sqrt(np.linalg.eigvalsh(matrix))


def _rayleigh(
    ratio: np.ndarray, periods: np.ndarray, modes: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    """Return c_0 and c_1 of c_0 M + c_1 K, for each set."""
    storeys = periods.shape[1]
    if storeys == 1:
        return np.zeros(1), ratio * periods[:, 0] / np.pi
    if not isinstance(modes, tuple | list) or len(modes) != 2 or modes[0] == modes[1]:
        raise ValueError(f"damped_modes must be two modes such as (1, 2), got {modes!r}")
    numbers = [validation.check_integer("damped_modes", one, 1, storeys) - 1 for one in modes]
    one, other = (2.0 * np.pi / periods[:, i] for i in numbers)
    return 2.0 * ratio * one * other / (one + other), 2.0 * ratio / (one + other)


def _pairs_of(outputs: str | Sequence[str], storeys: int) -> tuple[tuple[str, int], ...]:
    """Return (kind, storey) of each output that is asked for."""
    pairs = []
    for name in names_of(outputs):
        kind, bracket, number = name.partition("[")
        if kind not in KINDS or (bracket and kind == "ground"):
            raise ValueError(
                f"outputs must be kinds, {', '.join(KINDS)}, or single ones such as 'drift[1]', "
                f"got {name!r}"
            )
        if not bracket:
            pairs += [(kind, i) for i in range(1 if kind == "ground" else storeys)]
            continue
        digits = number.removesuffix("]")
        if not digits.isdecimal() or not number.endswith("]") or not 1 <= int(digits) <= storeys:
            raise ValueError(f"outputs: storeys are numbered from 1 to {storeys}, got {name!r}")
        pairs.append((kind, int(digits) - 1))
    if not pairs or len(set(pairs)) < len(pairs):
        raise ValueError(f"outputs must be at least one, each once, got {outputs!r}")
    return tuple(pairs)
