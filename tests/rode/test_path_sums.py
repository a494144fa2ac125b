"""Distribution of the sums of a coarse step: against published numbers and sums of weights."""

import numpy as np
import pytest
from scipy.special import comb, factorial

from rode import reference
from rode._paths.process import Process
from rode._solver.path_sums import integrals_distribution, sums_distribution
from rode._solver.schemes import SCHEMES

ONE = Process()


def test_limit_of_fine_steps_has_the_moments_of_the_integrals():
    distribution = integrals_distribution(ONE, 1.0, 2)
    expected = {
        (0, 0): 0.43233235838169365,
        (0, 1): 0.19978820044686402,
        (0, 2): 0.064452917210251332,
        (1, 1): 0.16809124072457830,
        (1, 2): 0.067667641618306346,
        (2, 2): 0.029906809372142344,
        (3, 3): 0.0026373485626872855,
    }
    for (i, j), value in expected.items():
        assert distribution.covariance[i, j] == pytest.approx(value, rel=1e-14)
    np.testing.assert_allclose(
        distribution.mean[:3], [np.exp(-1), 1 - np.exp(-1), np.exp(-1)], rtol=1e-14
    )


def test_small_steps_lose_no_digits():
    """Cov(J_a, J_b) -> c h^(a+b+3)/((a+1)! (b+1)! (a+b+3)); J_(-1) is O."""
    h, factorial = 1e-7, (1.0, 1.0, 2.0, 6.0)
    covariance = integrals_distribution(Process(1.0, 3.0), h, 2).covariance
    for i in range(4):
        for j in range(4):
            limit = 3.0 * h ** (i + j + 1) / (factorial[i] * factorial[j] * (i + j + 1))
            assert covariance[i, j] == pytest.approx(limit, rel=1e-6)


@pytest.mark.parametrize(("tau", "c", "steps"), [(0.3, 2.0, 1), (2.0, 0.5, 7), (1.0, 1.0, 50)])
def test_sums_distribution_against_weights(tau, c, steps):
    """The weight of each noise number is computed from a path with that number alone."""
    process, delta = Process(tau, c), 0.1
    distribution, columns = sums_distribution(process, delta, 2, steps), []
    for k in range(steps):
        o = reference.ornstein_uhlenbeck(np.eye(steps)[k], 0.0, delta, process)
        left = steps - np.arange(1, steps + 1)
        columns.append([o[-1], o.sum(), (left * o).sum(), (left * (left - 1) / 2 * o).sum()])
    weights = np.array(columns).T
    np.testing.assert_allclose(distribution.covariance, weights @ weights.T, rtol=1e-12, atol=1e-15)


def path_sums(o):
    """Return O_0, O_M and the sums F_0 .. F_7 of O_0 .. O_M."""
    left = len(o) - 1 - np.arange(1, len(o))
    return np.array([o[0], o[-1], *(comb(left, d) @ o[1:] for d in range(8))])


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
def test_forms_have_the_values_of_their_definition(scheme):
    o, h = np.random.default_rng(2).standard_normal(7), 0.3
    forms = scheme.forms(h, 6)
    assert forms.shape == (scheme.form_count, scheme.form_count + 2)
    result = forms @ path_sums(o)[: scheme.form_count + 2]
    np.testing.assert_allclose(result, scheme.reference_forms(o, h), rtol=1e-9)
    assert scheme.uses_fine_steps == (result[0] != o[0])


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
def test_forms_have_limits(scheme):
    """For O = 2 + t the error falls as 1/M; J_d is 2 h^(d+1)/(d+1)! + h^(d+2)/(d+2)!."""
    h, d = 0.5, np.arange(scheme.form_count)
    integrals = 2.0 * h ** (d + 1) / factorial(d + 1) + h ** (d + 2) / factorial(d + 2)
    limit = scheme.forms(h, None) @ np.array([2.0, 2.0 + h, *integrals])
    coarse, fine = (
        abs(scheme.reference_forms(2.0 + h * np.arange(M + 1) / M, h) - limit) for M in (256, 512)
    )
    assert np.all(fine <= 0.501 * coarse + 1e-15)
