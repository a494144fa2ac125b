"""Value at risk and expected shortfall: closed forms, an independent integral, conventions."""

import math

import numpy as np
import pytest
from flint import acb, arb, ctx
from scipy import stats

from stablegpu import fit, kupiec_test, stable

LEVELS = np.array([0.01, 0.3, 0.5, 0.9, 0.975, 0.99, 0.9999])


def shortfall_oracle(alpha, beta, q):
    """E(X | X > q) of the standard S0 distribution, alpha > 1: (X - q)+ = (|X - q| + X - q)/2 and

    E|X - q| = 2/pi int_0^inf (1 - Re(exp(-i t q) cf(t)))/t^2 dt, here over s = log t.
    """
    before, ctx.prec = ctx.prec, 160
    try:
        alpha, beta, q = acb(alpha), acb(beta), acb(q)
        slope = beta * (acb.pi() * alpha / 2).tan()

        def parts(s):
            t, power = s.exp(), (alpha * s).exp()
            return t, power, q * t + slope * (t - power)

        def missing(s, _):  # 1 - exp(-power) cos(phase), over t
            t, power, phase = parts(s)
            return (2 * (-power).exp() * (phase / 2).sin() ** 2 - (-power).expm1()) / t

        def below(s, _):
            _, power, phase = parts(s)
            return (-power).exp() * phase.sin()

        low, high = -60.0 / (float(alpha.real) - 1.0), math.log(60.0)
        options = {"rel_tol": arb(2) ** -60, "abs_tol": arb(2) ** -60}
        apart = acb.integral(missing, low, high, **options) + 1 / acb(high).exp()
        above = acb(0.5) - acb.integral(below, -60.0, high, **options) / acb.pi()
        return float((q + (2 / acb.pi() * apart - slope - q) / (2 * above)).real.mid())
    finally:
        ctx.prec = before


@pytest.mark.parametrize(
    ("alpha", "beta"), [(1.5, 0.5), (1.5, 1.0), (1.5, -1.0), (1.05, -0.3), (1.9, 0.9), (1.25, 0.0)]
)
def test_shortfall_matches_an_independent_integral(alpha, beta):
    distribution = stable(alpha, beta, parameterization="S0")
    levels = [0.02, 0.5, 0.95, 0.995]
    quantiles = distribution.value_at_risk(levels, of="losses")
    expected = np.array([shortfall_oracle(alpha, beta, q) for q in quantiles])
    result = distribution.expected_shortfall(levels, of="losses")
    np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-13)


def test_normal_law():
    distribution = stable(2, 0, loc=0.1, scale=0.3 / math.sqrt(2))
    z = stats.norm.ppf(LEVELS)
    np.testing.assert_allclose(distribution.value_at_risk(LEVELS), -0.1 + 0.3 * z, atol=1e-15)
    expected = -0.1 + 0.3 * stats.norm.pdf(z) / (1 - LEVELS)
    np.testing.assert_allclose(distribution.expected_shortfall(LEVELS), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("alpha", "beta"), [(1.5, 0.5), (1.01, -0.2), (1.8, -1.0), (1.0, 1.0), (0.9, 1.0), (0.3, 1.0)]
)
def test_shortfall_is_the_mean_of_the_values_at_risk(alpha, beta):
    """ES(v) = 1/(1 - v) int_v^1 VaR; so ((1 - a) ES(a) - (1 - b) ES(b)) = int_a^b VaR."""
    distribution = stable(alpha, beta, loc=0.7, scale=2.0)
    nodes, weights = np.polynomial.legendre.leggauss(20)
    for a, b in ((0.2, 0.4), (0.4, 0.6), (0.9, 0.93)):
        levels = 0.5 * (a + b) + 0.5 * (b - a) * nodes
        expected = 0.5 * (b - a) * distribution.value_at_risk(levels) @ weights
        first, second = distribution.expected_shortfall([a, b])
        size = abs(first) + abs(second)
        assert abs((1 - a) * first - (1 - b) * second - expected) < 1e-12 * size


def test_signs_and_shapes():
    distribution = stable(1.7, -0.4, loc=0.2, scale=0.5)
    mirrored = stable(1.7, 0.4, loc=-0.2, scale=0.5)
    at_risk = distribution.value_at_risk
    assert at_risk(0.95) == pytest.approx(-distribution.ppf(0.05), rel=1e-13)
    assert at_risk(0.95, of="losses") == pytest.approx(distribution.ppf(0.95), rel=1e-13)
    levels = LEVELS.reshape(7, 1)
    for measure in ("value_at_risk", "expected_shortfall"):
        result = getattr(distribution, measure)(levels)
        assert result.shape == (7, 1)
        other = getattr(mirrored, measure)(levels, of="losses")
        np.testing.assert_allclose(result, other, rtol=1e-12)
        assert isinstance(getattr(distribution, measure)(0.9), float)
        assert np.all(np.diff(result[:, 0]) > 0)
    assert np.all(distribution.expected_shortfall(LEVELS) > at_risk(LEVELS))
    assert stable(0.5, 1.0).expected_shortfall(0.9, of="losses") == math.inf
    for of in ("returns", "losses"):  # both sides are heavy, and there is no mean
        assert stable(1.0, 0.3).expected_shortfall(0.95, of=of) == math.inf


# ---- intervals of a fit, and Kupiec's test -------------------------------------------------------


@pytest.fixture(scope="module")
def fitted():
    return fit(stable(1.7, 0.2, scale=0.01, device="cpu").rvs(300, rng=3), device="cpu")


@pytest.mark.parametrize("measure", ["value_at_risk", "expected_shortfall"])
@pytest.mark.parametrize("of", ["returns", "losses"])
def test_the_delta_method_is_the_spread_over_the_normal_law_of_the_estimates(fitted, measure, of):
    """Parameters are drawn from a narrow normal distribution with the shape of the covariance."""
    shrink = 0.02
    rng = np.random.default_rng(4)
    centre = np.array(list(fitted.params.values()))
    draws = rng.multivariate_normal(centre, shrink**2 * fitted.covariance, 200)
    values = [getattr(stable(*draw, device="cpu"), measure)(0.95, of=of) for draw in draws]
    estimate = getattr(fitted, measure)(0.95, of=of, method="delta")
    assert estimate.stderr == pytest.approx(np.std(values) / shrink, rel=0.25)  # 5 sigma
    assert estimate.value == getattr(fitted.distribution, measure)(0.95, of=of) == float(estimate)
    half = stats.norm.ppf(0.975) * estimate.stderr
    assert estimate.interval == pytest.approx((estimate.value - half, estimate.value + half))


def test_fixed_parameters_have_no_part_in_the_error_of_risk():
    x = 0.3 * np.random.default_rng(5).standard_normal(400)
    result = fit(x, fixed={"alpha": 2.0, "beta": 0.0}, device="cpu")
    z, n = stats.norm.ppf(0.99), x.size
    expected = x.std() * math.sqrt(1 / n + z**2 / (2 * n))  # mean and deviation are independent
    assert result.value_at_risk(0.99).stderr == pytest.approx(expected, rel=1e-3)


def test_the_profile_of_risk_is_that_of_a_normal_sample():
    """Under VaR = v, mu = z sigma - v: the likelihood of a normal sample is largest at a sigma."""
    from scipy.optimize import brentq, minimize_scalar

    x = 0.3 * np.random.default_rng(6).standard_normal(40)
    result = fit(x, fixed={"alpha": 2.0, "beta": 0.0}, device="cpu")
    estimate = result.value_at_risk(0.99, method="profile", confidence=0.9)
    z = stats.norm.ppf(0.99)

    def largest(v):
        def cost(log_sigma):
            sigma = math.exp(log_sigma)
            return -stats.norm.logpdf(x, z * sigma - v, sigma).sum()

        return -minimize_scalar(cost, (-1.5, -1.0), tol=1e-10).fun

    def beyond(v):
        return 2.0 * (result.loglik - largest(v)) - stats.chi2.ppf(0.9, 1)

    low = brentq(beyond, estimate.value - 1.0, estimate.value)
    high = brentq(beyond, estimate.value, estimate.value + 1.0)
    assert estimate.interval == pytest.approx((low, high), abs=2e-3 * (high - low))
    assert high - estimate.value > estimate.value - low  # the sample may have missed the tail


def test_risk_that_cannot_be_estimated_is_refused_or_unknown(fitted):
    quantiles = fit(fitted.data, method="mcculloch", device="cpu")
    assert math.isnan(quantiles.value_at_risk(0.99).stderr)
    with pytest.raises(ValueError, match="needs a fit with method='ml'"):
        quantiles.value_at_risk(0.99, method="profile")
    for argument in ({"level": 99.0}, {"level": 0.9, "method": "bayes"},
                     {"level": 0.9, "confidence": 95.0}):  # fmt: skip
        with pytest.raises(ValueError, match=r"must (lie in|be one of)"):
            fitted.value_at_risk(**argument)


@pytest.mark.parametrize(("count", "size"), [(0, 250), (3, 250), (7, 250), (40, 1000), (5, 5)])
def test_kupiecs_statistic_is_the_ratio_of_binomial_likelihoods(count, size):
    returns = np.r_[np.full(count, -2.0), np.ones(size - count)]
    test = kupiec_test(returns, 1.5, 0.99)
    ratio = stats.binom.logpmf(count, size, count / size) - stats.binom.logpmf(count, size, 0.01)
    assert test.statistic == pytest.approx(2.0 * ratio, rel=1e-10)
    assert test.pvalue == pytest.approx(stats.chi2.sf(2.0 * ratio, 1), rel=1e-9)
    assert (test.exceedances, test.observations) == (count, size)
    assert test == kupiec_test(-returns, np.full(size, 1.5), 0.99, of="losses")


def test_upper_ends_hold_where_a_sample_has_no_outliers_among_its_losses():
    """At chi-square's limit of the likelihood three of the intervals end below the truth."""
    truth = stable(1.9, 0.2, parameterization="S0", device="cpu")
    fits = fit(truth.rvs((120, 750), rng=2), parameterization="S0", device="cpu")
    risk = fits.expected_shortfall(0.95)
    true_value = truth.expected_shortfall(0.95)
    # Of 120 numbers with probability 2.5 % more than 9 are less likely than 0.1 %.
    assert max((risk.high < true_value).sum(), (risk.low > true_value).sum()) <= 9
    chosen = [1, 28, 58]
    np.testing.assert_array_equal(fits.beta[chosen], 1.0)
    low, high = risk.low[chosen], risk.high[chosen]
    assert np.all((low < true_value) & (true_value < high))
    assert np.all(high < 1.3 * true_value)
