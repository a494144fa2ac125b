"""Random ordinary differential equations driven by an Ornstein-Uhlenbeck process."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from hetero import validation
from hetero.arrays import as_real
from rode._solver.problem_checks import called, outputs_of, start_of, table_of, tried
from rode.process import Process, process_of

SETS = 1 << 14
"""Largest number of parameter sets that are checked one by one; not tuned."""


@dataclass(frozen=True, eq=False)
class Problem:
    """x' = H(x) + B O, or x' = G(t, O) + g(t, O) H(x). Made by `additive`, `separable` and others.

    Attributes
    ----------
    H : (x, p) -> tuple of `dimension` numbers
    B : (p) -> tuple; None for a separable problem
    G, g : (t, O, p) -> tuple and number; None for additive noise
    linear : whether H is a matrix times x (needed by K-RODE-Taylor schemes)
    observe : (t, x, O, p) -> the outputs
    start : (O, p) -> x at the beginning
    parameters : (numbers, sets) array: one set, or one a path
    outputs : names
    process : O
    start_process : O at the beginning; None draws it from the stationary law
    start_numbers : x at the beginning, where numbers were given for it
        Then `start` reads them behind the parameters, see `table`.
    """

    dimension: int
    H: Callable
    B: Callable | None
    G: Callable | None
    g: Callable | None
    linear: bool
    observe: Callable
    start: Callable
    parameters: np.ndarray = field(repr=False)
    outputs: tuple[str, ...]
    process: Process
    start_process: float | None
    name: str = "problem"
    start_numbers: tuple[float, ...] = ()

    @property
    def sets(self) -> int:
        """Sets of parameters: 1, or the number of paths."""
        return self.parameters.shape[1]

    @property
    def table(self) -> np.ndarray:
        """Array (rows, sets) that loops read: parameters, then the numbers to start from."""
        if not self.start_numbers:
            return self.parameters if self.parameters.size else np.zeros((1, self.sets))
        numbers = np.broadcast_to(
            np.array(self.start_numbers)[:, None], (self.dimension, self.sets)
        )
        return np.vstack([self.parameters, numbers])

    def matrix(self, column: int = 0) -> np.ndarray:
        """Return A of x' = A x + B O, from the images of the unit vectors."""
        p = tuple(map(float, self.parameters[:, column]))
        return np.array([tried(self, "H", x=e, p=p) for e in self._units()]).T

    def matrices(self) -> np.ndarray:
        """Return A of every set, [set, row, column]; of `SETS` chosen ones if H takes no arrays."""
        last = self.matrix(self.sets - 1)
        if self.sets == 1:
            return last[None]
        stack = np.empty((self.sets, self.dimension, self.dimension))
        with contextlib.suppress(Exception):  # branches, functions of `math` or compiled ones
            for k, unit in enumerate(self._units()):
                for i, row in enumerate(called(self.H, unit, tuple(self.parameters))):
                    stack[:, i, k] = row
            if np.allclose(stack[-1], last, rtol=1e-12, atol=0.0):
                return stack
        columns = np.unique(np.linspace(0, self.sets - 1, SETS).astype(int))
        return np.array([self.matrix(c) for c in columns])

    def _units(self) -> list[tuple[float, ...]]:
        return [tuple(map(float, e)) for e in np.eye(self.dimension)]


def additive(
    H: Callable,
    B: Callable,
    *,
    dimension: int,
    linear: bool = False,
    parameters: Sequence = (),
    start=None,
    observe: Callable | None = None,
    outputs: Sequence[str] | None = None,
    process: Process | None = None,
    start_process: float | None = None,
    name: str = "additive problem",
) -> Problem:
    """x' = H(x) + B O: the noise enters linearly.

    Parameters
    ----------
    H : (x, p) -> tuple
        Scalar function of the tuples x and p, plain or compiled with `numba.njit`. Multiply by
        `type(x[0])(2.0)` rather than 2.0 to stay in float32.
    B : (p) -> tuple
    dimension : length of x
    linear : H is a matrix times x. It is checked, and allows K-RODE-Taylor schemes.
    parameters : numbers, or arrays with one number a path
    start : numbers, or a function (O, p) -> tuple; zero if None
    observe : (t, x, O, p) -> tuple of outputs; x if None
    outputs : their names
    process : `rode.Process(tau, c)`; tau = c = 1 if None
    start_process : O at the beginning; None draws it from the stationary law

    Raises
    ------
    TypeError, ValueError
        Naming the argument: wrong lengths, NaN, an H that is not linear though `linear` is set.
    """
    return _make_problem(
        *(dimension, H, B, None, None, linear, parameters, start, observe, outputs, process),
        *(start_process, name),
    )


def separable(
    G: Callable,
    g: Callable,
    H: Callable,
    *,
    dimension: int,
    parameters: Sequence = (),
    start=None,
    observe: Callable | None = None,
    outputs: Sequence[str] | None = None,
    process: Process | None = None,
    start_process: float | None = None,
    name: str = "separable problem",
) -> Problem:
    """x' = G(t, O) + g(t, O) H(x), the paper's (7.7).

    `G` is (t, O, p) -> tuple and `g` is (t, O, p) -> number; the rest as for `additive`.
    """
    return _make_problem(
        *(dimension, H, None, G, g, False, parameters, start, observe, outputs, process),
        *(start_process, name),
    )


def kanai_tajimi(
    zeta=0.64,
    omega=15.56,
    *,
    tau: float = 1.0,
    c: float = 1.0,
    outputs: Sequence[str] = ("displacement", "velocity", "acceleration"),
    start_process: float | None = None,
) -> Problem:
    """The ground under an earthquake: x'' + 2 zeta omega x' + omega^2 x = -sqrt(c) xi (paper, 7.3).

    With O of relaxation time tau and x' = -(z + O) this is x' = -(z + O),
    z' = -2 zeta omega (z + O) + omega^2 x + O/tau; the paper's (7.6) has O for O/tau and holds for
    tau = 1 only. The ground starts at rest. The acceleration is that of the ground,
    u'' = -2 zeta omega x' - omega^2 x, whose stationary variance is
    c omega (1 + 4 zeta^2)/(4 zeta) for every tau: 16.0365 m^2/s^4 with Housner's parameters.

    Parameters
    ----------
    zeta, omega : numbers or arrays with one number a path
        Damping and frequency (rad/s); Housner's values.
    outputs : all three, or one of them
    """
    from rode._solver import problem_functions as functions

    outputs = (outputs,) if isinstance(outputs, str) else tuple(outputs)
    names = ("displacement", "velocity", "acceleration")
    if outputs != names:
        if len(outputs) != 1:
            raise ValueError(f"outputs must be {names} or one of them, got {outputs}")
        validation.check_choice("outputs", outputs[0], names)
    process = Process(tau, c)
    for name, value in (("zeta", zeta), ("omega", omega)):
        if not np.all(as_real(name, value) > 0.0):
            raise ValueError(f"{name} must be > 0, got {value!r}")
    return additive(
        functions.ground_drift,
        functions.ground_noise,
        dimension=2,
        linear=True,
        parameters=(zeta, omega, process.tau),
        start=functions.ground_start,
        observe=functions.ground_observer(outputs),
        outputs=outputs,
        process=process,
        start_process=start_process,
        name="Kanai-Tajimi",
    )


def relaxation(start: float = 0.0, *, tau=1.0, c=1.0, start_process=None) -> Problem:
    """x' = -x + O. For tau = c = 1 and O_0 = o: E x = e^-t (x_0 + t o)."""
    from rode._solver import problem_functions as functions

    return additive(
        functions.relax,
        functions.unit,
        dimension=1,
        linear=True,
        start=(start,),
        process=Process(tau, c),
        start_process=start_process,
        name="relaxation",
    )


def growth(start: float = 1.0, *, tau=1.0, c=1.0, start_process=None) -> Problem:
    """x' = O x, separable with G = 0, g = O, H = x: x = x_0 exp(int O)."""
    from rode._solver import problem_functions as functions

    return separable(
        functions.nothing,
        functions.process,
        functions.itself,
        dimension=1,
        start=(start,),
        process=Process(tau, c),
        start_process=start_process,
        name="growth",
    )


def _make_problem(
    dimension, H, B, G, g, linear, parameters, start, observe, outputs, process, start_process, name
) -> Problem:
    from rode._solver import problem_functions as functions

    dimension = validation.check_integer("dimension", dimension, 1)
    process = process_of(process)
    if start_process is not None:
        start_process = validation.check_finite("start_process", start_process)
    table = table_of(parameters)
    for label, f in (("H", H), ("B", B), ("G", G), ("g", g), ("observe", observe)):
        if f is not None and not callable(f):
            raise TypeError(f"{label} must be a function, got {f!r}")
    start, numbers = start_of(start, dimension, table.shape[0])
    functions_of_problem = [None if f is None else functions.compiled(f) for f in (H, B, G, g)]
    observe = functions.identity if observe is None else functions.compiled(observe)
    start = functions.compiled(start)
    problem = Problem(
        *(dimension, *functions_of_problem, linear, observe, start, table, (), process),
        *(start_process, name, numbers),
    )
    return replace(problem, outputs=outputs_of(problem, outputs))
