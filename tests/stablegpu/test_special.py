"""Special functions against arbitrary precision, in ulp; the same bodies on every device."""

import functools
import math

import numpy as np
import pytest
from flint import arb, ctx
from scipy import special as scipy_special

import stablegpu
from stablegpu import expn, log_ndtr, logsumexp, ndtr
from studies.stablegpu.special_error import reference as log_ndtr_reference
from studies.stablegpu.special_error import ulps

REALS = (np.float32, np.float64)
BOUND = {"log_ndtr": 4.0, "ndtr": 4.0, "expn": 6.0}
SEAMS = (-40.0, -38.6, -14.5, -1.0, 0.0, 0.25, 0.5, 1.0, 5.0, 6.0, 13.1, 14.0, 37.5, 38.4)


def precisely(function, *values):
    before, ctx.prec = ctx.prec, 140
    try:
        return [function(*map(arb, map(float, row))) for row in zip(*values, strict=True)]
    finally:
        ctx.prec = before


def ndtr_reference(x):
    return precisely(lambda v: (-v / arb(2).sqrt()).erfc() / 2, x)


@functools.cache
def points(real):
    """Uniform and log-uniform, on both sides, and both neighbours of every seam."""
    rng = np.random.default_rng(7)
    last = 14.4 if real is np.float32 else 38.6
    seams = np.array(SEAMS, real)
    result = (
        *(rng.uniform(-last, last, 3000), rng.uniform(-2, 2, 3000)),
        rng.choice([-1.0, 1.0], 1000) * np.exp(rng.uniform(-85, 0, 1000)),
        -np.exp(rng.uniform(0, 40 if real is np.float32 else 350, 500)),
        *(np.nextafter(seams, real(d)) for d in (-np.inf, np.inf)),
        seams,
    )
    return np.concatenate(result).astype(real)


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("name", ["log_ndtr", "ndtr"])
def test_normal_law_to_4_ulp(device, name, real):
    reference = {"log_ndtr": log_ndtr_reference, "ndtr": ndtr_reference}[name]
    x = points(real)
    result = getattr(stablegpu, name)(x, device=device)
    assert result.dtype == real
    errors = ulps(result, reference(x))
    assert np.abs(errors).max() < BOUND[name], x[np.abs(errors).argmax()]
    assert abs(errors.mean()) < 0.5


@pytest.mark.simulator
@pytest.mark.parametrize("real", REALS)
def test_normal_law_at_hard_arguments(device, real):
    big = np.finfo(real).max
    x = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, big, -big, 50.0, -50.0], real)
    half, left = math.log(0.5), scipy_special.log_ndtr(-50.0)
    for result, expected in (
        (log_ndtr(x, device=device), [np.nan, 0, -np.inf, half, half, 0, -np.inf, 0, left]),
        (ndtr(x, device=device), [np.nan, 1, 0, 0.5, 0.5, 1, 0, 1, 0]),
    ):
        assert result.dtype == real
        np.testing.assert_allclose(result, expected, rtol=4 * np.finfo(real).eps, atol=0.0)


@pytest.mark.parametrize("real", REALS)
def test_the_logarithm_is_finite_where_it_can_be(device, real):
    """-x^2/2 leaves the range later than x^2, at the root of twice the largest number."""
    last = real(math.sqrt(2.0) * math.sqrt(np.finfo(real).max))
    x = -last * np.linspace(0.68, 1.0 - 4.0 * np.finfo(real).eps, 200, dtype=real)
    errors = ulps(log_ndtr(x, device=device), log_ndtr_reference(x))
    assert np.abs(errors).max() < 1.0
    assert log_ndtr(-last * real(1.0001), device=device) == -np.inf
    assert log_ndtr(-1e150, device=device) == pytest.approx(-0.5e300, rel=1e-15)


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("n", [0, 1, 2, 3, 8, 21, 60, 1000])
def test_exponential_integral(device, n, real):
    rng = np.random.default_rng(n)
    last = 100.0 if real is np.float32 else 740.0
    x = np.concatenate(
        [
            np.exp(rng.uniform(-40.0, math.log(last), 150)),
            rng.uniform(0.3, 3.0, 150),
            np.nextafter(real(0.75), real([0, 1])),
            [0.75, last],
        ]
    ).astype(real)
    result = expn(n, x, device=device)
    assert result.dtype == real
    errors = ulps(result, precisely(lambda v: v.expint(n), x))
    assert np.abs(errors).max() < BOUND["expn"], x[np.abs(errors).argmax()]


def test_exponential_integral_at_hard_arguments(device):
    x = [0.0, np.inf, np.nan, -1.0, 1e308]
    for n in (0, 1, 2, 5):
        at_zero = 1.0 / (n - 1) if n > 1 else np.inf
        np.testing.assert_array_equal(
            expn(n, x, device=device), [at_zero, 0.0, np.nan, np.nan, 0.0]
        )
    for n in (5000, 10**6):  # exp(-x)/(x + n) (1 + n/(x + n)^2 + ...)
        s = 2.0 + n
        leading = math.exp(-2.0) / s * (1.0 + n / s**2 + n * (n - 4.0) / s**4)
        np.testing.assert_allclose(expn(n, 2.0, device=device), leading, rtol=1e-10)


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("axis", [None, 0, 1, 2, -1, (0, 1), (1, 2), (0, 2), (2, 0), ()])
def test_sum_of_exponentials_over_axes(device, axis, real):
    a = (50 * np.random.default_rng(1).standard_normal((3, 70, 5))).astype(real)
    for keepdims in (False, True):
        result = logsumexp(a, axis, keepdims=keepdims, device=device)
        expected = scipy_special.logsumexp(a.astype(float), axis=axis, keepdims=keepdims)
        assert result.dtype == real
        assert result.shape == expected.shape
        np.testing.assert_allclose(result, expected, rtol=20 * np.finfo(real).eps)


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("shape", [(1_000_003,), (100_003, 3), (1000, 1001)])
def test_long_sums_of_exponentials(device, shape, real):
    a = np.random.default_rng(2).standard_normal(shape).astype(real)
    result = logsumexp(a, 0, device=device)
    expected = np.log(np.exp(a.astype(float)).sum(0))
    np.testing.assert_allclose(result, expected, rtol=20 * np.finfo(real).eps)


@pytest.mark.simulator
def test_hard_sums_of_exponentials(device):
    inf, nan = np.inf, np.nan
    cases = {
        inf: [[inf, 1.0], [inf, -inf], [inf, inf]],
        -inf: [[-inf, -inf], [], [-inf]],
        nan: [[nan, 1.0], [nan, inf], [-inf, nan], [1.0, nan, 5.0]],
        1e308: [[1e308, -1e308]],
        math.log(2.0) - 2000.0: [[-2000.0, -2000.0]],
        math.exp(-50.0): [[0.0, -50.0], [-50.0, 0.0]],
    }
    for expected, lists in cases.items():
        for values in lists:
            np.testing.assert_allclose(logsumexp(values, device=device), expected, rtol=1e-15)
    assert logsumexp(np.empty((2, 0)), 1, device=device).tolist() == [-inf, -inf]
    assert logsumexp(np.empty((0, 2)), 1, device=device).shape == (0,)


@pytest.mark.simulator
def test_types_shapes_and_out(device):
    for x in (np.int8([[1]]), [1.0], np.ones((2, 0)), np.ones((4, 4))[::2, 1::2]):
        assert log_ndtr(x, device=device).dtype == np.float64
        assert ndtr(x, device=device).shape == np.shape(x)
    assert log_ndtr(np.ones(2, np.float16), device=device).dtype == np.float32
    assert isinstance(log_ndtr(0.0, device=device), np.float64)
    assert isinstance(log_ndtr(np.float32(0.0), device=device), np.float32)
    x = np.zeros(3, np.float32)
    assert ndtr(x, out=x, device=device) is x
    assert (x == 0.5).all()
    out = np.empty(())
    assert logsumexp([0.0, 0.0], out=out, device=device) is out
    assert out == pytest.approx(math.log(2.0))


@pytest.mark.cuda
@pytest.mark.parametrize("library", ["cupy", "torch"])
def test_device_arrays_keep_kind_and_type(require_cuda, library):
    module = pytest.importorskip(library)
    make = module.asarray if library == "cupy" else functools.partial(module.tensor, device="cuda")
    for real in REALS:
        host = np.linspace(-5, 5, 600, dtype=real).reshape(20, 30)
        x = make(host)
        for function in (log_ndtr, ndtr, logsumexp, functools.partial(logsumexp, axis=(0,))):
            result = function(x)
            assert isinstance(result, type(x))
            assert str(result.dtype).endswith(np.dtype(real).name)
            on_host = result.get() if library == "cupy" else result.cpu().numpy()
            np.testing.assert_allclose(on_host, function(host), rtol=20 * np.finfo(real).eps)
