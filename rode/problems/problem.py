"""The problem that the solver takes: an equation, its parameters, its start and its outputs."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from hetero import validation
from hetero.display.notebook import html_table
from rode._paths.process import Process
from rode.excitations.excitation import Excitation
from rode.problems.calls import call_python, call_uncompiled

SETS = 1 << 14
"""Largest number of parameter sets that are checked one by one; not tuned."""


UserFunction: TypeAlias = Callable[..., Any]
"""A scalar function of tuples, plain or compiled by Numba; docstrings state its arguments."""

Start: TypeAlias = Sequence[float] | UserFunction | None
"""Initial values of x, or a function (O, p) -> tuple."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Problem:
    """Equation x' = H(x) + B O, x' = G(t, O) + g(t, O) H(x), or x' = f(t, x, O).

    `rode.problems` has functions that make one: `additive`, `separable`, `general` and others.

    Attributes
    ----------
    H : (x, p) -> tuple of `dimension` numbers; None for a general problem
    B : (p) -> tuple; None for separable and general problems
    G, g : (t, O, p) -> tuple and number; None for additive noise
    linear : whether H is a matrix times x (K-RODE-Taylor schemes need this, or derivatives)
    observe : (t, x, O, p) -> the outputs
    start : (O, p) -> x at the beginning
    parameters : (numbers, sets) array: one set, or one for each path
    outputs : names of the outputs
    process : the process O
    start_process : O at the beginning; None draws it from the stationary distribution
    start_numbers : x at the beginning, if it was given as numbers
        Then `start` reads them behind the parameters, see `table`.
    first_derivative : (x, v, p) -> H'(x) v, a tuple, or None
    second_derivative : (x, u, v, p) -> H''(x)(u, v), a tuple, or None
    f : (t, x, O, p) -> tuple of `dimension` numbers, for a general problem; else None
    excitation : what stands for O, with one component or several; None: the process
    linearization : linear problem whose largest step is that of this one, or None
    frame : kinds and storeys of the outputs of a linear shear frame, which loops can solve; or None
    rates : eigenvalues of A of all sets of parameters, where they are known; or None
    """

    dimension: int
    linear: bool
    observe: UserFunction
    start: UserFunction
    parameters: np.ndarray
    outputs: tuple[str, ...]
    process: Process
    start_process: float | None
    name: str = "problem"
    start_numbers: tuple[float, ...] = ()
    H: UserFunction | None = None
    B: UserFunction | None = None
    G: UserFunction | None = None
    g: UserFunction | None = None
    f: UserFunction | None = None
    first_derivative: UserFunction | None = None
    second_derivative: UserFunction | None = None
    excitation: Excitation | None = None
    linearization: Problem | None = None
    frame: tuple[tuple[str, int], ...] | None = None
    rates: np.ndarray | None = None

    @functools.cached_property
    def known(self) -> dict[Any, Any]:
        """Largest steps by the names of schemes, and start times at which functions were tried."""
        return {}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "known"}

    def __repr__(self) -> str:
        return (
            f"Problem({self.name!r}: {self._equation}, dimension {self.dimension}, "
            f"outputs {', '.join(self.outputs)}, {self.excitation or self.process})"
        )

    def _repr_html_(self) -> str:
        rows = [
            ("equation", self._equation),
            ("dimension", self.dimension),
            ("outputs", ", ".join(self.outputs)),
            ("parameters", f"{self.parameters.shape[0]} numbers, {self.sets} sets"),
            ("process", str(self.excitation or self.process)),
        ]
        return html_table(f"rode.Problem: {self.name}", rows)

    @property
    def _equation(self) -> str:
        """Form of the equation as a text."""
        if self.f is not None:
            return "x' = f(t, x, O)"
        if self.B is None:
            return "x' = G(t, O) + g(t, O) H(x)"
        return "x' = A x + B O" if self.linear else "x' = H(x) + B O"

    @property
    def derivatives(self) -> int:
        """Number of derivatives of H that are given."""
        return (self.first_derivative is not None) + (self.second_derivative is not None)

    @property
    def sets(self) -> int:
        """Number of sets of parameters: 1, or the number of paths."""
        return self.parameters.shape[1]

    def index_of(self, output: str | None) -> int:
        """Return the index of an output by its name, which may be None if there is only one."""
        if output is None and len(self.outputs) > 1:
            raise ValueError(f"output must be one of {', '.join(self.outputs)}, got None")
        if output is None:
            return 0
        return self.outputs.index(validation.check_choice("output", output, self.outputs))

    @property
    def components(self) -> int:
        """Number of components of O."""
        return 1 if self.excitation is None else self.excitation.components

    @functools.cached_property
    def deviations(self) -> np.ndarray:
        """Standard deviation of each component of O at the start, without envelopes."""
        if self.excitation is None:
            return np.array([self.process.deviation])
        return self.excitation.deviation

    @functools.cached_property
    def unknowns(self) -> int:
        """Number of unknowns that a path keeps, those of an excitation included."""
        if self.excitation is None:
            return self.dimension
        states = sum(len(one.F) for one in self.excitation.sources())
        return self.dimension + states + self.components

    @property
    def table(self) -> np.ndarray:
        """Array (rows, sets) that loops read: parameters, followed by the initial values."""
        if not self.start_numbers:
            return self.parameters if self.parameters.size else np.zeros((1, self.sets))
        numbers = np.broadcast_to(
            np.array(self.start_numbers)[:, None], (self.dimension, self.sets)
        )
        return np.vstack([self.parameters, numbers])

    def matrix(self, column: int = 0) -> np.ndarray:
        """Return A of x' = A x + B O for one set of parameters: the images of the unit vectors."""
        column = validation.check_integer("column", column, 0, self.sets - 1)
        p = tuple(map(float, self.parameters[:, column]))
        return np.array([call_uncompiled(self, "H", x=e, p=p) for e in self._units()]).T

    def matrices(self) -> np.ndarray:
        """Return A of every set, [set, row, column]; of `SETS` chosen ones if H takes no arrays."""
        last = self.matrix(self.sets - 1)
        if self.sets == 1:
            return last[None]
        assert self.H is not None
        stack = np.empty((self.sets, self.dimension, self.dimension))
        with contextlib.suppress(Exception):  # branches, functions of `math` or compiled ones
            for k, unit in enumerate(self._units()):
                for i, row in enumerate(call_python(self.H, unit, tuple(self.parameters))):
                    stack[:, i, k] = row
            if np.allclose(stack[-1], last, rtol=1e-12, atol=0.0):
                return stack
        columns = np.unique(np.linspace(0, self.sets - 1, SETS).astype(int))
        return np.array([self.matrix(c) for c in columns])

    def _units(self) -> list[tuple[float, ...]]:
        """Return the unit vectors as tuples."""
        return [tuple(map(float, e)) for e in np.eye(self.dimension)]
