"""What the functions of `rode` refuse: errors name the argument, its value and what it may be."""

import math

import numpy as np
import pytest

import rode
from rode._normals.wallace.pool_shape import PoolShape

QUAKE = rode.kanai_tajimi()
SWAY = rode.kanai_tajimi(outputs="displacement")
GOOD = {"t_span": (0, 1), "h": 2.0**-5, "paths": 2, "device": "cpu"}
SHAKE = rode.Filtered.kanai_tajimi(c=0.05)
SOFT = rode.BoucWen(yield_drift=0.01)
SERIES = [1.0, 2.0, 1.5, 3.0]
TWO = rode.OU([1.0, 2.0], 1.0)
ENVELOPE = ([0.0, 1.0, 3.0], [0.0, 1.0, 0.25])


def bent(x, p):
    return (-(x[0] ** 3),)


def start(t, y):
    return y, y


def widen(state, t, y, h):
    return min(state[0], y), max(state[1], y)


def relax(excitation=None, **options):
    """Return x' = -x + u, or the problem of one function that is exchanged."""
    options = {"H": lambda x, p: (-x[0],), "B": lambda p: (1.0,), "dimension": 1} | options
    return rode.additive(**options, excitation=excitation)


def bend(**options):
    return rode.additive(**{"H": bent, "B": lambda p: (1.0,), "dimension": 1} | options)


def solve(problem=QUAKE, method="averaged-euler", **options):
    return rode.solve(problem, method, **GOOD | options)


def expect(problem=SWAY, functional=None, **options):
    functional = rode.energy() if functional is None else functional
    run = {"t_span": (0, 2), "tolerance": 1e-3, "rng": 1, "device": "cpu"} | options
    return rode.expectation(problem, "3-rode-taylor", functional, **run)


def reach(problem=None, **options):
    """Estimate how often O exceeds a threshold."""
    problem = relax(observe=lambda t, x, O, p: (O,)) if problem is None else problem
    run = {"threshold": 1.0, "t_span": (0, 1), "h": 2.0**-5, "rng": 1} | options
    return rode.rare_event(problem, "averaged-heun", **run)


def frame(masses=(30.0, 25.0, 20.0), stiffnesses=(9e3, 7e3, 4e3), **options):
    return rode.shear_frame(masses, stiffnesses, **{"damping": 0.05, "excitation": SHAKE} | options)


def fit(series=SERIES, **options):
    return rode.fit_process(series, **options)


def normal(**options):
    return rode.normal(**{"size": 3, "device": "cpu"} | options)


def path(**options):
    good = {"size": 3, "delta": 0.1, "start": 0.0, "device": "cpu"}
    return rode.ornstein_uhlenbeck(**good | options)


def spectra(records=(0.0, 1.0, 0.0), **options):
    return rode.response_spectrum(records, **{"dt": 0.01, "periods": [1.0]} | options)


def spectrum(*density, coherence=None):
    return rode.Spectrum([1.0, 2.0], *density, coherence=coherence)


RECORDS = rode.Record([0.0] * 40, 2.0**-5)
MANY = rode.Sum(rode.OU(tau=1.0, c=1.0), rode.Record(np.zeros((500, 40)), 2.0**-5))
REFUSED = {
    # Steps, paths and times of a run
    "h=0.1 is not stable": lambda: solve(h=0.1),
    "h=0.03 does not divide t_span": lambda: solve(h=0.03),
    "delta=0.01 does not divide h": lambda: solve(delta=0.01),
    "is too small for t_span of length": lambda: solve(h=1e-320),
    "delta must lie in": lambda: solve(delta=1.0),
    "t_span must end after": lambda: solve(t_span=(1, 0)),
    "t_span must hold two": lambda: solve(t_span=3.0),
    "both must be below 2147483648": lambda: solve(method="8-rode-taylor"),
    "method must be one of": lambda: solve(method="rk4"),
    "reduction must be one of": lambda: solve(reduction="mode"),
    "first_path must be": lambda: solve(first_path=2**32),
    "parts must be an integer in": lambda: solve(parts=9),
    "threads_per_path must be": lambda: solve(threads_per_path=3),
    "threads_per_path=32 needs": lambda: solve(threads_per_path=32),
    "problem must be a rode.Problem": lambda: solve("quake"),
    "is for linear problems": lambda: solve(rode.growth(), "3-rode-taylor"),
    "noise that enters linearly": lambda: solve(rode.growth(), sampling="exact"),
    "parameters are for 5 paths": lambda: solve(rode.kanai_tajimi(0.6, np.ones(5))),
    # Problems
    "not a matrix times x": lambda: bend(linear=True),
    "H must return a tuple of 2": lambda: bend(dimension=2),
    "parameters must be finite": lambda: bend(parameters=(math.nan,)),
    "start must have 1": lambda: bend(start=(1.0, 2.0)),
    "parameters must be": lambda: bend(parameters=3.0),
    "start must be a list of 1 numbers": lambda: bend(start=1.0),
    "outputs must be a list of names, got \\{": lambda: bend(outputs={"x"}),
    "outputs must have different names, got x, x": lambda: bend(outputs=("x", "x")),
    # Excitations
    "OU needs tau and c, or theta": lambda: rode.OU(1.0),
    "c must be positive and finite": lambda: rode.OU(1.0, [1.0, -1.0]),
    "no negative": lambda: rode.OU(1.0, 1.0, correlation=[[1.0, 2.0], [2.0, 1.0]]),
    "one number of components": lambda: rode.OU([1.0, 2.0], [1.0, 2.0, 3.0]),
    "ascending times": lambda: rode.OU(1.0, 1.0, envelope=([0.0, 0.0], [1.0, 1.0])),
    "start='rest' begins at 0": lambda: rode.Filtered([[1.0]], [1.0], [1.0]),
    "must have the shapes": lambda: rode.Filtered([[1.0, 0.0]], [1.0], [1.0]),
    "sample 1 of record 0 is nan: fill": lambda: rode.Record([1.0, math.nan, 2.0], 0.1),
    "at least two samples": lambda: rode.Record([1.0], 0.1),
    "not negative, got -1.0 at 2": lambda: spectrum([1.0, -1.0]),
    "frequencies must be finite, not": lambda: rode.Spectrum([2.0, 1.0], [1.0, 1.0]),
    "positive integral": lambda: spectrum([0.0, 0.0]),
    "a value for each of the 2": lambda: spectrum([1.0]),
    "must have no negative": lambda: spectrum(np.ones((2, 2)), coherence=[[1.0, 1.1], [1.1, 1.0]]),
    r"the shape \(2, 2\)": lambda: spectrum(np.ones((2, 2)), coherence=np.ones((3, 3))),
    "finite and Hermitian": lambda: spectrum(np.ones((2, 2)), coherence=[[1.0, 1j], [1j, 1.0]]),
    r"period of 25\.1327 s .* at 11 or more equidistant": lambda: solve(
        relax(rode.Spectrum(np.linspace(1, 3, 9), np.ones_like)), "euler", t_span=(0, 30),
        sampling="exact",
    ),
    "decided at their start": lambda: reach(relax(spectrum([1.0, 1.0]), outputs="x")),
    "equally many components": lambda: rode.Sum(rode.OU(1.0, 1.0), TWO),
    "sampling must be 'exact'": lambda: solve(relax(rode.OU(1.0, 1.0)), "euler"),
    "B must return a tuple of 2 columns": lambda: relax(TWO),
    # Expectations and rare events
    "functional must be 'end', 'peaks' or": lambda: expect(functional=3.0),
    "output must be one of displacement": lambda: expect(QUAKE),
    "needs noise that enters linearly": lambda: expect(rode.growth()),
    r"bends near t=0\.2.*pass h= of which": lambda: expect(
        relax(rode.OU(1.0, 1.0, envelope=([0.0, 0.3, 2.0], [0.0, 1.0, 0.5])), linear=True), "end"
    ),
    "is 0 for all of 1500": lambda: expect(rode.kanai_tajimi(c=5e-324, outputs="displacement")),
    "does not suffice for the first 500 paths": lambda: expect(max_path_steps=1e4),
    "paths must be at least 20 for subset": lambda: reach(paths=19),
    "one record for all": lambda: reach(relax(RECORDS), algorithm="subset"),
    "one record for all paths": lambda: reach(relax(MANY), algorithm="splitting"),
    # Frames
    "masses must be finite and positive, got 0 in storey 2": lambda: frame([1.0, 0.0, 2.0]),
    r"masses must have the shape \(storeys,\)": lambda: frame(3.0),
    "at most 512 storeys of a linear frame": lambda: frame(np.ones(513)),
    "at most 20 storeys with hysteresis": lambda: frame(np.ones(21), hysteresis=SOFT),
    r"stiffnesses must have the shape \(3,\)": lambda: frame(stiffnesses=[1.0, 2.0]),
    "as many paths, got .4, 5": lambda: frame(stiffnesses=np.ones((3, 4)), scale=np.ones(5)),
    r"damping must lie in \[0, 1\), got 5": lambda: frame(damping=5.0),
    "needs damping, a ratio such as 0.05": lambda: frame(damping=None),
    "damped_modes must be two modes": lambda: frame(damped_modes=(1, 1)),
    "excitation must be the acceleration": lambda: frame(excitation=None),
    "with one component": lambda: frame(excitation=TWO),
    "hysteresis must be rode.BoucWen": lambda: frame(hysteresis=0.01),
    # Each storey is right, though the least beta and the least gamma would not be.
    "beta of hysteresis": lambda: frame(
        hysteresis=rode.BoucWen(yield_drift=1.0, beta=[0.1, 0.9], gamma=[0.5, -0.3])
    ),
    "outputs must be kinds": lambda: frame(outputs="torsion"),
    "each once": lambda: frame(outputs=("drift", "drift[1]")),
    r"h=0.25 is not stable: 'averaged-heun' needs h <=": lambda: solve(
        frame(hysteresis=SOFT), "averaged-heun", h=0.25, sampling="exact"
    ),
    "yield_drift must be positive": lambda: rode.BoucWen(yield_drift=0.0),
    "beta \\+ gamma must be positive": lambda: rode.BoucWen(yield_drift=0.01, gamma=-0.5),
    # Processes from data
    "sample 2 of series 0 is nan: leave": lambda: fit([1.0, 2.0, math.nan, 3.0, 1.0], dt=1.0),
    "needs dt, or times": fit,
    "step of 0 s behind sample 1": lambda: fit(times=[0.0, 1.0, 1.0, 2.0]),
    "dt must have one number less": lambda: fit(dt=[1.0, 2.0]),
    "at least three steps": lambda: fit([1.0, 2.0], dt=1.0),
    "must not be constant": lambda: fit([4.0] * 9, dt=1.0),
    "no correlation between": lambda: fit([1.0, 0.0] * 20, dt=1.0),
    "does not return to a mean": lambda: fit(np.arange(40.0), dt=1.0, start="given"),
    "series has no noise": lambda: fit(5 * np.exp(-0.1 * np.arange(50)), dt=0.1, start="given"),
    "series must spread by": lambda: fit(1e200 * np.array([*SERIES, 2.5]), dt=0.1),
    "series has 60 series of 3 samples": lambda: fit(np.ones((60, 3)), dt=0.1),
    # Functionals and peaks
    "name must be a text": lambda: rode.Functional("", start, widen),
    "name must not be one of paths, mean": lambda: rode.Functional("mean", start, widen),
    "init must be a function": lambda: rode.Functional("a", None, widen),
    "must return tuples": lambda: rode.Functional("a", lambda t, y: y, widen),
    "raised IndexError: tuple": lambda: rode.Functional("a", lambda t, y: (y,), widen),
    "'u' contains white noise with an envelope": lambda: rode.peak_correction(
        relax(rode.OU(1.0, 1.0, envelope=ENVELOPE), observe=lambda t, x, u, p: (u,), outputs="u"),
        0.1,
    ),
    "'y0' depends on O in another way": lambda: rode.peak_correction(
        relax(observe=lambda t, x, o, p: (x[0] * o,)), 0.1
    ),
    r"must be a rode\.Problem, got int": lambda: rode.peak_correction(3, 0.1),
    # Numbers, paths, averages and spectra
    "size must hold integers": lambda: normal(size=-1),
    "method must be one of 'box-muller'": lambda: normal(method="polar"),
    "rng must be None, an int": lambda: normal(rng="x"),
    "out must be an array": lambda: normal(out=[0.0]),
    "method='box-muller-fast' is for": lambda: normal(method="box-muller-fast", dtype="float64"),
    "strips must be a power of two": lambda: normal(strips=100, method="ziggurat"),
    "do not fit into shared memory": lambda: normal(strips=8192, method="ziggurat", table="shared"),
    "threads must": lambda: PoolShape(96, 8),
    "passes must": lambda: PoolShape(64, 33),
    "size must be steps or": lambda: path(size=(2, 3, 4)),
    "size must be given if neither": lambda: path(size=None),
    "method='sweeps' needs noise": lambda: path(method="sweeps"),
    "noise must have shape": lambda: path(noise=np.ones(4)),
    "first_path must be .*4294967295$": lambda: path(first_path=2**32 - 1, size=(2, 3)),
    "normals must be one of 'float64', got": lambda: path(normals="fast"),
    "process must be a rode.Process\\(tau": lambda: path(process=(1.0, 1.0)),
    "multiple of steps": lambda: rode.average(np.ones(10), 3),
    "one more": lambda: rode.riemann_sums(np.ones(10), 5, 0.1, 2),
    "periods must hold positive numbers": lambda: spectra(periods=[0.0]),
    "dt must be the time between samples": lambda: spectra(dt=None),
    "dt must be None for a rode.Record": lambda: spectra(rode.Record([0.0, 1.0], 0.1)),
}  # fmt: skip
"""Words of errors, and calls that raise them."""


@pytest.mark.parametrize("words", REFUSED)
def test_refusals(words):
    with pytest.raises((TypeError, ValueError), match=words):
        REFUSED[words]()
