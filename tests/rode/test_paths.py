"""Ornstein-Uhlenbeck paths against the recursion and their distribution; averages against sums."""

import math

import numpy as np
import pytest
from scipy import stats

import rode
from rode import reference
from rode._paths.tiles import tile
from rode._solver.schemes import find_scheme

PROCESS = rode.Process(0.7, 1.3)
DELTA = 2.0**-7


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("method", ["scan", "sweeps"])
@pytest.mark.parametrize("size", [1, 1023, 70_001])
def test_given_noise_gives_the_recursion(device, method, dtype, size):
    noise = np.random.default_rng(3).standard_normal(size)
    settings = {"process": PROCESS, "start": 0.5, "method": method, "dtype": dtype}
    result = rode.ornstein_uhlenbeck(None, DELTA, noise=noise, device=device, **settings)
    expected = reference.ornstein_uhlenbeck(noise, 0.5, DELTA, PROCESS)
    assert result.dtype == dtype
    np.testing.assert_allclose(result, expected, atol=40 * np.finfo(dtype).eps)
    same = rode.ornstein_uhlenbeck(None, DELTA, noise=noise.tolist(), device=device, **settings)
    np.testing.assert_array_equal(same, result)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_drawn_noise_is_the_same_for_one_path_and_many(device, dtype):
    settings = {"process": PROCESS, "dtype": dtype, "rng": 4, "device": device, "method": "scan"}
    many = rode.ornstein_uhlenbeck((5, 70_001), DELTA, **settings)
    one = rode.ornstein_uhlenbeck(70_001, DELTA, first_path=3, **settings)
    cpu = rode.ornstein_uhlenbeck(70_001, DELTA, first_path=3, **settings | {"device": "cpu"})
    np.testing.assert_allclose(many[3], one, atol=40 * np.finfo(dtype).eps)
    np.testing.assert_allclose(one, cpu, atol=40 * np.finfo(dtype).eps)
    np.testing.assert_array_equal(
        one, rode.ornstein_uhlenbeck(70_001, DELTA, first_path=3, **settings)
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_bridge_goes_through_its_ends_and_devices_agree(device, dtype):
    n, size = 50_000, tile(dtype)
    settings = {"process": PROCESS, "dtype": dtype, "rng": 4}
    result = rode.ornstein_uhlenbeck(n, DELTA, device=device, **settings)
    expected = rode.ornstein_uhlenbeck(n, DELTA, device="cpu", **settings)
    np.testing.assert_allclose(result, expected, atol=60 * np.finfo(dtype).eps)
    shorter = rode.ornstein_uhlenbeck(20_000, DELTA, device=device, **settings)
    whole = 20_000 // size * size
    np.testing.assert_array_equal(shorter[:whole], result[:whole])


@pytest.mark.statistical
@pytest.mark.parametrize(("tau", "delta", "options"), [
    (0.05, DELTA, {}), (20.0, DELTA, {}), (1.0, 0.5, {"dtype": "float32", "normals": "fast"}),
])  # fmt: skip
@pytest.mark.parametrize("method", ["scan", "bridge"])
def test_increments_have_their_distribution(device, method, tau, delta, options):
    """The innovation of each step is white noise, within tiles and across their ends."""
    n, process = 200_000, rode.Process(tau, 2.0)
    options = {"dtype": "float64"} | options
    x = rode.ornstein_uhlenbeck(
        n, delta, process=process, method=method, rng=8, device=device, **options
    ).astype(float)
    mu_minus_1, sigma = process.step(delta)
    noise = (np.diff(x) - mu_minus_1 * x[:-1]) / sigma
    assert stats.kstest(noise, "norm").pvalue > 1e-4
    for lag in (1, 2, 255, 256, 257):
        assert abs((noise[:-lag] * noise[lag:]).mean()) < 5 / math.sqrt(n)
    squares, size = noise * noise - 1.0, tile(options["dtype"])
    at_ends = squares[(np.arange(n - 1) + 1) % size == size - 1]
    assert abs(at_ends.mean()) < 5 * math.sqrt(2 / at_ends.size)


@pytest.mark.statistical
def test_stationary_starts(device):
    x = rode.ornstein_uhlenbeck((2000, 4), 0.1, process=PROCESS, rng=1, device=device)
    for column in x.T:
        assert stats.kstest(column, stats.norm(0, PROCESS.deviation).cdf).pvalue > 1e-4


@pytest.mark.statistical
def test_float32_keeps_the_drift_of_tiny_steps(device):
    """A path from far away decays at steps of 3e-8 tau, where float32(mu) is 1."""
    steps, delta, start = 1 << 19, 3e-8, 50.0
    x = rode.ornstein_uhlenbeck(
        (64, steps), delta, start=start, dtype="float32", rng=3, device=device, method="scan"
    )
    decay = -np.expm1(-delta * steps)
    spread = math.sqrt(0.5 * -math.expm1(-2 * delta * steps) / 64)
    assert (
        abs(start - x[:, -1].astype(float).mean() - start * decay)
        < 5 * spread + 0.02 * start * decay
    )


@pytest.mark.parametrize("steps", [1, 8, 100, 5000])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_averages(device, dtype, steps):
    o = np.random.default_rng(5).standard_normal(3 * steps + 1).astype(dtype)
    first = rode.average(o[:-1], steps, device=device)
    second = rode.double_average(o[:-1], steps, device=device)
    sums = rode.riemann_sums(o, steps, 0.01, 3, device=device)
    assert first.dtype == dtype
    for w in range(3):
        part = o[w * steps : (w + 1) * steps + 1].astype(float)
        one, two = find_scheme("averaged-heun").reference_forms(part, 1.0)
        tolerance = 20 * float(np.finfo(dtype).eps)
        assert float(first[w]) == pytest.approx(one, abs=tolerance)
        assert float(second[w]) == pytest.approx(two, abs=2 * tolerance)
        expected = find_scheme("3-rode-taylor").reference_forms(part, 0.01 * steps)
        h = 0.01 * steps
        for d in range(3):
            assert float(sums[d][w]) == pytest.approx(
                expected[d], abs=40 * tolerance * h ** (d + 1)
            )


@pytest.mark.parametrize("library", ["numba", "cupy"])
def test_averages_of_arrays_on_the_gpu_stay_there(require_cuda, library):
    from hetero.cuda.driver import cuda

    o = np.random.default_rng(5).standard_normal(4 * 256 + 1).astype(np.float32)
    if library == "numba":
        there, back = cuda.to_device(o), lambda a: a.copy_to_host()
        first = rode.average(cuda.to_device(o[:-1]), 256)
    else:
        cupy = pytest.importorskip("cupy")
        there, back = cupy.asarray(o), cupy.asnumpy
        first = rode.average(there[:-1], 256)
    sums = rode.riemann_sums(there, 256, 0.01, 2)
    assert type(first) is type(there)
    np.testing.assert_allclose(back(first), rode.average(o[:-1], 256, device="cpu"), atol=1e-6)
    for mine, expected in zip(sums, rode.riemann_sums(o, 256, 0.01, 2, device="cpu"), strict=True):
        np.testing.assert_allclose(back(mine), expected, atol=1e-4)
