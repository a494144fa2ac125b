"""Draws follow their distribution, on every device alike."""

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy import stats

from hetero import philox, use_threads
from stablegpu import stable
from stablegpu._parameters import zeta
from stablegpu._sampling.sample import _STREAM, NEAR

LAWS = [
    *((0.3, 0.9, "S1"), (0.5, 1.0, "S1"), (0.5, -0.3, "S0"), (0.95, 1.0, "S0"), (1.0, 0.7, "S1")),
    *((1.0, -0.7, "S0"), (1.00001, 0.9, "S0"), (1.02, -0.8, "S1"), (1.5, 0.5, "S1")),
    *((1.9, -1.0, "S0"), (2.0, 0.0, "S1")),
]


@pytest.mark.statistical
@pytest.mark.parametrize(("alpha", "beta", "parameterization"), LAWS)
def test_kolmogorov_smirnov(device, alpha, beta, parameterization):
    distribution = stable(alpha, beta, 1.5, 2.0, parameterization=parameterization, device=device)
    p = np.sort(distribution.cdf(distribution.rvs(10_000, random_state=5)))
    assert stats.kstest(p, "uniform").pvalue > 1e-4
    assert stats.kstest(p[:5000] / p[5000], "uniform").pvalue > 1e-4
    single = distribution.rvs(4000, random_state=6, dtype=np.float32).astype(np.float64)
    assert stats.kstest(single, distribution.cdf).pvalue > 1e-4


# ---- against the transform in high precision ------------------------------------------------


def uniform(low, high):
    """The number that two words stand for: its distance from 0, or minus that from 1."""
    word = int(high) << 32 | int(low)
    upper = word >> 63
    distance = mpf((word ^ (2**64 - 1 if upper else 0)) | 1) / 2**64
    return -distance if upper else distance


def exact(x, y, alpha, beta, parameterization):
    """Chambers, Mallows and Stuck's variable of two uniform numbers."""
    x, y, alpha, beta = mpf(x), mpf(y), mpf(alpha), mpf(beta)
    angle = mp.pi * (mpf(1) / 2 - abs(x)) * (-1 if x > 0 else 1)
    w = -mp.log(y if y > 0 else 1 + y)
    if alpha == 1:
        z = mp.pi / 2 + beta * angle
        log = mp.log(mp.pi / 2 * w * mp.sinpi(abs(x)) / z)
        return 2 / mp.pi * (z * mp.tan(angle) - beta * log)
    t = mp.tan(mp.pi * alpha / 2)
    tilted = alpha * angle + mp.atan(beta * t)
    scale = (mp.sqrt(1 + (beta * t) ** 2) / mp.sinpi(abs(x))) ** (1 / alpha)
    result = mp.sin(tilted) * scale * (mp.cos(angle - tilted) / w) ** ((1 - alpha) / alpha)
    return result - (beta * t if parameterization == "S0" else 0)


@pytest.mark.parametrize("parameterization", ["S1", "S0"])
@pytest.mark.parametrize("alpha", [0.05, 0.3, 0.6, 0.89, 0.95, 1 - 1e-12, 1, 1.0001, 1.2, 1.9, 2])
def test_draws_are_the_exact_transform_of_their_words(device, alpha, parameterization):
    words = philox.words((20, 4), rng=1, stream=_STREAM)
    # Of terms of the size of zeta the variable is a difference.
    wide = abs(alpha - 1) < NEAR if parameterization == "S1" else abs(alpha - 1) >= NEAR
    for beta in (1.0, 0.4, -1.0):
        with mp.workdps(50):
            h, law = mpf(10) ** -20, (alpha, beta, parameterization)
            pairs = [(uniform(*row[:2]), uniform(*row[2:])) for row in words]
            exact_draws = [exact(x, y, *law) for x, y in pairs]
            # What a rounding of the angle brings matters where the angle is near -theta0.
            moved = [exact(x * (1 + h), y, *law) for x, y in pairs]
            change = [abs(float((a - b) / h)) for a, b in zip(moved, exact_draws, strict=True)]
            expected = [float(draw) for draw in exact_draws]
        size = 1 + np.abs(expected) + change + (abs(zeta(alpha, beta)) if wide else 0)
        distribution = stable(alpha, beta, parameterization=parameterization, device=device)
        for dtype in ("float64", "float32"):
            result = distribution.rvs(20, random_state=1, dtype=dtype).astype(np.float64)
            error = np.abs(result - expected) / size
            inside = np.abs(expected) < np.finfo(dtype).max
            assert np.all(error[inside] < 10 * np.finfo(dtype).eps / min(alpha, 1))
            assert np.all(np.isinf(result[~inside]))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_extreme_words_give_numbers(dtype):
    from stablegpu._numerics.branchless_formulas import exponential
    from stablegpu._sampling.formulas import signed_distance, transform_to_s0, transform_to_s1
    from stablegpu._sampling.sample import sampler_of

    ends = [(0, 0), (2**32 - 1, 2**32 - 1), (2**32 - 1, 2**31 - 1), (0, 2**31), (1, 0)]
    near = [signed_distance(*map(np.uint32, words), dtype(0)) for words in ends]
    assert near[0] == -near[1] == dtype(2.0**-64)
    assert near[2] == -near[3] == dtype(0.5)
    for x in near:
        for y in near:
            for alpha, beta in ((0.3, 1.0), (0.5, 0.2), (0.95, -1.0), (1, 1), (1.05, 0.3), (2, 0)):
                right, left, sampler = sampler_of(stable(alpha, beta).parameters, dtype)
                transform = transform_to_s0 if sampler.near else transform_to_s1
                w = exponential(y)
                assert 0 < w < 45
                result = transform(x, w, right, left, sampler)
                assert not np.isnan(result)
                assert np.isfinite(result) or alpha < 0.6


@pytest.mark.simulator
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_draws_are_the_same_on_every_device(device, dtype):
    tolerance = 1e5 * np.finfo(dtype).eps if dtype == "float64" else 1e-4
    for alpha, beta in ((0.7, 0.4), (1.0, 0.4), (1.05, -1.0), (1.8, 0.2)):
        result = stable(alpha, beta, device=device).rvs(64, random_state=7, dtype=dtype)
        expected = stable(alpha, beta, device="cpu").rvs(64, random_state=7)
        np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("alpha", [0.8, 1.0, 1.5])
def test_draws_do_not_depend_on_the_thread_count(alpha):
    for dtype in ("float64", "float32"):
        many = stable(alpha, 0.3, device="cpu").rvs(5003, random_state=3, dtype=dtype)
        with use_threads(1):
            few = stable(alpha, 0.3, device="cpu").rvs(5003, random_state=3, dtype=dtype)
        np.testing.assert_array_equal(many, few)


def test_shapes_and_seeds(device):
    distribution = stable(1.5, 0.0, device=device)
    rvs, seeded = distribution.rvs, {"random_state": 3}
    assert isinstance(rvs(), float)
    assert rvs((3, 4)).shape == (3, 4)
    np.testing.assert_array_equal(rvs(5, **seeded), rvs(5, **seeded))
    np.testing.assert_array_equal(rvs(9, **seeded)[:5], rvs(5, **seeded))  # the same beginning
    generator = np.random.default_rng(1)
    assert not np.array_equal(rvs(5), rvs(5))
    assert not np.array_equal(rvs(5, generator), rvs(5, generator))
    out, single = np.empty(7), np.empty(7, np.float32)
    assert rvs(out=out, **seeded) is out
    np.testing.assert_array_equal(out, rvs(7, **seeded))
    np.testing.assert_allclose(rvs(out=single, **seeded), out, rtol=1e-5)
    assert rvs(dtype=np.float32).dtype == np.float32


def test_tails_reach_beyond_the_digits_of_a_uniform_number():
    """The smallest words give the draw that has the probability of those words."""
    from stablegpu._numerics.branchless_formulas import exponential
    from stablegpu._sampling.formulas import signed_distance

    for dtype in (np.float64, np.float32):
        for high in (0, 1, 2**20):
            x = signed_distance(np.uint32(12345), np.uint32(high), dtype(0))
            u = (high * 2**32 + 12345) / 2**64
            np.testing.assert_allclose(float(x), u, rtol=np.finfo(dtype).eps)
            for y, w in ((x, -np.log(u)), (-x, -np.log1p(-u))):
                np.testing.assert_allclose(float(exponential(y)), w, rtol=2 * np.finfo(dtype).eps)
