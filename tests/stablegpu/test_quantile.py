"""Quantiles against 25-digit values, and against the distribution function."""

import numpy as np
import pytest

from stable_references import read_rows
from stablegpu import stable
from stablegpu._density.nodes import evaluate as nodes_evaluate

ROWS = read_rows("quantile")
"""x with P(X <= x) = p ("lower") or P(X > x) = p ("upper"), S0."""


@pytest.mark.parametrize(("evaluator", "count"), [(None, 338), ("polynomials", 218)])
def test_every_reference_quantile(device, evaluator, count):
    """Within 1e-12 of x, and what 8 roundings of p and 2 of x - zeta bring where x is near 0."""
    distributions = {}
    for row in ROWS:
        distributions.setdefault((row["alpha"], row["beta"], row["tail"]), []).append(row)
    errors = []
    for (alpha, beta, tail), rows in distributions.items():
        if evaluator == "polynomials" and not nodes_evaluate.has_nodes(float(alpha)):
            continue  # those take seconds to prepare
        distribution = stable(
            float(alpha), float(beta), parameterization="S0", evaluator=evaluator, device=device
        )
        p = np.array([float(row["p"]) for row in rows])
        result = distribution.ppf(p) if tail == "lower" else distribution.isf(p)
        for x, q, row in zip(result, p, rows, strict=True):
            true, density = float(row["x"]), float(row["pdf_at_x"] or 0.0)
            conditioning = 8 * 2.0**-52 * q / (density or 0.3)  # none is given where x is 0
            assert abs(x - true) <= 1e-12 * abs(true) + conditioning, row
            errors.append(abs(x - true) / abs(true) if true else abs(x))
    assert len(errors) == count
    assert np.median(errors) <= 2e-15


@pytest.mark.parametrize(
    ("alpha", "beta"), [(0.3, 0.4), (0.5, 1.0), (0.9, -1.0), (1.0, 0.6), (1.3, -0.8), (2.0, 0.0)]
)
@pytest.mark.parametrize("parameterization", ["S0", "S1"])
@pytest.mark.filterwarnings("ignore:overflow")  # 3 x 10^308
def test_inverse_of_the_distribution_function(device, alpha, beta, parameterization):
    distribution = stable(alpha, beta, 0.5, 3.0, parameterization=parameterization, device=device)
    p = np.array([1e-300, 1e-40, 1e-9, 0.01, 0.2, 0.5, 0.8, 0.999])
    standard = stable(alpha, beta, parameterization=parameterization, device=device)
    if alpha != 1.0:
        np.testing.assert_allclose(distribution.ppf(p), 0.5 + 3.0 * standard.ppf(p), rtol=1e-13)
    for quantile, function in ((standard.ppf, standard.cdf), (standard.isf, standard.sf)):
        x = quantile(p)
        seen = np.isfinite(x) & (np.abs(x) < 1e300)
        # x has 53 bits: allow for the steepness of the function there.
        with np.errstate(over="ignore", invalid="ignore"):
            slope = np.nan_to_num(np.abs(x) * standard.pdf(x) / p)
        assert np.all(np.abs(function(x) - p)[seen] <= (p * (1e-13 + 4e-16 * slope))[seen])


def test_middles_that_turn_into_tails(device):
    """Between the two, Newton's method on logarithms alone goes back and forth for ever."""
    p = np.array([0.02, 0.05, 0.1, 0.2, 0.8, 0.9, 0.95, 0.98])
    for alpha in (1.3, 1.575, 1.6, 1.775, 1.9, 1.925, 1.95, 1.975, 1.99, 1.9999):
        for beta in (0.0, 0.13, -0.38, 0.71, -0.79, 0.8660254037844386, 0.97, 1.0):
            distribution = stable(alpha, beta, parameterization="S0", device=device)
            np.testing.assert_allclose(distribution.cdf(distribution.ppf(p)), p, rtol=1e-13)


@pytest.mark.simulator
def test_ends_and_nonsense(device):
    distribution = stable(1.5, 0.5, device=device)
    p = [0.0, 1.0, -0.1, 1.1, np.nan]
    np.testing.assert_array_equal(distribution.ppf(p), [-np.inf, np.inf, np.nan, np.nan, np.nan])
    np.testing.assert_array_equal(distribution.isf(p), [np.inf, -np.inf, np.nan, np.nan, np.nan])
    assert distribution.ppf([]).shape == (0,)
    assert isinstance(distribution.ppf(0.3), float)
    with pytest.raises(TypeError, match="p must"):
        distribution.ppf("half")


@pytest.mark.parametrize("evaluator", ["quadrature", "nodes", "polynomials"])
def test_quantiles_in_the_place_of_probabilities(device, evaluator):
    distribution = stable(1.4, 0.3, 2.0, 3.0, evaluator=evaluator, device=device)
    p = np.linspace(0.01, 0.99, 50)
    result = distribution.ppf(p)
    assert distribution.ppf(p, out=p) is p
    np.testing.assert_array_equal(p, result)


def test_quantiles_beyond_the_range_of_floats_are_infinite(device):
    """Quantiles that a small scale brings back into the range are finite.

    In the tail of alpha = 1/2, x = (p sqrt(2 pi))^-2.
    """
    p, within = np.array([1e-163, 1e-150]), {"rtol": 1e-12}
    for evaluator in (None, "polynomials"):
        options = {"evaluator": evaluator, "device": device}
        distribution, small = stable(0.5, 0.0, **options), stable(0.5, 0.0, 2.0, 1e-100, **options)
        far = np.array([np.inf, 1e300 / (2.0 * np.pi)])
        np.testing.assert_allclose(distribution.ppf(p), -far, **within)
        np.testing.assert_allclose(distribution.isf(p), far, **within)
        expected = np.array([-1e226, -1e200]) / (2 * np.pi)
        np.testing.assert_allclose(small.ppf(p), expected, **within)
    assert stable(0.1, 0.0, device=device).ppf(1e-40) == -np.inf
    # By 80 terms of Bergstrom's series in mpmath: there alpha log x is small.
    small = stable(0.01, 0.3, scale=1e-300, device=device).ppf(1e-4)
    assert small == pytest.approx(-1.4180306598988e54, rel=1e-9)


@pytest.mark.parametrize("parameterization", ["S0", "S1"])
@pytest.mark.parametrize("evaluator", [None, "polynomials"])
def test_the_ends_of_the_support_are_the_outermost_quantiles(device, parameterization, evaluator):
    """alpha = 1/2 and beta = 1 is Levy's distribution, on (loc, inf) in S1."""
    options = {"parameterization": parameterization, "evaluator": evaluator, "device": device}
    end = 3.0 if parameterization == "S1" else 1.0  # zeta = -1
    right, left = stable(0.5, 1.0, 3.0, 2.0, **options), stable(0.5, -1.0, -3.0, 2.0, **options)
    assert right.interval(1.0) == (end, np.inf) == right.support()
    assert left.interval(1.0) == (-np.inf, -end) == left.support()
    np.testing.assert_array_equal(right.ppf([0.0, 1.0]), [end, np.inf])
    np.testing.assert_array_equal(left.isf([0.0, 1.0]), [-end, -np.inf])


def test_quantiles_of_s1_next_to_one_keep_the_digits_of_s0(device):
    """The shift between both is 1.7e8 there: quantiles of S1 change by less than their spacing."""
    alpha, beta = 1.0000000037695747, 0.9999999999620682
    s1, s0 = (stable(alpha, beta, parameterization=p, device=device) for p in ("S1", "S0"))
    p = np.array([1e-9, 0.2, 0.57, 0.9])
    high, low = s0.parameters.offset
    result = s1.ppf(p)
    np.testing.assert_array_max_ulp(result, (s0.ppf(p) - high) - low, maxulp=1)
    for x, q in zip(result, p, strict=True):
        assert s1.cdf(np.nextafter(x, -np.inf)) < q < s1.cdf(np.nextafter(x, np.inf))


@pytest.mark.parametrize("evaluator", [None, "polynomials"])
def test_symmetric_laws_have_their_median_at_loc(device, evaluator):
    for alpha, beta in ((0.5, 0.0), (1.0, 0.0), (1.5, 0.0), (2.0, 0.7)):
        if evaluator and alpha == 1.0:
            continue  # takes seconds to prepare
        distribution = stable(alpha, beta, 1e-7, 3.0, evaluator=evaluator, device=device)
        assert distribution.median() == distribution.isf(0.5) == 1e-7


@pytest.mark.parametrize("alpha", [0.001, 0.005, 0.008, 0.02])
def test_laws_of_small_alpha_spread_over_hundreds_of_powers_of_ten(device, alpha):
    """Their density changes at distances from zeta of 1e-200 and less, and their quantiles with it;
    by Levy and Zolotarev, P(0 < X < x) -> exp(-x^-alpha)/2 as alpha -> 0."""
    distribution = stable(alpha, 0.0, device=device)
    p = np.array([0.1, 0.2, 0.3, 0.45, 0.6, 0.7, 0.9])
    x = distribution.ppf(p)
    seen = np.isfinite(x) & (np.abs(x) > 1e-290)
    np.testing.assert_allclose(distribution.cdf(x[seen]), p[seen], rtol=1e-13)
    y = np.array([1e-250, 1e-150, 1e-99, 1e-50, 1.0, 1e50, 1e150])
    limit = 0.5 * np.exp(-(y**-alpha))
    assert np.all(np.abs(distribution.cdf(y) - 0.5 - limit) < 2.0 * alpha)
    one_sided = stable(alpha, 1.0, device=device)
    step = 1e-4
    rise = one_sided.cdf(y * (1.0 + step)) - one_sided.cdf(y * (1.0 - step))
    seen = rise > 1e-9 * one_sided.cdf(y)
    np.testing.assert_allclose(one_sided.pdf(y)[seen], (rise / (2 * step * y))[seen], rtol=1e-5)
