"""Linear models with stable errors, and comparisons with other distributions."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize

import stablegpu
from stablegpu import fit, regress, stable
from stablegpu._inference.linear_models.models import LinearModels


@pytest.fixture(scope="module")
def models():
    rng = np.random.default_rng(1)
    x, b = rng.normal(size=(40, 300, 2)), rng.normal(size=(40, 2))
    errors = stable(1.6, 0.3, 0.5, 2.0, parameterization="S0", device="cpu")
    y = np.einsum("mnp,mp->mn", x, b) + errors.rvs((40, 300), rng=2)
    return y, x, b, regress(y, x, device="cpu")


@pytest.mark.parametrize(
    ("seed", "loglik"), [(1011, -440.847373), (1015, -408.507553), (1038, -606.371043)]
)
def test_ascents_reach_what_searches_found(seed, loglik):
    """Two have their maximum at beta = 1 or -1; a step of the last one leaves the support."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((200, 2))
    alpha, beta = rng.uniform(0.6, 1.98), rng.uniform(-1.0, 1.0)
    y = x @ [1.0, -2.0] + stable(alpha, beta, device="cpu").rvs(200, rng=rng.integers(1 << 30))
    model = regress(y, x, device="cpu")
    assert model.loglik == pytest.approx(loglik, abs=1e-5)
    assert (abs(model.beta) == 1.0) == (seed != 1038) == np.isnan(model.stderr["beta"])
    assert np.isfinite(model.stderr["coefficients"]).all()


def test_estimates_are_within_their_errors(models):
    _, _, b, found = models
    assert found.converged.all()
    assert len(found) == 40
    z = (found.coefficients - b) / found.stderr["coefficients"]
    assert 0.75 < z.std() < 1.3  # 80 numbers: four standard deviations
    assert np.abs(found.alpha.mean() - 1.6) < 4.0 * found.stderr["alpha"].mean() / math.sqrt(40)


def test_no_search_finds_a_larger_likelihood(models):
    y, x, _, found = models

    def cost(point):
        alpha, beta, loc, log_scale = point[:4]
        if not (0.1 <= alpha <= 2.0 and abs(beta) <= 1.0):
            return 1e300
        d = stable(alpha, beta, loc, math.exp(log_scale), parameterization="S0", device="cpu")
        return -float(d.logpdf(y[0] - x[0] @ point[4:]).sum())

    one = found[0]
    best = [one.alpha, one.beta, one.intercept, math.log(one.scale), *one.coefficients]
    best = np.array(best, float)
    assert cost(best) == pytest.approx(-one.loglik, abs=1e-6)
    for shift in (0.0, 0.1):
        searched = minimize(cost, best + shift, method="Nelder-Mead", options={"maxfev": 1200})
        assert searched.fun > cost(best) - 1e-6


def test_a_model_alone_its_predictions_and_its_shift(models):
    y, x, _, found = models
    size = 3e150
    alone = regress(size * (10.0 + y[1]), 5.0 + 0.1 * x[1], device="cpu")
    np.testing.assert_allclose(alone.coefficients, 10.0 * size * found[1].coefficients, rtol=1e-4)
    assert alone.scale == pytest.approx(size * found[1].scale, rel=1e-4)
    assert alone.loglik == pytest.approx(found[1].loglik - 300 * math.log(size))
    errors = alone.stderr["coefficients"] / (10.0 * size)
    np.testing.assert_allclose(errors, found[1].stderr["coefficients"], rtol=1e-2)
    prediction = found[1].predict(x[1], confidence=0.9)
    inside = float(((prediction.low < y[1]) & (y[1] < prediction.high)).mean())
    assert 0.83 < inside < 0.97
    assert "coefficient 1" in found[1]._repr_html_()


@pytest.mark.parametrize("shared", [False, True])
def test_gradients_are_those_of_the_density(device, shared):
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(1 if shared else 2, 12, 2)), rng.standard_cauchy((2, 12))
    models = LinearModels(y, x, device)
    theta = np.array([[1.5, 0.4, 0.3, -0.2, 0.5, -1.0], [1.05, -0.6, -0.1, 0.3, 0.2, 0.4]])
    found, gradient = models.evaluate(np.arange(2), theta)
    columns = (x - models.centre[:, None]) / models.unit[:, None]
    for k, tolerance in enumerate((1e-6, 3e-4)):  # a table serves alpha next to 1

        def loglik(point, y=models.y[k], columns=columns[0 if shared else k]):
            errors = stable(*point[:3], math.exp(point[3]), parameterization="S0", device="cpu")
            return errors.logpdf(y - columns @ point[4:]).sum()

        assert found[k] == pytest.approx(loglik(theta[k]), abs=0.1 * tolerance)
        steps = 1e-4 * np.eye(6)
        expected = [(loglik(theta[k] + h) - loglik(theta[k] - h)) / 2e-4 for h in steps]
        np.testing.assert_allclose(gradient[k], expected, rtol=tolerance, atol=tolerance)
    assert models.evaluate(np.array([1]), theta[1:])[0] == pytest.approx(found[1:], rel=1e-12)


def test_autoregressions():
    errors = stable(1.5, 0.0, device="cpu").rvs(800, rng=3)
    y = np.zeros(800)
    for t in range(2, 800):
        y[t] = 0.5 * y[t - 1] - 0.3 * y[t - 2] + errors[t]
    model = regress(y, ar=2, device="cpu")
    assert np.abs(model.coefficients - [0.5, -0.3]).max() < 0.05
    following = model.predict()
    expected = model.coefficients @ [y[-1], y[-2]] + model.errors.median()
    assert following.median == pytest.approx(expected)


def test_a_comparison_says_which_distribution_fits_best():
    x = stats.t(4).rvs(8000, random_state=1)
    compared = fit(x, device="cpu").compare()
    assert compared.best == "Student t"
    assert "Student t fits best" in str(compared)
    df, loc, scale = stats.t.fit(x)
    student = compared["Student t"]
    assert student.loglik >= stats.t(df, loc, scale).logpdf(x).sum() - 1e-6
    assert student.parameters["df"] == pytest.approx(df, rel=1e-2)
    assert student.vuong < -1.96
    assert 1.0 <= student.effective <= 8000.0
    normal = compared["normal"]
    assert normal.loglik == pytest.approx(stats.norm(*stats.norm.fit(x)).logpdf(x).sum(), abs=1e-5)
    heavy = stable(1.4, 0.5, device="cpu").rvs(600, rng=2)
    result = fit(heavy, device="cpu")
    compared = result.compare()
    assert compared.best == "stable"
    assert compared["stable"].bic == pytest.approx(result.bic)
    assert len(result.plot(comparison=compared).axes[0].lines) == 3
    alike = fit(np.random.default_rng(4).normal(size=400), device="cpu").compare()
    assert alike.best == "normal"
    assert math.isnan(alike["normal"].vuong)  # too alike for the test


def test_counts_as_weights_compare_alike():
    x = np.round(stats.t(3).rvs(400, random_state=5))
    values, counts = np.unique(x, return_counts=True)
    rounded = fit(x, rounding=1.0, device="cpu").compare()
    counted = fit(lower=values - 0.5, upper=values + 0.5, weights=counts, device="cpu").compare()
    assert isinstance(rounded, stablegpu.Comparison)
    assert counted["normal"].loglik == pytest.approx(rounded["normal"].loglik, abs=1e-4)
    assert counted.nobs == rounded.nobs == 400


def test_heavy_tails_and_few_observations_start_from_elsewhere():
    """Least absolute deviations follow one value of 5500 in this series; few data have spikes."""
    truth, rng = np.array([-0.17874796, -0.04395531]), np.random.default_rng(508)
    errors = stable(0.7, 0.87193617, parameterization="S0").rvs(261, rng=8)
    y = np.zeros(261)
    for t in range(2, 261):
        y[t] = 1.0 + truth @ y[t - 2 : t][::-1] + errors[t]
    model = regress(y[50:], ar=2)
    assert np.abs(model.coefficients - truth).max() < 1e-3
    x = rng.normal(size=(8, 3))
    few = regress(x.sum(axis=1) + errors[:8], x)
    assert few.alpha >= 4.0 / 3.0  # a plane through four of eight has no bound below 1
    series = stable(1.3, 0.3).rvs((40, 20), rng=60)[24:28]  # BFGS's matrix became singular
    assert regress(series, ar=3, device="cpu").converged.all()
    with pytest.raises(ValueError, match="half of the values"):
        regress(np.where(np.arange(60) % 2, 0.0, errors[:60]), ar=1)


def test_values_that_are_equal_or_on_a_plane_have_no_spikes():
    """A plane through k of n observations has no bound for alpha, or degrees of freedom, below."""
    errors = stable(1.5, 0.0, device="cpu").rvs((3, 400), rng=0)
    group = (np.random.default_rng(1).random(400) < 0.5) * 1.0
    for slope, scale, x in ((0.5, 0.5, np.arange(400.0)), (2.0, 1.0, group)):
        y = np.round(slope * x + scale * errors)
        for model in regress(y, x[:, None], device="cpu"), regress(y[1], x[:, None], device="cpu"):
            assert model.converged.all()
            assert np.all(np.abs(model.alpha - 1.6) < 0.3)
            z = (model.coefficients - slope) / model.stderr["coefficients"]
            assert np.abs(z).max() < 3.0
    zeros = np.where(np.arange(500) % 10 < 3, 0.0, stable(1.7, 0.0, device="cpu").rvs(500, rng=1))
    compared = fit(zeros, device="cpu").compare()
    assert compared["Student t"].parameters["df"] > 300 / 350
    assert compared["Student t"].loglik < compared["normal"].loglik + 300.0
