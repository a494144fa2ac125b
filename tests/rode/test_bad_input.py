"""Arguments that the solver and the makers of problems refuse, and some that they accept."""

from dataclasses import replace

import numpy as np
import pytest

import rode
from rode._solver.schemes import SCHEMES

QUAKE = rode.kanai_tajimi()
NOISE = rode.kanai_tajimi(start_process=0.3)

GOOD = {"t_span": (0, 1), "h": 2.0**-5, "paths": 2, "device": "cpu"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"h": 0.1}, "h=0.1 is not stable"),
        ({"h": 0.03}, "h=0.03 does not divide t_span"),
        ({"h": -1.0}, "h must lie in"),
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
    monkeypatch.setitem(SCHEMES, "mine", mine)
    words = r"'mine' is for x' = H\(x\) \+ B O, and 'growth' is separable; use one of 'euler', "
    with pytest.raises(ValueError, match=words):
        rode.solve(rode.growth(), "mine", **GOOD)


@pytest.mark.parametrize("outputs", [3, [None], {"x"}, np.ones(1), b"x", np.ma.masked])
def test_outputs_are_names(outputs):
    settings = {"dimension": 1, "outputs": outputs}
    with pytest.raises(TypeError, match="outputs must"):
        rode.additive(lambda x, p: (-x[0],), lambda p: (1.0,), **settings)


def test_a_text_names_the_only_output():
    problem = rode.additive(lambda x, p: (-x[0],), lambda p: (1.0,), dimension=1, outputs="speed")
    assert problem.outputs == ("speed",)


def test_bad_problems():
    def bent(x, p):
        return (-(x[0] ** 3),)

    def one(p):
        return (1.0,)

    with pytest.raises(ValueError, match="not a matrix times x"):
        rode.additive(bent, one, dimension=1, linear=True)
    with pytest.raises(TypeError, match="H must return a tuple of 2"):
        rode.additive(bent, one, dimension=2)
    with pytest.raises(ValueError, match="parameters must be finite"):
        rode.additive(bent, one, dimension=1, parameters=(float("nan"),))
    with pytest.raises(ValueError, match="start must have 1"):
        rode.additive(bent, one, dimension=1, start=(1.0, 2.0))
    with pytest.raises(ValueError, match="zeta"):
        rode.kanai_tajimi(zeta=-1.0)
    with pytest.raises(ValueError, match="outputs"):
        rode.kanai_tajimi(outputs=("speed",))
    with pytest.raises(TypeError, match="H must be a function"):
        rode.additive(3.0, one, dimension=1)
    for wrong in ({"parameters": 3.0}, {"start": 1.0}, {"process": (1.0, 1.0)}, {"dimension": 1.5}):
        with pytest.raises(TypeError, match=f"{next(iter(wrong))} must"):
            rode.additive(bent, one, **({"dimension": 1} | wrong))


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


@pytest.mark.parametrize("dtype", [None, "a", np.int32, np.ones(2), [("a", float)]])
def test_generators_of_other_types(dtype):
    with pytest.raises(ValueError, match="dtype must be one of"):
        rode.Generator(dtype=dtype)


def test_bytes_are_no_size():
    with pytest.raises(TypeError, match="size must be an int"):
        rode.normal(b"a")
