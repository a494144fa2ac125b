"""Functions of arrays of parameters: against 25-digit values, and against scalar parameters."""

import numpy as np
import pytest

import stablegpu
from stable_references import column
from stablegpu import stable
from stablegpu._density.pointwise.evaluate import evaluate
from stablegpu.evaluators import NAMES, Quadrature

TINY = 1e-290


def true_values(name):
    """Return the true values of a function; 0 stands for those that are not given."""
    return column(name, missing=0.0)


def worst_error(result, reference):
    """Largest relative error of pdf, cdf and sf, and of logpdf where that is not near 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = [
            np.abs(result[n] - v) / np.where(np.abs(v) > TINY, np.abs(v), 1.0)
            for n, v in ((n, reference(n)) for n in ("pdf", "cdf", "sf"))
        ]
        log = reference("logpdf")
        error = np.abs(result["logpdf"] - log) / np.maximum(1.0, np.abs(log))
        errors.append(np.where(result["logpdf"] == log, 0.0, error))
    return np.max(np.where(np.isnan(errors), np.inf, errors), axis=0)


def test_every_reference_point(device):
    """One call for all 215 alphas."""
    x, alpha, beta = column("x"), column("alpha"), column("beta")
    result = evaluate((x, alpha, beta, 0.0, 1.0), "S0", NAMES, device=device)
    error = worst_error(result, true_values)
    by_alpha = np.nan_to_num(true_values("dlogpdf_dalpha"), posinf=0.0, neginf=0.0)
    fair = 1e-13 + 8 * 2.0**-52 * (np.abs(x * true_values("dlogpdf_dx")) + alpha * np.abs(by_alpha))
    assert np.all(error <= fair), np.max(error / fair)
    assert np.median(error) <= 2e-15
    for log, value, other in (("logcdf", "cdf", "sf"), ("logsf", "sf", "cdf")):
        v, o = result[value], result[other]
        expected = np.where(v > 0.5, np.log1p(-np.minimum(o, 0.5)), np.log(np.maximum(v, TINY)))
        np.testing.assert_allclose(
            result[log][v > TINY], expected[v > TINY], rtol=1e-13, atol=2e-16
        )


def hard_points(rng, size):
    """Near 1 and 2, beta near 0 and +-1, tails: where the sums change their shape."""
    alpha = rng.uniform(0.1, 2.0, size)
    near = rng.choice([-1, 1], size) * 10 ** rng.uniform(-6, -1, size)
    alpha = np.choose(
        rng.integers(4, size=size),
        [alpha, 1.0 + near, 2.0 - np.abs(near), np.where(near > 0.0, 1.0, 2.0)],
    )
    tiny = 10 ** rng.uniform(-12, -1, size)
    sign = rng.choice([-1, 1], size)
    beta = np.choose(
        rng.integers(4, size=size), [rng.uniform(-1, 1, size), sign * (1 - tiny), tiny, sign]
    )
    x = rng.choice([-1, 1], size) * 10 ** rng.uniform(-6, 6, size)
    return x, alpha, beta


@pytest.mark.parametrize("parameterization", ["S0", "S1"])
def test_agrees_with_the_quadrature(device, parameterization):
    x, alpha, beta = hard_points(np.random.default_rng(7), 400)
    arguments = (x, alpha, beta, 0.0, 1.0)
    result = evaluate(arguments, parameterization, NAMES, device=device)
    for i in range(x.size):
        distribution = stable(alpha[i], beta[i], parameterization=parameterization, device="cpu")
        one = distribution.evaluate(x[i : i + 1], evaluator=Quadrature(tolerance=1e-11))
        for name in NAMES:
            a, b = result[name][i], getattr(one, name)[0]
            if abs(b) > TINY:
                assert a == pytest.approx(b, rel=2e-11), (name, x[i], alpha[i], beta[i])


@pytest.mark.simulator
def test_shapes_loc_scale_and_limits(device):
    x = np.array([[0.3], [np.nan], [np.inf]])
    alpha, scale = np.array([0.8, 1.6]), [0.5, 2.0]
    result = stablegpu.cdf(x, alpha, 0.4, -1.0, scale, device=device)
    assert result.shape == (3, 2)
    for k in range(2):
        distribution = stable(alpha[k], 0.4, -1.0, scale[k], device="cpu")
        np.testing.assert_allclose(result[:, k], distribution.cdf(x[:, 0]), rtol=1e-13)


def test_scalars_give_a_float_and_out_is_filled(device):
    distribution = stable(1.3, -0.2, 0.5, 3.0, parameterization="S0", device="cpu")
    arguments = (2.0, 1.3, -0.2, 0.5, 3.0)
    for name in NAMES:
        function = getattr(stablegpu, name)
        value = function(*arguments, parameterization="S0", device=device)
        assert isinstance(value, float)
        assert value == pytest.approx(getattr(distribution, name)(2.0), rel=1e-13)
    assert stablegpu.pdf_cdf(2.0, 1.3, -0.2)[1] == stablegpu.cdf(2.0, 1.3, -0.2)
    out = np.empty((2, 3))
    x = np.arange(3.0)
    assert stablegpu.pdf(x, [[1.2], [0.7]], 0.0, out=out, device=device) is out
    np.testing.assert_allclose(out[1], stable(0.7, 0.0).pdf(x), rtol=1e-13)
    assert stablegpu.pdf([], 1.5, 0.0, device=device).shape == (0,)


@pytest.mark.cuda
def test_bad_values_on_a_gpu_give_nan(require_cuda):
    from hetero.cuda.driver import cuda

    alpha = cuda.to_device(np.array([1.5, 2.5, np.nan, 1.0]))
    result = stablegpu.pdf(0.5, alpha, 0.0).copy_to_host()
    assert np.isnan(result).tolist() == [False, True, True, False]
    np.testing.assert_allclose(result[0], stable(1.5, 0.0).pdf(0.5), rtol=1e-13)


def test_quantiles_of_many_distributions_are_those_of_their_probabilities():
    """Newton's steps go to and fro between body and tail for one in a hundred of these."""
    rng = np.random.default_rng(1)
    alpha = np.r_[2.0 - 10.0 ** rng.uniform(-5.0, -1.0, 150), 1.83299999586963]
    beta = np.r_[rng.uniform(-1.0, 1.0, 150), -0.85167652055669]
    options = {"parameterization": "S0", "device": "cpu"}
    x = stablegpu.isf(0.01, alpha, beta, **options)
    np.testing.assert_allclose(stablegpu.sf(x, alpha, beta, **options), 0.01, rtol=1e-9)


def test_quantiles_of_extreme_points_are_those_of_one_distribution():
    """They are beyond floats, in the lightest tail, near zero, or brought back by the scale."""
    p = np.array([1e-250, 1e-250, 1e-290, 1e-22, 1e-290, 0.45])
    alpha, beta = np.array([1.0, 1.0, 0.8, 0.072, 0.7, 0.0025]), np.array([1, -1, 0.3, 0, 0, 0])
    scale = np.array([0.5, 2.0, 3.0, 0.01, 1e-300, 1.0])
    for of_arrays, name in ((stablegpu.ppf, "ppf"), (stablegpu.isf, "isf")):
        x = of_arrays(p, alpha, beta, 0.0, scale, device="cpu")
        one = [
            getattr(stable(a, b, 0.0, s), name)(q)
            for q, a, b, s in zip(p, alpha, beta, scale, strict=True)
        ]
        np.testing.assert_allclose(x, one, rtol=1e-11)
        assert np.isinf(x).sum() == 1
