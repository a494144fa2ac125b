"""Arguments that the solver and the makers of problems refuse, and some that they accept."""

from dataclasses import replace

import numpy as np
import pytest

import rode
from rode._solver.schemes import METHODS, SCHEMES

QUAKE = rode.kanai_tajimi()
NOISE = rode.kanai_tajimi(start_process=0.3)

GOOD = {"t_span": (0, 1), "h": 2.0**-5, "paths": 2, "device": "cpu"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"h": 0.1}, "h=0.1 is not stable"),
        ({"h": 0.03}, "h=0.03 does not divide t_span"),
        ({"h": -1.0}, "h must be positive"),
        ({"h": float("nan")}, "h must be finite"),
        ({"delta": 0.01}, "delta=0.01 does not divide h"),
        ({"h": 1e-320}, "is too small for t_span of length"),
        ({"delta": 1.0}, "delta must lie in"),
        ({"paths": 0}, "paths must be an integer"),
        ({"paths": 2.5}, "paths must be an integer"),
        ({"t_span": (0, float("nan"))}, "t_span must be finite"),
        ({"t_span": (1, 0)}, "t_span must end after"),
        ({"t_span": 3.0}, "t_span must hold two"),
        ({"t_span": (0, 1, 2)}, "t_span must hold two"),
        ({"t_span": (0, 2.0**33), "h": 1.0, "method": "euler", "problem": rode.growth()}, "below"),
        ({"method": "8-rode-taylor"}, "sampling='exact'"),
        ({"method": "rk4"}, "method must be one of"),
        ({"method": "0-rode-taylor"}, "method must be one of"),
        ({"sampling": "law"}, "sampling must be one of"),
        ({"reduction": "mode"}, "reduction must be one of"),
        ({"dtype": "int32"}, "dtype must be one of"),
        ({"normals": "float16"}, "normals must be"),
        ({"save_every": 0}, "save_every must be"),
        ({"first_path": -1}, "first_path must be"),
        ({"threads_per_path": 3}, "threads_per_path must be"),
        ({"threads_per_path": 32}, "threads_per_path=32 needs"),
        ({"problem": "quake"}, "problem must be a rode.Problem"),
        ({"problem": rode.growth(), "method": "3-rode-taylor"}, "is for linear problems"),
        ({"problem": rode.growth(), "sampling": "exact"}, "noise that enters linearly"),
        ({"problem": rode.kanai_tajimi(0.6, np.ones(5))}, "parameters are for 5 paths"),
    ],
)
def test_bad_arguments(arguments, words):
    settings = {"problem": QUAKE, "method": "averaged-euler"} | GOOD | arguments
    with pytest.raises((TypeError, ValueError), match=words):
        rode.solve(settings.pop("problem"), settings.pop("method"), **settings)


def test_schemes_for_additive_noise_refuse_others(monkeypatch):
    mine = replace(SCHEMES["averaged-heun"], name="mine", make_separable_step=None)
    monkeypatch.setitem(METHODS, "mine", mine)
    words = r"'mine' is for x' = H\(x\) \+ B O, and 'growth' is separable; use one of 'euler', "
    with pytest.raises(ValueError, match=words):
        rode.solve(rode.growth(), "mine", **GOOD)


@pytest.mark.parametrize("outputs", [3, [None], {"x"}, np.ones(1), b"x", np.ma.masked])
def test_outputs_are_names(outputs):
    settings = {"dimension": 1, "outputs": outputs}
    with pytest.raises(TypeError, match="outputs must"):
        rode.additive(lambda x, p: (-x[0],), lambda p: (1.0,), **settings)


def bent(x, p):
    return (-(x[0] ** 3),)


def one(p):
    return (1.0,)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"linear": True}, ValueError, "not a matrix times x"),
        ({"dimension": 2}, TypeError, "H must return a tuple of 2"),
        ({"parameters": (float("nan"),)}, ValueError, "parameters must be finite"),
        ({"start": (1.0, 2.0)}, ValueError, "start must have 1"),
        ({"H": 3.0}, TypeError, "H must be a function"),
        ({"parameters": 3.0}, TypeError, "parameters must"),
        ({"start": 1.0}, TypeError, "start must"),
        ({"process": (1.0, 1.0)}, TypeError, "process must"),
        ({"dimension": 1.5}, TypeError, "dimension must"),
    ],
)
def test_bad_problems(change, error, message):
    with pytest.raises(error, match=message):
        rode.additive(**({"H": bent, "B": one, "dimension": 1} | change))


def test_problems_and_results_compare_without_an_error():
    settings = {"t_span": (0, 0.5), "h": 2.0**-4, "paths": np.int32(3), "device": "cpu"}
    one, two, other = (
        rode.solve(QUAKE, "averaged-euler", rng=rng, **settings) for rng in (1, 1, 2)
    )
    assert one == two
    assert one != other
    assert QUAKE != rode.kanai_tajimi()
    assert len({QUAKE, NOISE}) == 2
    assert rode.kanai_tajimi(outputs="acceleration").outputs == ("acceleration",)
