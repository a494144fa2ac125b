"""Functions that a right-hand side calls are compiled with it; what cannot be is one line."""

import pickle

import numpy as np
import pytest
import scipy.special

import rode
from hetero.compile_cache.fingerprint import fingerprint

RUN = {"t_span": (0, 1), "h": 0.25, "delta": 0.25, "paths": 3, "rng": 1, "device": "cpu"}
TABLE = {"rate": 2.0}
rate = 0.5


def noise(p):
    return (0.0,)


def limit(value):
    return min(max(value, -1.0), 1.0)


def fall(value):
    return -rate * limit(value)


def power(value, n=3):
    return 1.0 if n == 0 else value * power(value, n - 1)


def drift(x, p):
    return (fall(x[0]),)


def solve(H, start=2.0, **options):
    problem = rode.additive(H, noise, dimension=1, start=(start,), **options)
    return rode.solve(problem, "euler", **RUN)


def exact(right_hand_side, start=2.0):
    """Return Euler's values, computed by Python."""
    values = [start]
    for _ in range(4):
        values.append(values[-1] + 0.25 * right_hand_side(values[-1]))
    return np.array(values)


def check(H, right_hand_side):
    np.testing.assert_allclose(solve(H).paths[:, 0, 0], exact(right_hand_side), rtol=1e-14)


def test_helpers_of_all_kinds_are_compiled():
    """Helpers of helpers, those of an enclosing function, and those that call themselves."""
    gain = 0.25

    def inner(value):
        return gain * limit(value)

    def all_kinds(x, p):
        return (fall(x[0]) - inner(x[0]) - 0.01 * power(x[0]),)

    check(all_kinds, lambda x: -0.75 * min(max(x, -1.0), 1.0) - 0.01 * x**3)
    assert type(limit).__name__ == type(fall).__name__ == "function"  # this module is unchanged


def test_problems_with_helpers_are_values():
    """They have a fingerprint by value, by which code is kept on disk, and reach processes."""
    problem, same = (rode.additive(drift, noise, dimension=1, start=(2.0,)) for _ in range(2))
    assert fingerprint(problem.H) == fingerprint(same.H)
    other = rode.additive(lambda x, p: (fall(x[0] + 1.0),), noise, dimension=1)
    assert fingerprint(problem.H) != fingerprint(other.H)
    sent = pickle.loads(pickle.dumps(problem))
    assert rode.solve(sent, "euler", **RUN) == rode.solve(problem, "euler", **RUN)


def clipped(value):
    return np.clip(value, -1.0, 1.0)


def test_a_helper_that_changes_changes_the_next_problem(monkeypatch):
    first = solve(drift).paths
    monkeypatch.setitem(globals(), "rate", 1.0)
    monkeypatch.setitem(globals(), "limit", lambda value: value)
    check(drift, lambda x: -x)
    monkeypatch.undo()
    np.testing.assert_array_equal(solve(drift).paths, first)


@pytest.mark.parametrize(("H", "words"), [
    (lambda x, p: (clipped(x[0]),), ("return np.clip(value", "no clip(float64", "min(max")),
    (lambda x, p: (scipy.special.erf(x[0]),), ("use scipy.special.erf", "math.erf")),
    (lambda x, p: (TABLE["rate"] * x[0],), ("use TABLE, a dict", "parameters=")),
])  # fmt: skip
def test_what_cannot_be_compiled_is_named_on_one_line(H, words):
    start = r"^H cannot be compiled: test_helper_functions\.py, line"
    with pytest.raises(TypeError, match=start) as caught:
        solve(H)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 400
    assert all(word in message for word in words)
