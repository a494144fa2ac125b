"""Largest stable steps of problems, and the error for larger steps."""

import math

import numpy as np
import pytest
from numba import njit

import rode
from rode._solver.schemes import SCHEMES, find_scheme
from rode._solver.schemes.stability import largest_step as largest_step_of_scheme

QUAKE = rode.kanai_tajimi()


def largest_step(problem, method):
    return largest_step_of_scheme(problem, find_scheme(method))


def test_bounds_of_stability():
    zeta, omega = 0.64, 15.56
    assert largest_step(QUAKE, "averaged-euler") == pytest.approx(2 * zeta / omega, rel=1e-9)
    assert largest_step(QUAKE, "averaged-heun") > 0.1
    assert largest_step(rode.relaxation(), "3-rode-taylor") == pytest.approx(2.5127453, rel=1e-6)


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
def test_the_polynomial_is_that_of_the_step(scheme):
    """A step of x' = z x of length 1 without noise multiplies x by R(z)."""
    nothing, ones = np.zeros((scheme.form_count, 1)), np.ones(scheme.form_count)
    for z in (-0.7, 2.5, 1j, -1.2 + 0.4j):
        start = np.ones(1, complex)
        step = scheme.reference_step(lambda x, z=z: z * x, start, 1.0, nothing[0], nothing, ones)
        assert step[0] == pytest.approx(np.polyval(scheme.stability[::-1], z), rel=1e-13)
    assert len(scheme.stability) > scheme.order


def branching(x, p):
    rate = p[0] if p[0] > 0.5 else -p[0]
    return (-rate * x[0],)


def plain(x, p):
    return (-p[0] * x[0],)


@njit
def scalar_exp(z):
    return math.exp(z)


def nested(x, p):
    """A compiled function of numbers does not compile for arrays."""
    return (-p[0] * scalar_exp(0.0 * p[0]) * x[0],)


@pytest.mark.parametrize("H", [plain, branching, nested])
def test_every_set_of_parameters_must_be_stable(H):
    rates = np.full(3001, 1.0)
    rates[1234], rates[77] = 50.0, 40.0
    problem = rode.additive(H, lambda p: (1.0,), dimension=1, linear=True, parameters=(rates,))
    assert problem.matrices().shape == (3001, 1, 1)
    assert largest_step(problem, "averaged-euler") == pytest.approx(2.0 / 50.0)
    with pytest.raises(ValueError, match=r"needs h <= 0\.04 s"):
        rode.solve(problem, "averaged-euler", t_span=(0, 1), h=0.0625, paths=3001)


def test_an_unstable_band_below_stable_steps_counts():
    """The polynomial of order 5 has |R| > 1 along the imaginary axis up to 1.86, not beyond."""
    damping, frequency = np.full(3001, 1.0), np.full(3001, 1.3)
    damping[1235], frequency[1235] = 1e-4, 1.0

    def swing(x, p):
        return x[1], -p[1] * p[1] * x[0] - 2.0 * p[0] * p[1] * x[1]

    alone, among = (
        rode.additive(swing, lambda p: (0.0, 1.0), dimension=2, linear=True, parameters=sets)
        for sets in ((1e-4, 1.0), (damping, frequency))
    )
    most = largest_step(alone, "5-rode-taylor")
    assert most < 1.0
    assert largest_step(among, "5-rode-taylor") == pytest.approx(most, rel=1e-9)


def test_oscillations_without_damping_have_no_bound():
    turn = np.linalg.qr(np.random.default_rng(1).standard_normal((2, 2)))[0]
    a, b, c, d = map(float, (turn @ [[0.0, 3.0], [-3.0, 0.0]] @ turn.T + 1e-17).ravel())

    def swing(x, p):
        return a * x[0] + b * x[1], c * x[0] + d * x[1]

    problem = rode.additive(swing, lambda p: (1.0, 0.0), dimension=2, linear=True)
    assert largest_step(problem, "averaged-euler") == math.inf
