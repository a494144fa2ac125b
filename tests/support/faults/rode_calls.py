"""Good calls of `rode`."""

import functools

import numpy as np

import rode
from faults.judge import Later, good


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
    return rode.solve(**SOLVE | {"problem": _problem(), "first_path": first_path})


SOLVE = {
    "problem": Later(_problem), "method": "averaged-euler", "t_span": (0.0, 1.0), "h": 0.25,
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
    good("rode.Process", tau=1.0, c=1.0),
    good("rode.Quantiles", lambda probability: rode.Quantiles(probability), probability=0.5,
         known_as={"probability": ("probabilities",)}),
    good("rode.Generator", rng=1, method="box-muller", dtype="float64", device="cpu",
         nonsense={"dtype": ("type",)}),
    good("rode.Generator.normal", lambda **a: rode.Generator(1).normal(**a), loc=0.0, scale=1.0,
         size=3),
    good("rode.Generator.standard_normal", lambda **a: rode.Generator(1).standard_normal(**a),
         size=3, dtype="float64", out=np.empty(3), nonsense={"dtype": ("type",)}),
    good("rode.Generator.spawn", lambda **a: rode.Generator(1).spawn(**a), count=2),
    good("rode.normal", size=4, dtype="float64", method="box-muller", rng=1, path=0, strips=256,
         table="shared", out=np.empty(4), device="cpu", nonsense={"dtype": ("type",)}),
    good("rode.normal by size", lambda size: rode.normal(size), size=4),
    good("rode.normal by strips", lambda strips: rode.normal(4, method="ziggurat", strips=strips),
         strips=64),
    good("rode.ornstein_uhlenbeck", size=4, delta=0.1, process=rode.Process(), start=0.0,
         method="scan", noise=np.ones(4), dtype="float64", normals=None, rng=1, first_path=0,
         out=np.empty(4), device="cpu", known_as={"size": ("noise",)},
         nonsense={"dtype": ("type",)}),
    good("rode.average", path=np.ones(8), steps=4, device="cpu"),
    good("rode.double_average", path=np.ones(8), steps=4, device="cpu"),
    good("rode.riemann_sums", path=np.ones(9), steps=4, delta=0.1, count=2, device="cpu"),
    good("rode.growth", start=1.0, tau=1.0, c=1.0, start_process=0.0, takes_long=True),
    good("rode.relaxation", start=0.0, tau=1.0, c=1.0, start_process=0.0, takes_long=True),
    good("rode.kanai_tajimi", zeta=0.64, omega=15.0, tau=1.0, c=1.0, outputs="velocity",
         start_process=0.0, takes_long=True),
    good("rode.additive", **FUNCTIONS, untold=("linear",),
         takes_functions=("H", "B", "observe", "start"), nonsense=NONSENSE_OF_PROBLEMS,
         takes_long=True),
    good("rode.separable", G=zero, g=process_value,
         **{k: v for k, v in FUNCTIONS.items() if k not in ("B", "linear")},
         takes_functions=("H", "G", "g", "observe", "start"), nonsense=NONSENSE_OF_PROBLEMS,
         takes_long=True),
    good("rode.peak_correction", problem=Later(_problem), h=0.1),
    good("rode.solve", **SOLVE, nonsense={"dtype": ("type",)}, takes_long=True),
    good("rode.Problem.matrix", column=0, owner=_problem),
    good("rode.Process.step", rode.Process().step, delta=0.1),
    good("rode.Result.index", output="y0", owner=_result),
    good("rode.Result.to_frame", kind="paths", owner=_result),
    good("rode.Result.plot", owner=_result, ax=None, output="y0", takes_long=True),
    good("rode.join_results", lambda results: rode.join_results(results),
         results=Later(lambda: [_result(), _result(4)])),
]  # fmt: skip

NOT_CALLED = {"Output", "Problem", "Result", "Work", "scalars"}
"""Public names that take no arguments of users: results and modules."""
