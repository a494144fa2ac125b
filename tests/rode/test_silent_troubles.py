"""Wrong formulas, ranges and options of user's problems are refused in words."""

import math

import numpy as np
import pytest

import rode

RUN = {"t_span": (0.0, 4.0), "h": 2.0**-5, "delta": 2.0**-9, "rng": 1, "paths": 9, "device": "cpu"}


def problem(**functions):
    """Return a problem of one dimension."""
    relaxation = {"H": lambda x, p: (-x[0],), "B": lambda p: (1.0,)}
    return rode.additive(dimension=1, **relaxation | functions)


@pytest.mark.parametrize("observe", [
    lambda t, x, O, p: ((2.0 * O if t > 5.0 else O),),
    lambda t, x, O, p: ((2.0 * O if t < 0.1 else O),),
    lambda t, x, O, p: (O * (1.0 + 1e-6 * x[0]),),
    lambda t, x, O, p: (O / (1.0 + x[0] * x[0]),),
])  # fmt: skip
def test_slopes_that_vary_at_some_time_or_size_have_no_correction(observe):
    with pytest.raises(ValueError, match="in another way than a constant times O"):
        rode.peak_correction(problem(observe=observe), 0.01)
    for other in (lambda t, x, O, p: (O + math.exp(-x[0]),), lambda t, x, O, p: (O, 2.0 * x[0])):
        rode.peak_correction(problem(observe=other), 0.01)  # not defined, or zero, at some points
    bent = problem(observe=lambda t, x, O, p: (3.0 * O + x[0] ** 2,))
    constant = rode.peak_correction(bent, 0.01)
    np.testing.assert_allclose(constant, 3.0 * 0.5826 * 0.1, rtol=1e-4)


def cubic(error):
    """Return the cubic term with a derivative that is wrong by a share."""
    return {
        "H": lambda x, p: (-x[0] - 1e-3 * x[0] ** 3,),
        "first_derivative": lambda x, v, p: ((-1.0 - 3e-3 * (1.0 + error) * x[0] ** 2) * v[0],),
    }


def test_small_terms_that_are_wrong_are_found_where_they_are_large():
    with pytest.raises(ValueError, match="first_derivative is not the derivative of H"):
        problem(**cubic(0.01))
    with pytest.raises(ValueError, match="H is not a matrix times x"):
        problem(H=lambda x, p: (-x[0] + 1e-9 * x[0] ** 3,), linear=True)
    # A factor that is 0 for the first path, and for the last, hides a term there.
    factors = {"parameters": (np.array([0.0, 1.0, 0.0]),), "H": lambda x, p: (-p[0] * x[0] ** 3,)}
    for wrong in ({"linear": True}, {"first_derivative": lambda x, v, p: (-p[0] * v[0],)}):
        with pytest.raises(ValueError, match=r"is not (a matrix times x|the derivative of H)"):
            problem(**factors, **wrong)


@pytest.mark.parametrize(("function", "slope"), [
    (lambda x: math.sin(10.0 * x), lambda x: 10.0 * math.cos(10.0 * x)),
    (math.exp, math.exp),
    (math.tanh, lambda x: 1.0 - math.tanh(x) ** 2),
    (lambda x: x**5 - 3.0 * x, lambda x: 5.0 * x**4 - 3.0),
    (lambda x: math.sqrt(1.0 - x * x), lambda x: -x / math.sqrt(1.0 - x * x)),
    (lambda x: abs(x) * x, lambda x: 2.0 * abs(x)),
])  # fmt: skip
def test_right_derivatives_pass_at_all_sizes(function, slope):
    problem(
        H=lambda x, p: (function(x[0]),), first_derivative=lambda x, v, p: (slope(x[0]) * v[0],)
    )
    problem(**cubic(0.0))


def test_what_compiled_code_or_a_type_does_not_know_is_refused():
    with pytest.raises(ValueError, match=r"H must have no keyword-only parameters.*, got k: pass"):
        problem(H=lambda x, p, *, k=2.0: (-k * x[0],))
    large = rode.relaxation(tau=1.0, c=1e80)
    with pytest.raises(ValueError, match=r"deviation of at most 1.84e\+19 in float32, got 7\.07e"):
        rode.solve(large, "averaged-heun", **RUN, reduction="moments", dtype=np.float32)
    assert rode.solve(large, "averaged-heun", **RUN, reduction="moments").success
