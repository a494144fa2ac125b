"""Properties that hold for any input: Hypothesis looks for one that breaks them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import linalg, special

import lbm
import sbth
import stablegpu

ALPHAS = st.floats(0.1, 2.0)
BETAS = st.floats(-1.0, 1.0)
SHAPES = arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5)


def real_arrays(low=-1e6, high=1e6):
    """Arrays of any real dtype and shape."""
    floats = arrays.arrays(
        st.sampled_from(["f4", "f8", ">f8"]), SHAPES, elements=st.floats(low, high, width=32)
    )
    integers = arrays.arrays("i4", SHAPES, elements=st.integers(max(int(low), -99), 99))
    return st.one_of(floats, integers)


def layouts(array):
    """Return the same values in other places of memory: reversed, read-only, Fortran order."""
    reverse = (slice(None, None, -1),) * array.ndim
    reversed_twice = np.ascontiguousarray(array[reverse])[reverse]
    read_only = array.copy()
    read_only.flags.writeable = False
    return reversed_twice, read_only, np.asfortranarray(array)


@given(x=real_arrays())
def test_the_layout_of_an_array_does_not_matter(x):
    before, expected = x.copy(), stablegpu.log_ndtr(x, device="cpu")
    for same in layouts(x):
        np.testing.assert_array_equal(stablegpu.log_ndtr(same, device="cpu"), expected)
    assert np.shape(expected) == x.shape
    np.testing.assert_array_equal(x, before)
    tolerance = 1e-5 if np.asarray(expected).dtype == np.float32 else 1e-12
    np.testing.assert_allclose(expected, special.log_ndtr(x.astype(float)), rtol=tolerance)


@given(alpha=ALPHAS, beta=BETAS, x=real_arrays(-1e3, 1e3))
def test_probabilities_are_probabilities(alpha, beta, x):
    distribution = stablegpu.stable(alpha, beta, parameterization="S0", device="cpu")
    x = np.sort(x.astype(float).ravel())
    result = distribution.evaluate(x)
    assert np.all(result.pdf >= 0.0)
    assert np.all((result.cdf >= 0.0) & (result.cdf <= 1.0))
    np.testing.assert_allclose(result.cdf + result.sf, 1.0, rtol=1e-12)
    assert np.all(np.diff(result.cdf) >= -1e-14)
    mirrored = stablegpu.stable(alpha, -beta, parameterization="S0", device="cpu")
    np.testing.assert_allclose(mirrored.sf(-x), result.cdf, rtol=1e-9, atol=1e-300)


@given(alpha=ALPHAS, beta=BETAS, p=st.floats(1e-6, 1.0 - 1e-6))
def test_quantiles_invert_the_distribution_function(alpha, beta, p):
    distribution = stablegpu.stable(alpha, beta, parameterization="S0", device="cpu")
    assert distribution.cdf(distribution.ppf(p)) == pytest.approx(p, rel=1e-7)


BAND_SHAPES, ENTRIES = (
    st.tuples(st.integers(1, 4), st.integers(4, 12)),
    st.floats(-1e3, 1e3, width=32),
)


@given(band=arrays.arrays("f8", BAND_SHAPES, elements=ENTRIES))
def test_eigenvalues_are_those_of_lapack(band):
    expected = linalg.eigvalsh(sbth.dense_from_band(band, lower=True))
    scale = np.abs(expected).max() + 1e-300
    computed = sbth.eigvals_banded(band, lower=True, device="cpu")
    np.testing.assert_allclose(computed, expected, rtol=0.0, atol=1e-13 * scale)


@settings(max_examples=8)
@given(shape=st.tuples(*(st.integers(1, 6),) * 3),
       pattern=st.sampled_from(["ab", "aa", "esoteric"]), seed=st.integers(0, 1000))  # fmt: skip
def test_a_closed_flow_keeps_its_mass(shape, pattern, seed):
    cells = np.random.default_rng(seed).random(shape) < 0.3
    cells[0, 0, 0] = False
    rocks = {"rocks": lbm.Solid(cells)} if cells.any() else {}
    flow = lbm.Simulation(shape, boundaries=rocks, u=(0.02, 0.01, 0.0), pattern=pattern,
                          dtype="float64", device="cpu")  # fmt: skip
    before = flow.drho.sum()
    flow.run(5)
    assert flow.drho.sum() == pytest.approx(before, abs=1e-12)
