"""K-RODE-Taylor schemes for right-hand sides that are not linear in x."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import rode
from rode._solver.schemes import SCHEMES
from studies.rode.convergence import duffing

METHODS = ("1-rode-taylor", "2-rode-taylor", "3-rode-taylor")


def logistic(noise=0.0, **options):
    """x' = x (1 - x) + noise O."""
    options = {
        "first_derivative": lambda x, v, p: (v[0] - (x[0] + x[0]) * v[0],),
        "second_derivative": lambda x, u, v, p: (-(u[0] + u[0]) * v[0],),
    } | options
    return rode.additive(
        lambda x, p: (x[0] - x[0] * x[0],), lambda p: (p[0],),
        dimension=1, start=(0.2,), parameters=(noise,), name="logistic", **options,
    )  # fmt: skip


def end(problem, method, h, device="cpu", **options):
    options = {"paths": 5, "rng": 4, "delta": h} | options
    result = rode.solve(
        problem, method, t_span=(0.0, 1.0), h=h, save_every=round(1.0 / h), device=device, **options
    )
    return result.paths[-1, 0]


@pytest.mark.parametrize("order", [1, 2, 3])
def test_compiled_steps_have_their_local_order(order):
    """The error of a step falls as h^(K+1), for O = 0.3 + 2 s - 5 s^2 with known integrals."""
    problem, scheme, O = duffing(), SCHEMES[METHODS[order - 1]], np.poly1d([-5.0, 2.0, 0.3])
    functions = problem.H, problem.B, problem.first_derivative, problem.second_derivative
    step, errors = scheme.make_nonlinear_step(*functions), []

    def rates(t, x):
        return np.add(problem.H.py_func(x, ()), (0.0, O(t)))

    for h in (2.0**-5, 2.0**-6, 2.0**-7):
        weights = [np.poly1d([-1.0, h]) ** d / math.factorial(d) for d in range(order)]
        J = [np.polyint(O * weight)(h) for weight in weights]
        forms = scheme.forms(h, None) @ [O(0.0), O(h), *J]
        found = step(0.0, (0.7, -0.4), O(0.0), tuple(forms), (), h)
        exact = solve_ivp(rates, (0, h), (0.7, -0.4), rtol=1e-12, atol=1e-14).y[:, -1]
        errors.append(np.linalg.norm(found - exact))
    assert errors[-1] > 1e-11
    assert np.log2(errors[0] / errors[2]) / 2 == pytest.approx(order + 1, abs=0.1), errors


def test_one_step_is_the_integral_of_the_taylor_polynomial():
    """Riesinger 2017, equations 7.13 and 7.14, by sums over all fine steps of nested integrals."""
    h, M, B = 0.25, 1 << 14, 0.7
    delta, paths = h / M, 6
    options = {"t_span": (0.0, h), "paths": paths, "rng": 2, "device": "cpu", "delta": delta}
    seen = logistic(B, observe=lambda t, x, o, p: (x[0], o))
    noise = rode.solve(seen, "3-rode-taylor", h=delta, save_every=1, **options).paths[:, 1]
    found = rode.solve(seen, "3-rode-taylor", h=h, save_every=1, **options).paths[-1, 0]
    x, jacobian, hessian = 0.2, 1.0 - 0.4, -2.0
    s = delta * np.arange(1, M + 1)
    for o, end_of_path in zip(noise.T, found, strict=True):  # o holds O_0 .. O_M
        f = x - x**2 + B * o[0]
        integral = B * delta * np.cumsum(o[1:] - o[0])
        lowest = s * f + integral
        change = lowest + jacobian * delta * np.cumsum(lowest)
        # The square of the integral is of the order h^4, and left out.
        bend = 0.5 * hessian * (lowest**2 - integral**2)
        rate = f + B * (o[1:] - o[0]) + jacobian * change + bend
        expected, size = x + delta * rate.sum(), np.abs(rate).max()
        assert abs(end_of_path - expected) < 2.0 * delta * size
        mixed = hessian * delta * (s * f * integral).sum()
        assert abs(mixed) > 4.0 * delta * size  # so that the test sees this term


def test_missing_and_wrong_derivatives_are_named():
    without = logistic(first_derivative=None, second_derivative=None)
    with pytest.raises(ValueError, match=r"h=0\.3 does not divide"):  # the scheme is accepted
        end(logistic(second_derivative=None), "2-rode-taylor", 0.3)
    for method, names in (
        ("2-rode-taylor", "with first_derivative, and 'logistic'"),
        ("3-rode-taylor", "with first_derivative and second_derivative, and 'logistic'"),
        ("4-rode-taylor", r"is for linear problems x' = A x \+ B O, and 'logistic' is not"),
    ):
        with pytest.raises(ValueError, match=names):
            end(without, method, 0.125)
    first, second = "first_derivative", "second_derivative"
    for change, error, message in (
        ({first: None}, ValueError, "second_derivative needs first_derivative, got None"),
        ({first: lambda x, v, p: (v[0] - x[0] * v[0],)}, ValueError, "not the derivative of H"),
        ({second: lambda x, u, v, p: (2.0 * u[0] * v[0],)}, ValueError, "derivative of first_deri"),
        ({first: lambda x, v, p: (1.0, 2.0)}, TypeError, "must return a tuple of 1 numbers"),
        ({first: 3}, TypeError, "first_derivative must be a function, got 3"),
    ):
        with pytest.raises(error, match=message):
            logistic(**change)
