"""Normal numbers: transforms against high precision, distributions, and sequences."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf
from numba import njit
from scipy import special, stats

import rode
from hetero import philox, resolve, use_threads
from hetero.arrays import Workspace
from hetero.philox.formulas import philox10
from rode import _normals
from rode._normals import box_muller_formulas as box_muller
from rode._normals import inverse_formulas as inverse
from rode._normals.launches import Words
from rode._normals.wallace.formulas import rotate
from rode._normals.ziggurat.tables import STRIPS, TAIL_STARTS, area_of_strip, edges_of, ziggurat
from rode.normals import METHODS

DTYPES = ["float32", "float64"]
CASES = [(m, d) for m in METHODS for d in DTYPES if (m, d) != ("box-muller-fast", "float64")]
HARD_WORDS = [0, 1, 2, 3, 2**31 - 1, 2**31, 2**31 + 1, 0xAAAAAAAA, 0xAAAAAAAB, 2**32 - 2, 2**32 - 1]


@njit
def pair32(a, b):
    return box_muller.pair_float32(np.uint32(a), np.uint32(b), np.float32(1.0))


@njit
def pair64(a, b, c, d):
    words = np.uint32(a), np.uint32(b), np.uint32(c), np.uint32(d)
    return box_muller.pair_float64(words[0], words[1], words[2], words[3], 1.0)


@njit
def inverse32(word):
    return inverse.inverse_float32(np.uint32(word))


@njit
def rational32(word, blend):
    return inverse.rational_float32(np.uint32(word), blend)


@njit
def rational64(high, low, blend):
    return inverse.rational_float64(np.uint32(high), np.uint32(low), blend)


def words(count, columns, seed=1):
    random = np.random.default_rng(seed).integers(0, 2**32, (count, columns))
    hard = [np.roll(np.resize(HARD_WORDS, columns), k) for k in range(len(HARD_WORDS))]
    return np.vstack([random, hard]).tolist()


def exact_pair(u, t, bits):
    """Return the pair of Box and Muller for the uniform number u and t quarter turns."""
    r, angle = mp.sqrt(-2 * mp.log(u)), t * mp.pi / 2
    s, c = r * mp.sin(angle), r * mp.cos(angle) * (-1 if bits & 1 else 1)
    return (s, c) if bits & 2 else (c, s)


def test_box_muller_float32():
    for a, b in words(300, 2) + [[x, y] for x in HARD_WORDS for y in HARD_WORDS]:
        scale = np.float32((1 - 2.0**-24) * 2.0**-31)
        u = np.float32(float(np.float32(a >> 1)) * float(scale) + 2.0**-33)
        signed = b - 2**32 if b >= 2**31 else b
        t = np.float32(float(np.float32(signed)) * 2.0**-32 + 2.0**-33)
        for result, exact in zip(
            pair32(a, b), exact_pair(mpf(float(u)), mpf(float(t)), b), strict=True
        ):
            assert result != 0.0
            assert abs(result / float(exact) - 1.0) < 2.5 * np.finfo(np.float32).eps
    # The two branches of a uniform number of 2^-33 and of the largest one.
    assert math.hypot(*pair32(0, 5)) == pytest.approx(math.sqrt(66 * math.log(2)), rel=1e-6)
    assert 0.0 < math.hypot(*pair32(2**32 - 1, 5)) < 1e-3


def test_box_muller_float64():
    for a, b, c, d in words(300, 4):
        u = (2 * (((a << 32) | b) >> 12) + 1) * mpf(2) ** -53
        t = ((((c << 32) | d) >> 12) | 1) * mpf(2) ** -52 - mpf(1) / 2
        for result, exact in zip(pair64(a, b, c, d), exact_pair(u, t, d), strict=True):
            assert abs(result / exact - 1) < 2.5 * np.finfo(float).eps
            assert result != 0.0


def test_inverse_float32():
    x = np.array([[w | 1, inverse32(w)] for (w,) in words(3000, 1)])
    y = x[:, 0].astype(np.uint32).view(np.int32).astype(float) * 2.0**-31
    exact = -special.ndtri(0.5 - 0.5 * np.abs(y)) * np.sign(y)
    # The word's float32 has 24 digits; in the tail its distance from the end has them.
    np.testing.assert_allclose(x[:, 1], exact, rtol=2e-6)
    assert np.abs(special.ndtr(x[:, 1]) - special.ndtr(exact)).max() < 1e-7
    assert inverse32(2**31) == pytest.approx(-6.2303, abs=1e-3)


@pytest.mark.parametrize("blend", [False, True])
def test_rational_functions(blend):
    mp.prec = 80
    for high, low in words(60, 2, 3):
        u = (2 * (((high << 32) | low) >> 12) + 1) * 2.0**-53
        tail = min(u, 1.0 - u)
        exact = abs(special.ndtri(tail)) if tail < 0.5 else 0.0
        assert abs(rational64(high, low, blend)) == pytest.approx(exact, rel=2e-15, abs=1e-16)
        assert (rational64(high, low, blend) < 0.0) == (u < 0.5)
    for (w,) in words(200, 1, 4):
        y = ((w | 1) - 2**32 if w >= 2**31 else w | 1) * 2.0**-32
        exact = -special.ndtri(0.5 - abs(y)) * np.sign(y)
        assert rational32(w, blend) == pytest.approx(exact, rel=1e-6)


# ---- distributions -----------------------------------------------------------------------------


@pytest.mark.statistical
@pytest.mark.parametrize(("method", "dtype"), [c for c in CASES if c[0] != "wallace-uncorrected"])
def test_moments_tails_and_distance(device, method, dtype):
    n = 400_000
    x = rode.normal(n, dtype=dtype, method=method, rng=11, device=device).astype(float)
    assert stats.kstest(x, "norm").pvalue > 1e-4
    for k, moment, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96), (6, 15, 10170)):
        assert abs((x**k).mean() - moment) < 5 * math.sqrt(variance / n)
    for level in (3.0, 4.0):
        expected = n * 2 * special.ndtr(-level)
        assert abs((np.abs(x) > level).sum() - expected) < 5 * math.sqrt(expected)
    for lag in (1, 2, 3, 4):
        for y in (x, x * x - 1.0):
            product = (y[:-lag] * y[lag:]).mean() * math.sqrt(n) / y.var()
            assert abs(product) < 5


@pytest.mark.parametrize("strips", [2, 64, 256, 8192])
def test_ziggurat_of_any_size(device, strips):
    options = {"dtype": "float32", "method": "ziggurat", "table": "local", "device": device}
    x = rode.normal(200_000, strips=strips, rng=2, **options).astype(float)
    assert stats.kstest(x, "norm").pvalue > 1e-4
    if strips == 64:
        # Beyond r all come from the tail; the mean excess of the printed algorithm is twice too
        # large.
        r = ziggurat(64).r
        beyond = np.abs(x)[np.abs(x) > r]
        expected = math.exp(-r * r / 2) / math.sqrt(2 * math.pi) / special.ndtr(-r) - r
        assert abs(beyond.mean() - r - expected) < 5 * 0.25 / math.sqrt(beyond.size)


@pytest.mark.parametrize("strips", STRIPS)
def test_the_tail_starts_where_all_strips_have_one_area(strips):
    """If r is too large, the strips end below the peak (Riesinger 2017, figure 8.2)."""

    def strip_less_top(r):
        x = edges_of(r, strips)
        return area_of_strip(r) - x[1] * (1.0 - math.exp(-0.5 * x[1] ** 2))

    x, v = ziggurat(strips).x, ziggurat(strips).v
    f = np.exp(-0.5 * x * x)
    np.testing.assert_allclose(x[1:-1] * (f[:-2] - f[1:-1]), v, rtol=1e-9)
    r = TAIL_STARTS[strips]
    assert strip_less_top(r * (1 - 1e-14)) > 0.0 > strip_less_top(r * (1 + 1e-14))


@pytest.mark.statistical
def test_wallace_pool_has_a_chi_square_sum_only_when_corrected(device):
    n = 65536 * 8
    settings = {"rng": 5, "device": device, "dtype": "float64"}
    x = rode.normal(n, method="wallace", **settings).reshape(-1, 1024)
    y = rode.normal(n, method="wallace-uncorrected", **settings).reshape(-1, 1024)
    np.testing.assert_allclose((y * y).sum(axis=1), 1024.0, rtol=1e-9)
    assert stats.kstest((x * x).sum(axis=1), stats.chi2(1024).cdf).pvalue > 1e-4


# ---- sequences ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "dtype"), CASES)
def test_devices_agree(device, method, dtype):
    """Neither the number of threads nor the length changes a number."""
    settings = {"method": method, "dtype": dtype, "rng": 7}
    result = rode.normal(70_003, **settings, device=device)
    expected = rode.normal(70_003, **settings, device="cpu")
    with use_threads(1):
        np.testing.assert_array_equal(expected, rode.normal(70_003, **settings, device="cpu"))
    few = rode.normal(1001, **settings, device="cpu")
    np.testing.assert_array_equal(expected[:1001], few)
    eps = np.finfo(dtype).eps
    # The GPU's own logarithm; and the chi-square numbers of Wallace's method are of float32.
    rough = {("inverse", "float32"): 2e-6, ("wallace", "float64"): 1e-6}
    tolerance = rough.get((method, dtype), 40 * eps)
    if method == "box-muller-fast":  # r^2/2 of a pair has an absolute error on both devices
        radius = np.hypot(expected[:-1:2], expected[1::2]).repeat(2)
        tolerance = 3e-6 + 4e-7 / np.append(radius, abs(expected[-1]))
    off = np.abs(result - expected) > tolerance * np.maximum(1.0, np.abs(expected))
    assert off.sum() <= (2 if method == "ziggurat" else 0)
    assert np.isfinite(result).all()


@pytest.mark.simulator
def test_shapes_seeds_and_paths(device):
    assert isinstance(rode.normal(rng=1, device=device), float)
    assert rode.normal((3, 5), rng=1, device=device).shape == (3, 5)
    x = rode.normal(33, rng=1, device=device)
    np.testing.assert_array_equal(x, rode.normal(33, rng=1, device=device))
    assert np.abs(x - rode.normal(33, rng=1, path=1, device=device)).min() > 0.0
    out = np.empty(33)
    assert rode.normal(rng=1, out=out, device=device) is out
    np.testing.assert_array_equal(out, x)
    assert rode.normal(0, rng=1, device=device).size == 0


def test_generator_goes_on():
    """Spawned generators share no numbers."""
    generator = rode.Generator(1, device="cpu")
    first, second = generator.normal(size=10), generator.normal(2.0, 3.0, size=10)
    assert np.abs(first - (second - 2.0) / 3.0).min() > 0.0
    again = rode.Generator(1, device="cpu")
    np.testing.assert_array_equal(first, again.standard_normal(10))
    numbers = [g.normal(size=1000) for g in (again, *again.spawn(3))]
    assert np.unique(np.concatenate(numbers)).size == 4000


@pytest.mark.parametrize(("method", "dtype"), CASES)
def test_a_generator_gives_the_same_numbers_in_calls_of_any_sizes(method, dtype, device):
    """The whole sequence is that of `normal`, which is computed in one piece."""
    sizes = (5, 6, 0, 1, None, (3, 7), 8, 1029, 66_000, 2, 4)
    counts = [1 if size is None else math.prod(np.atleast_1d(size)) for size in sizes]
    settings = {"method": method, "dtype": dtype, "device": device}
    generator = rode.Generator(7, **settings)
    parts = [np.ravel(generator.standard_normal(size)) for size in sizes]
    whole = rode.Generator(7, **settings).standard_normal(sum(counts))
    assert np.array_equal(np.concatenate(parts), whole)
    seeds = np.random.SeedSequence([int(word) for word in philox.key(7)])
    assert np.array_equal(whole, rode.normal(sum(counts), rng=seeds, **settings))
    assert np.unique(whole).size > 0.99 * whole.size  # nothing is drawn twice


def test_a_generator_goes_on_after_calls_of_another_dtype_or_with_out(device):
    def draw(*sizes):
        generator = rode.Generator(3, device=device)
        assert generator.standard_normal(0).size == 0
        found = [generator.standard_normal(3, dtype="float32")]
        for size in sizes:
            out = np.empty(size)
            assert generator.standard_normal(out=out) is out
            found.append(out)
        found.append(generator.normal(1.0, 2.0, 5))
        with pytest.raises(ValueError, match="size"):
            generator.standard_normal(-1)
        return np.concatenate([*found, generator.standard_normal(4, dtype="float32")])

    whole = draw(11)
    assert np.array_equal(whole, draw(4, 7))
    assert np.array_equal(whole, draw(1, 3, 2, 5))
    assert np.unique(whole).size == whole.size


def test_a_request_may_begin_anywhere_in_the_sequence_of_blocks(device):
    """Near 2^31 blocks a launch ends, and 32 bits no longer count them."""
    here, key = Workspace(resolve(device)), (np.uint32(3), np.uint32(4))
    first, size = 2**31 - 700, 2400
    result = here.output((size,))
    _normals.loops(here.device).fill("box-muller", Words(key, 5, 6, first), result)
    found = here.result(result, (size,)).reshape(-1, 2)
    for block in (0, 511, 512, 699, 700, 701, 1199):
        number = first + block
        counter = (np.uint32(w) for w in (number % 2**31, number // 2**31, 5, 6))
        words = philox10(*counter, *key)
        expected = box_muller.box_muller_float64(*map(np.uint32, words), 1.0)
        np.testing.assert_allclose(found[block], expected, rtol=1e-12)


def test_wallace_matrices_are_orthogonal():
    for matrix in range(4):
        columns = [rotate(matrix, *map(float, e)) for e in np.eye(4)]
        a = np.array(columns).T
        np.testing.assert_array_equal(a @ a.T, np.eye(4))
