"""Random ordinary differential equations driven by an Ornstein-Uhlenbeck process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from numpy.typing import ArrayLike

from hetero import validation
from rode._paths.process import Process, process_of
from rode.excitations.excitation import Excitation
from rode.excitations.ou import OU
from rode.problems.checks import outputs_of, start_of, table_of
from rode.problems.problem import Problem, Start, UserFunction

_OPTIONAL = ("observe", "first_derivative", "second_derivative")
"""Functions of a problem that may be None."""

MAX_DIMENSION = 1024
"""Largest number of unknowns. Compiled functions return them as a tuple, which takes Numba minutes
for some hundreds."""


def additive(
    H: UserFunction,
    B: UserFunction,
    *,
    dimension: int,
    linear: bool = False,
    parameters: Sequence[ArrayLike] = (),
    start: Start = None,
    observe: UserFunction | None = None,
    outputs: str | Sequence[str] | None = None,
    process: Process | None = None,
    start_process: float | None = None,
    first_derivative: UserFunction | None = None,
    second_derivative: UserFunction | None = None,
    excitation: Excitation | None = None,
    name: str = "additive problem",
) -> Problem:
    """Describe x' = H(x) + B O: the noise enters linearly.

    Parameters
    ----------
    H : (x, p) -> tuple
        Scalar function of the tuples x and p, plain or compiled with `numba.njit`. Multiply by
        `type(x[0])(2.0)` rather than 2.0 to stay in float32.
    B : (p) -> tuple
    dimension : length of x
    linear : H is a matrix times x. It is checked for the first set of parameters and for those in
        which a number is smallest or largest, and allows K-RODE-Taylor schemes for all K.
    parameters : numbers, or arrays with one number a path
    start : numbers, or a function (O, p) -> tuple; zero if None
    observe : (t, x, O, p) -> tuple of outputs; x if None
    outputs : their names, or that of the only one; y0, y1, ... if None
    process : `rode.Process(tau, c)`; tau = c = 1 if None
    start_process : O at the beginning; None draws it from the stationary distribution
    excitation : what stands for O instead of a process: `rode.OU`, `rode.Filtered`, `rode.Record`
        or a `rode.Sum` of them. For several components O is a tuple, and B returns a tuple of
        columns, one tuple for each component. `rode.solve` then takes sampling="exact".
    first_derivative : (x, v, p) -> H'(x) v, the derivative of H in the direction v, as a tuple
        With it "2-rode-taylor" takes an H that is not linear, and "1-rode-taylor" does without.
    second_derivative : (x, u, v, p) -> H''(x)(u, v), the derivative of H'(x) u in the direction v
        With both "3-rode-taylor" takes an H that is not linear. Derivatives are compared with
        differences, for as many sets as `linear` is checked for.

    Raises
    ------
    TypeError, ValueError
        If an argument is invalid, for example has a wrong length or NaN, if H is not linear
        although `linear` is set, or if a derivative is wrong. The message names the argument.
    """
    return _make_problem(
        {
            "H": H,
            "B": B,
            "observe": observe,
            "first_derivative": first_derivative,
            "second_derivative": second_derivative,
        },
        dimension,
        parameters,
        start,
        outputs,
        name,
        linear=linear,
        process=process,
        start_process=start_process,
        excitation=excitation,
    )


def separable(
    G: UserFunction,
    g: UserFunction,
    H: UserFunction,
    *,
    dimension: int,
    parameters: Sequence[ArrayLike] = (),
    start: Start = None,
    observe: UserFunction | None = None,
    outputs: str | Sequence[str] | None = None,
    process: Process | None = None,
    start_process: float | None = None,
    name: str = "separable problem",
) -> Problem:
    """Describe x' = G(t, O) + g(t, O) H(x) (Riesinger 2017, equation 7.7).

    `G` is (t, O, p) -> tuple and `g` is (t, O, p) -> number; the rest as for `additive`.
    """
    return _make_problem(
        {"H": H, "G": G, "g": g, "observe": observe},
        dimension,
        parameters,
        start,
        outputs,
        name,
        process=process,
        start_process=start_process,
    )


def general(
    f: UserFunction,
    *,
    dimension: int,
    excitation: Excitation | None = None,
    parameters: Sequence[ArrayLike] = (),
    start: Start = None,
    observe: UserFunction | None = None,
    outputs: str | Sequence[str] | None = None,
    name: str = "general problem",
) -> Problem:
    """Describe x' = f(t, x, O): the noise enters in any way, as in a stiffness that fluctuates.

    `f` is (t, x, O, p) -> tuple, and O has one number, or a tuple for several components of the
    excitation. The default excitation is `rode.OU(1, 1)`; the other arguments are those of
    `additive`. `rode.solve` takes sampling="exact" and the methods "heun" and "euler". Where f is
    H(x) + B O or G(t, O) + g(t, O) H(x), `additive` and `separable` allow methods of higher order.
    """
    excitation = OU(1.0, 1.0) if excitation is None else excitation
    functions = {"f": f, "observe": observe}
    return _make_problem(
        functions, dimension, parameters, start, outputs, name, excitation=excitation
    )


def _make_problem(
    functions: dict[str, UserFunction | None],
    dimension: int,
    parameters: Sequence[ArrayLike],
    start: Start,
    outputs: str | Sequence[str] | None,
    name: str,
    *,
    linear: bool = False,
    process: Process | None = None,
    start_process: float | None = None,
    excitation: Excitation | None = None,
) -> Problem:
    """Check the parts of a problem, compile its functions and call each of them once."""
    from rode.problems.functions import identity
    from rode.problems.user_functions import compiled

    dimension = validation.check_integer("dimension", dimension, 1, MAX_DIMENSION)
    if excitation is not None:
        if not isinstance(excitation, Excitation):
            raise TypeError(f"excitation must be one such as rode.OU(tau, c), got {excitation!r}")
        if process is not None or start_process is not None:
            raise ValueError("excitation excludes process and start_process, got both")
    if start_process is not None:
        start_process = validation.check_finite("start_process", start_process)
    table = table_of(parameters)
    for label, function in functions.items():
        if not callable(function) and not (label in _OPTIONAL and function is None):
            raise TypeError(f"{label} must be a function, got {function!r}")
        if names := getattr(function, "__kwdefaults__", None):
            raise ValueError(
                f"{label} must have no keyword-only parameters, which compiled code does not know, "
                f"got {', '.join(names)}: pass them in parameters, or refer to globals"
            )
    start_function, numbers = start_of(start, dimension, table.shape[0])
    named_functions: dict[str, UserFunction] = {"observe": identity, "start": start_function}
    named_functions |= {label: f for label, f in functions.items() if f is not None}
    problem = Problem(
        dimension=dimension,
        linear=linear,
        parameters=table,
        outputs=(),
        process=process_of(process),
        start_process=start_process,
        name=name,
        start_numbers=numbers,
        excitation=excitation,
        **{label: compiled(function) for label, function in named_functions.items()},
    )
    return replace(problem, outputs=outputs_of(problem, outputs))
