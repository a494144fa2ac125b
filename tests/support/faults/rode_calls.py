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


@functools.cache
def _peaks():
    return rode.solve(**SOLVE | {"problem": _problem(), "reduction": "peaks"})


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
    good("rode.ornstein_uhlenbeck", size=4, delta=0.1, process=rode.Process(), start=0.0, end=1.0,
         method="scan", noise=np.ones(4), dtype="float64", normals=None, rng=1, first_path=0,
         out=np.empty(4), device="cpu", known_as={"size": ("noise",)},
         nonsense={"dtype": ("type",)}),
    good("rode.fit_process", series=np.sin(np.arange(9.0)), dt=0.1, mean=0.5, start="stationary",
         takes_long=True),
    good("rode.ProcessFit.interval", name="tau", confidence=0.9, takes_long=True,
         owner=lambda: rode.fit_process(np.sin(np.arange(9.0)), 0.1)),
    good("rode.BoucWen", yield_drift=0.01, alpha=0.1, beta=0.5, gamma=0.5, exponent=1.0),
    good("rode.shear_frame", masses=[1.0, 2.0], stiffnesses=[9.0, 8.0], damping=0.05,
         excitation=rode.OU(1.0, 1.0), damped_modes=(1, 2), scale=1.0, outputs="drift",
         takes_long=True),
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
    good("rode.Problem.index_of", output="y0", owner=_problem),
    good("rode.Process.step", rode.Process().step, delta=0.1),
    good("rode.Result.index", output="y0", owner=_result),
    good("rode.Result.to_frame", kind="paths", owner=_result),
    good("rode.Result.plot", owner=_result, ax=None, output="y0", takes_long=True),
    good("rode.response_spectrum", records=np.ones(5), dt=0.1, periods=[0.5, 1.0], damping=0.05,
         subdivide=1, dtype="float64", device="cpu", nonsense={"dtype": ("type",)},
         known_as={"records": ("values",)}),
    good("rode.rotd", lambda **a: rode.rotd(**a), first=np.ones(5), second=np.ones(5), dt=0.1,
         periods=[0.5], damping=0.05, angles=4),
    good("rode.first_passage", level=1.0),
    good("rode.up_crossings", level=1.0),
    good("rode.dwell_time", level=1.0),
    good("rode.energy"),
    good("rode.Filtered.kanai_tajimi", zeta=0.6, omega=15.0, c=1.0),
    good("rode.Filtered.clough_penzien", zeta=0.6, omega=15.0, zeta_f=0.6, omega_f=1.5, c=1.0),
    good("rode.Result.exceedance", lambda **a: _peaks().exceedance(**a), output="y0",
         levels=[0.5, 1.0], confidence=0.9),
    good("rode.join_results", lambda results: rode.join_results(results),
         results=Later(lambda: [_result(), _result(4)])),
]  # fmt: skip

_MACHINERY = {
    "Excitation": ("for_paths", "integrals", "numbers_of_path"),
    "Reduction": ("begin", "columns", "combine", "finish", "join", "memory", "repeat", "take"),
}

NOT_CALLED = {
    *("Excitation", "Exceedance", "Expectation", "Level", "Output", "Problem", "ProcessFit"),
    *("RareEvent", "ResponseSpectrum", "Result", "Work", "scalars"),
    # Their errors have tests of their own: tests/rode/test_excitations.py and others.
    *("Filtered", "Functional", "OU", "Record", "Spectrum", "Sum", "expectation", "general"),
    *("rare_event", "read_record", "Exceedance.of", "Functional.named"),
    *(
        f"{name}.{method}"
        for name in ("Excitation", "Filtered", "OU", "Record", "Spectrum", "Sum")
        for method in _MACHINERY["Excitation"]
    ),
    *(
        f"{name}.{method}"
        for name in ("Functional", "Quantiles")
        for method in _MACHINERY["Reduction"]
    ),
}
"""Public names that take no arguments of users: results, modules, and what the solver calls."""
