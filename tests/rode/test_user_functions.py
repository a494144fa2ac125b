"""Functions of problems are tried where the solution starts, and get the parameters of the problem.

What fails is named: the function, its arguments, and what the function must look like.
"""

import math
import re

import numpy as np
import pytest

import rode

RUN = {"t_span": (0, 1), "h": 0.25, "delta": 0.25, "paths": 3, "rng": 1, "device": "cpu"}


def fall(x, p):
    return (-x[0],)


def no_noise(p):
    return (0.0,)


def no_drift(t, o, p):
    return (0.0,)


def one(t, o, p):
    return 1.0


def show(t, x, o, p):
    return x


def begin(o, p):
    return (o,)


FUNCTIONS = {"H": fall, "B": no_noise, "observe": show, "start": begin}
SEPARABLE = {"H": fall, "G": no_drift, "g": one, "observe": show, "start": begin}
FORMS = {
    "H": "(x, p) -> a tuple of 1 numbers",
    "B": "(p) -> a tuple of 1 numbers",
    "G": "(t, O, p) -> a tuple of 1 numbers",
    "g": "(t, O, p) -> a number",
    "observe": "(t, x, O, p) -> a tuple of outputs",
    "start": "(O, p) -> a tuple of 1 numbers",
}


def make(name, function, **options):
    """Return a problem with one of its functions exchanged."""
    options = {"dimension": 1, "start_process": 0.5, name: function} | options
    if name in ("G", "g"):
        return rode.separable(**(SEPARABLE | options))
    return rode.additive(**(FUNCTIONS | options))


# ---- trial calls of functions ------------------------------------------------------------------


def test_functions_are_called_where_the_solution_starts():
    """The start may be a function."""

    def root(x, p):
        return (-math.sqrt(x[0]),)

    def start(o, p):
        return (p[0] + o,)

    settings = {"dimension": 1, "start": start, "start_process": -2.0}
    rode.additive(root, no_noise, parameters=(2.5,), **settings)
    with pytest.raises(ValueError, match=r"H\(x=\(-0.5,\), p=\(1.5,\)\) raised"):
        rode.additive(root, no_noise, parameters=(1.5,), **settings)
    with pytest.raises(
        ValueError, match=r"H\(x=\(-0.5,\), p=\(\)\) raised ValueError: math domain"
    ):
        rode.additive(root, no_noise, dimension=1, start=(-0.5,))


def test_times_count_from_the_begin_of_the_run():
    def drift(t, o, p):
        return (math.log(t - 6.0),)

    problem = make("G", drift)
    with pytest.raises(ValueError, match=r"^h=0\.3 does not divide"):  # checked after trial calls
        rode.solve(problem, "euler", **(RUN | {"t_span": (7, 8), "h": 0.3}))
    with pytest.raises(ValueError, match=r"G\(t=5.0, O=0.5, p=\(\)\) raised ValueError: math dom"):
        rode.solve(problem, "euler", **(RUN | {"t_span": (5, 6)}))


@pytest.mark.parametrize("edge", [1.0, -1.0, 0.0])
def test_a_start_that_is_drawn_excludes_no_single_value(edge):
    """The standard deviation is 1, so that 1, -1 and 0 are tempting values to try."""

    def pole(t, o, p):
        return (1.0 / (o - edge),)

    def half_line(t, o, p):
        return math.log(edge - o) if edge > 0.0 else math.log(o - edge)

    process = rode.Process(2.0, 1.0)
    make("G", pole, process=process, start_process=None)
    make("g", half_line, process=process, start_process=None)


# ---- signatures and results of functions -------------------------------------------------------


@pytest.mark.parametrize("name", FORMS)
def test_wrong_signatures_are_named(name):
    def none():
        return (0.0,)

    with pytest.raises(TypeError, match=rf"^{name}\(.*\) raised TypeError: .*none\(\) takes 0"):
        make(name, none)
    with pytest.raises(TypeError, match=re.escape(f"{name} must be a function {FORMS[name]}")):
        make(name, none)


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("count", [0, 1, 2])
def test_indices_beyond_the_parameters_are_refused(name, count):
    """Numbers to start from, which loops keep behind the parameters, are not among them."""

    def reach(*arguments):
        return (arguments[-1][count],)

    words = (
        rf"raised IndexError: .* {name} must be .*p has {count} numbers? \(those of parameters=\)"
    )
    start = {} if name == "start" else {"start": (1.0,)}
    with pytest.raises(TypeError, match=words):
        make(name, reach, parameters=range(count), **start)


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("value", [None, 0.0, (), (1.0, 2.0), ("1",), (1j,), [1.0]])
def test_wrong_results_are_named(name, value):
    if (name, value) in (("g", 0.0), ("observe", (1.0, 2.0))):
        return
    with pytest.raises(TypeError, match=rf"^{name} must return a"):
        make(name, lambda *arguments: value)


# ---- parameters of functions -------------------------------------------------------------------


def exact_fall(rate, start=2.0):
    return start * (1.0 - 0.25 * rate) ** np.arange(5)


def test_functions_get_their_parameters_and_nothing_else(device):
    """Functions use p by index from the end, by unpacking, in loops and by length."""

    def drift(x, p):
        _, rate = p
        total = x[0] - x[0]
        for value in p:
            total += value
        return (-0.25 * len(p) * (rate + p[-1] + total - 3.0 - rate) * x[0],)

    rates = np.array([0.25, 0.5, 1.0])
    problem = rode.additive(
        drift, no_noise, dimension=1, linear=True, parameters=(3.0, rates), start=(2.0,)
    )
    result = rode.solve(problem, "euler", **(RUN | {"device": device}))
    for number, rate in enumerate(rates):
        np.testing.assert_allclose(result.paths[:, 0, number], exact_fall(rate), rtol=1e-14)
    settings = RUN | {"device": (device,)}
    parts = rode.solve(problem, "euler", parts=2, reduction="paths", **settings)
    np.testing.assert_array_equal(parts.paths, result.paths)
