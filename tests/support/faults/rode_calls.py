"""Good calls of `rode`."""

import functools

import numpy as np

import rode
from faults.judge import Call, close


def drift(x, p):
    """Return the drift of x' = -x + O."""
    return (-x[0],)


def noise(p):
    """Return the factor of the process."""
    return (1.0,)


def zero(t, o, p):
    """Return the part of a separable problem that does not depend on x."""
    return (0.0,)


def process_value(t, o, p):
    """Return the factor of a separable problem."""
    return o


@functools.cache
def _problem():
    return rode.relaxation()


@functools.cache
def _result(first_path=0):
    arguments = _solve_arguments() | {"first_path": first_path}
    return rode.solve(arguments.pop("problem"), arguments.pop("method"), **arguments)


def _solve_arguments():
    return {
        "problem": _problem(), "method": "averaged-euler", "t_span": (0.0, 1.0), "h": 0.25,
        "delta": 0.125, "paths": 4, "sampling": "path", "rng": 1, "reduction": "paths",
        "save_every": 1, "dtype": "float64", "normals": None, "first_path": 0,
        "threads_per_path": None, "parts": 1, "executor": None, "comm": None, "checkpoint": None,
        "device": "cpu",
    }  # fmt: skip


FUNCTIONS = {"H": drift, "B": noise, "dimension": 1, "linear": True, "parameters": (),
             "start": (0.5,), "observe": None, "outputs": ("x",), "process": rode.Process(),
             "start_process": 0.0, "name": "a"}  # fmt: skip

NONSENSE_OF_PROBLEMS = {"name": ("all",), "outputs": ("list of strings", "array of strings"),
                        "parameters": ("ragged list",)}  # fmt: skip
"""A parameter is a number, or has one number a path."""

CALLS = [
    Call("rode.Process", rode.Process, lambda: {"tau": 1.0, "c": 1.0}),
    Call("rode.Quantiles", lambda probability: rode.Quantiles(probability),
         lambda: {"probability": 0.5}, known_as={"probability": ("probabilities",)}),
    Call("rode.Generator", rode.Generator,
         lambda: {"rng": 1, "method": "box-muller", "dtype": "float64", "device": "cpu"},
         nonsense={"dtype": ("type",)}),
    Call("rode.Generator.normal", lambda **a: rode.Generator(1).normal(**a),
         lambda: {"loc": 0.0, "scale": 1.0, "size": 3}),
    Call("rode.Generator.standard_normal", lambda **a: rode.Generator(1).standard_normal(**a),
         lambda: {"size": 3, "dtype": "float64", "out": np.empty(3)},
         nonsense={"dtype": ("type",)}),
    Call("rode.Generator.spawn", lambda **a: rode.Generator(1).spawn(**a), lambda: {"count": 2}),
    Call("rode.normal", rode.normal,
         lambda: {"size": 4, "dtype": "float64", "method": "box-muller", "rng": 1, "path": 0,
                  "strips": 256, "table": "shared", "out": np.empty(4), "device": "cpu"},
         nonsense={"dtype": ("type",)}),
    Call("rode.normal by size", lambda size: rode.normal(size), lambda: {"size": 4}),
    Call("rode.normal by strips",
         lambda strips: rode.normal(4, method="ziggurat", strips=strips), lambda: {"strips": 64}),
    Call("rode.ornstein_uhlenbeck", rode.ornstein_uhlenbeck,
         lambda: {"size": 4, "delta": 0.1, "process": rode.Process(), "start": 0.0,
                  "method": "scan", "noise": np.ones(4), "dtype": "float64", "normals": None,
                  "rng": 1, "first_path": 0, "out": np.empty(4), "device": "cpu"},
         known_as={"size": ("noise",)},
         nonsense={"dtype": ("type",)}),
    Call("rode.average", rode.average, lambda: {"path": np.ones(8), "steps": 4, "device": "cpu"}),
    Call("rode.double_average", rode.double_average,
         lambda: {"path": np.ones(8), "steps": 4, "device": "cpu"}),
    Call("rode.riemann_sums", rode.riemann_sums,
         lambda: {"path": np.ones(9), "steps": 4, "delta": 0.1, "count": 2, "device": "cpu"}),
    Call("rode.growth", rode.growth,
         lambda: {"start": 1.0, "tau": 1.0, "c": 1.0, "start_process": 0.0}, takes_long=True),
    Call("rode.relaxation", rode.relaxation,
         lambda: {"start": 0.0, "tau": 1.0, "c": 1.0, "start_process": 0.0}, takes_long=True),
    Call("rode.kanai_tajimi", rode.kanai_tajimi,
         lambda: {"zeta": 0.64, "omega": 15.0, "tau": 1.0, "c": 1.0, "outputs": "velocity",
                  "start_process": 0.0}, takes_long=True),
    Call("rode.additive", rode.additive, lambda: dict(FUNCTIONS), untold=("linear",),
         takes_functions=("H", "B", "observe", "start"), nonsense=NONSENSE_OF_PROBLEMS,
         takes_long=True),
    Call("rode.separable", rode.separable,
         lambda: {k: v for k, v in FUNCTIONS.items() if k not in ("B", "linear")}
         | {"G": zero, "g": process_value},
         takes_functions=("H", "G", "g", "observe", "start"), nonsense=NONSENSE_OF_PROBLEMS,
         takes_long=True),
    Call("rode.peak_correction", rode.peak_correction,
         lambda: {"problem": rode.relaxation(), "h": 0.1}),
    Call("rode.solve", rode.solve, _solve_arguments, nonsense={"dtype": ("type",)},
         takes_long=True),
    Call("rode.Problem.matrix", lambda column: _problem().matrix(column), lambda: {"column": 0}),
    Call("rode.Process.step", rode.Process().step, lambda: {"delta": 0.1}),
    Call("rode.Result.index", lambda output: _result().index(output), lambda: {"output": "y0"}),
    Call("rode.Result.to_frame", lambda kind: _result().to_frame(kind), lambda: {"kind": "paths"}),
    Call("rode.Result.plot", lambda **a: close(_result().plot(**a)),
         lambda: {"ax": None, "output": "y0"}, takes_long=True),
    Call("rode.join_results", lambda results: rode.join_results(results),
         lambda: {"results": [_result(), _result(4)]}),
]  # fmt: skip

NOT_CALLED = {"Output", "Problem", "Result", "Work", "scalars"}
"""Public names that take no arguments of users: results and modules."""
