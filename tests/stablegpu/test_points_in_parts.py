"""Densities, quantiles and samples by several devices and executors: the same to the bit."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import stablegpu
from stablegpu._numerics.arrays_in_parts import MULTIPLE

X = np.sinh(np.linspace(-9.0, 9.0, 3 * MULTIPLE + 17)).reshape(5, -1)
P = np.linspace(0.0, 1.0, 2 * MULTIPLE + 5)


@pytest.fixture(scope="module")
def threads():
    with ThreadPoolExecutor(1) as executor:
        yield executor


def distributions(threads, alpha=1.7, beta=0.4, **options):
    """Return a distribution that one device computes, and the same one for other engines."""
    alone = stablegpu.stable(alpha, beta, 1.0, 2.0, device="cpu", **options)
    engines = ({"device": ["cpu"] * n} for n in (2, 3, 50))
    others = [*engines, {"executor": threads, "device": "cpu"}]
    return alone, [stablegpu.stable(alpha, beta, 1.0, 2.0, **options, **one) for one in others]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("alpha", [1.7, 1.02])
def test_samples(threads, alpha, dtype):
    alone, others = distributions(threads, alpha)
    shape = 3, MULTIPLE + 7
    expected = alone.rvs(shape, rng=4, dtype=dtype)
    for other in others:
        np.testing.assert_array_equal(other.rvs(shape, rng=4, dtype=dtype), expected)
        out = np.empty(shape, dtype)
        assert other.rvs(rng=4, out=out) is out
        np.testing.assert_array_equal(out, expected)
        assert other.rvs(rng=4) == alone.rvs(rng=4)


@pytest.mark.parametrize("evaluator", [None, "polynomials"])
def test_densities(threads, evaluator):
    alone, others = distributions(threads, evaluator=evaluator)
    expected, logarithms = alone.pdf_cdf(X), alone.logpdf(X)
    for other in others:
        np.testing.assert_array_equal(other.pdf_cdf(X), expected)
        out = np.empty_like(X)
        assert other.logpdf(X, out=out) is out
        np.testing.assert_array_equal(out, logarithms)
    assert others[0].pdf(1.0) == alone.pdf(1.0)
    assert others[0].pdf(np.empty((0, 3))).shape == (0, 3)


@pytest.mark.parametrize("evaluator", [None, "nodes"])
def test_quantiles(threads, evaluator):
    alone, others = distributions(threads, evaluator=evaluator)
    expected = alone.isf(P)
    for other in others:
        np.testing.assert_array_equal(other.isf(P), expected)


@pytest.mark.parametrize(("alpha", "beta"), [(1.7, 0.4), (0.6, -0.9), (1.2, 1.0)])
def test_a_quantile_has_the_same_bits_by_itself(alpha, beta):
    """The search of each ends by itself, however many steps others need."""
    distribution = stablegpu.stable(alpha, beta, device="cpu", evaluator="nodes")
    p = np.concatenate([P[1:-1:211], 10.0 ** -np.arange(3.0, 200.0, 13.0)])
    together = distribution.ppf(p)
    np.testing.assert_array_equal([distribution.ppf(one) for one in p], together)


def test_points_with_individual_parameters(threads):
    rng = np.random.default_rng(6)
    x = rng.standard_normal(2 * MULTIPLE + 7)
    alpha, beta = rng.uniform(0.5, 2.0, x.shape), rng.uniform(-1.0, 1.0, x.shape)
    engines = [{"device": ["cpu"] * n} for n in (2, 50)]
    for function, arguments in (
        (stablegpu.logpdf, (x, alpha, beta, 0.5)),
        (stablegpu.cdf, (x[:4000, None], alpha[:3], beta[:3])),
        (stablegpu.pdf_cdf, (1.5, alpha, 0.2, beta, 3.0)),
        (stablegpu.sf, (1.5, 1.2, 0.2)),
        (stablegpu.pdf, (np.empty((0, 4)), 1.2, 0.2)),
    ):
        expected = function(*arguments, parameterization="S0", device="cpu")
        for engine in (*engines, {"executor": threads, "device": "cpu"}):
            shared = function(*arguments, parameterization="S0", **engine)
            assert type(shared) is type(expected)
            np.testing.assert_array_equal(shared, expected)
    out = np.empty_like(x)
    assert stablegpu.pdf(x, alpha, beta, out=out, device=["cpu", "cpu"]) is out
    np.testing.assert_array_equal(out, stablegpu.pdf(x, alpha, beta, device="cpu"))
    with pytest.raises(ValueError, match="alpha must lie in"):
        stablegpu.pdf(x, -alpha, beta, executor=threads, device="cpu")
