"""Strong orders of the schemes, measured on problems with known solutions."""

import numpy as np
import pytest

import rode
from rode._solver.schemes import SCHEMES, find_scheme
from studies.rode.orders import slope, strong_errors

POWERS = {1: (5, 6, 7, 8), 2: (4, 5, 6, 7), 3: (2, 3, 4, 5), 4: (2, 3, 4)}
"""For each order, the steps h = 2^-k; beyond, the finest paths would be too long."""


@pytest.mark.statistical
@pytest.mark.parametrize("method", [name for name, s in SCHEMES.items() if s.order in POWERS])
def test_orders_of_convergence(method):
    """The order is K, not K - 1, with as many fine steps as `Scheme.fine_steps` says."""
    order = find_scheme(method).order
    errors = strong_errors(method, POWERS[order])
    assert slope(POWERS[order], errors) == pytest.approx(order, abs=0.15)


def pendulum(t, x, O, p):
    return x[1], -(9.0 + O) * x[0] - 0.2 * x[1] + O * O


@pytest.mark.parametrize("name", [pytest.param("record", marks=pytest.mark.slow), "spectrum"])
def test_heun_has_order_two_for_smooth_excitations(name):
    """The process of a path is the same for every step; samples lie at ends of steps."""
    omega = np.linspace(0.5, 8.0, 16)
    excitation = {
        "record": rode.Record(np.random.default_rng(1).normal(size=(8, 33)), 2.0**-4),
        "spectrum": rode.Spectrum(omega, np.exp(-0.2 * omega)),
    }[name]
    problem = rode.general(pendulum, dimension=2, excitation=excitation, start=(0.1, 0.0))
    ends = [
        rode.solve(
            problem, "heun", t_span=(0, 2), h=2.0**-k, paths=8, sampling="exact", rng=1,
            save_every=2 << k, device="cpu",
        ).paths[-1]
        for k in (5, 6, 7, 12)
    ]  # fmt: skip
    errors = [np.sqrt(np.mean((one - ends[-1]) ** 2)) for one in ends[:-1]]
    assert slope((5, 6, 7), errors) == pytest.approx(2.0, abs=0.1), errors
