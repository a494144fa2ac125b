"""Q of a reduction: products with vectors of any type, and memory that is not uploaded."""

import numpy as np
import pytest

import hetero
import sbth


def reduce_random_band(n, d, dtype=np.float64, **options):
    """Return Q of the reduction of a random band matrix."""
    ab = np.random.default_rng(n).standard_normal((d + 1, n)).astype(dtype)
    return sbth.tridiagonalize(ab, keep_reflectors=True, **options)[2]


def test_products_with_vectors_and_bad_input():
    q = reduce_random_band(12, 3, device="cpu")
    x = np.arange(12.0)
    np.testing.assert_allclose(q.apply(q.apply(x), transposed=True), x, atol=1e-13)
    np.testing.assert_array_equal(q.apply(x[:, None])[:, 0], q.apply(x))
    with pytest.raises(ValueError, match="x must have 12 rows"):
        q.apply(np.ones(11))
    with pytest.raises(TypeError, match="x must hold numbers"):
        q.apply(["a"] * 12)
    tridiagonal = reduce_random_band(4, 1, device="cpu")
    np.testing.assert_array_equal(tridiagonal.apply(np.eye(4)), np.eye(4))
    for n, columns in ((0, 3), (0, 0), (9, 0)):
        q = reduce_random_band(n, 3, device="cpu")
        assert q.apply(np.ones((n, columns))).shape == (n, columns)


def test_vectors_of_any_type_are_multiplied_in_float64():
    """x is exact in float32, so the product must be that of the same x in float64."""
    q = reduce_random_band(40, 4, device="cpu")
    x = np.random.default_rng(0).integers(-8, 8, (40, 3))
    exact = q.apply(x.astype(float))
    for dtype in (np.float32, np.float16, np.int8):
        result = q.apply(x.astype(dtype))
        assert result.dtype == np.float64
        np.testing.assert_array_equal(result, exact)
    result = q.apply(x.astype(np.complex64))
    assert result.dtype == np.complex128
    np.testing.assert_array_equal(result.real, exact)


def test_results_have_the_more_precise_of_both_types():
    q = reduce_random_band(40, 4, np.float32, device="cpu")
    for dtype, expected in (("f4", "f4"), ("f8", "f8"), ("i8", "f8"), ("c8", "c8")):
        assert q.apply(np.ones(40, dtype)).dtype == np.dtype(expected)
    identity = reduce_random_band(2, 1, device="cpu")  # Q = 1, without a stage
    assert identity.apply(np.ones(2, np.float32)).dtype == np.float64


@pytest.mark.parametrize(("d", "stages"), [(5, 1), (40, 2)])
def test_only_the_band_is_uploaded(device, d, stages):
    """The reflections start as zeros, which a GPU can store itself."""
    n = 120
    ab = np.random.default_rng(0).standard_normal((d + 1, n))
    with hetero.profile() as profile:
        sbth.tridiagonalize(ab, stages=stages, keep_reflectors=True, device=device)
    assert profile.bytes_to_device <= ab.nbytes


@pytest.mark.simulator
@pytest.mark.parametrize("device", ["cuda"])
def test_memory_for_reflections_is_zero(require_cuda, device):
    """Memory is reused, so it must be cleared."""
    from hetero.cuda.driver import cuda
    from sbth._problem.working_matrix.cuda import zeros

    for size in (0, 1, 700):
        cuda.to_device(np.full(max(size, 1), np.nan, np.float32))
        values = zeros(size, np.dtype(np.float32))
        assert values.dtype == np.float32
        assert values.shape == (size,)
        if size:
            assert not values.copy_to_host().any()
