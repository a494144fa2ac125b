"""Full matrices that a GPU reduces to tridiagonal form in one stage, and the panels of two stages.

The simulator runs the kernels as one block; several blocks need a GPU.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import sbth
from eigen_checks import assert_eigenpairs
from hermitian_matrices import hermitian, random_numbers
from hetero.cuda import launch
from hetero.cuda.driver import cuda
from lapack_matrices import TYPES

pytestmark = [pytest.mark.cuda, pytest.mark.usefixtures("require_cuda")]


OURS = {"method": "sbth", "device": "cuda"}


# ---- the kernels, in the simulator, too --------------------------------------------------------


def reduce_by_kernel(a, lower, capacity):
    """Return T, Q and the power of two of the kernel that runs as one block."""
    from sbth._gpu.block_sums import MOST_THREADS
    from sbth._reduction.one_stage import reduction_kernels as kernels

    n, dtype = len(a), a.dtype
    blank = np.full(3 * n + 2, np.nan, dtype)
    numbers, vectors = cuda.to_device(blank), cuda.to_device(np.full(n * n, np.nan, dtype))
    work = cuda.to_device(np.full(max(n - capacity, 1) * n, np.nan, dtype))
    exchange = kernels.Exchange(
        cuda.to_device(blank[: 2 * n]),
        cuda.to_device(blank[: 2 * n]),
        cuda.to_device(np.zeros(1)),
        cuda.to_device(np.zeros(2, np.int32)),
    )
    size = dtype.itemsize * (kernels.scratch_size(n, 1) + min(capacity, n) * n)
    reduce = kernels.KERNELS[f"reduce_{dtype}"]
    ways = (n, capacity), (lower, True)
    reduce[1, MOST_THREADS, 0, size](
        cuda.to_device(a.reshape(-1)), *ways, work, exchange, numbers, vectors
    )
    d, e, taus = numbers.copy_to_host()[: 3 * n].reshape(3, n).astype(float)
    q = np.eye(n)
    for tau, u in zip(taus, vectors.copy_to_host().reshape(n, n)[: n - 1], strict=False):
        q = q - tau * np.outer(q @ u, u)
    t = np.diag(d) + np.diag(e[: n - 1], 1) + np.diag(e[: n - 1], -1)
    return t, q, numbers.copy_to_host()[3 * n :]


@pytest.mark.simulator
@pytest.mark.parametrize(("n", "lower", "capacity", "dtype"), [
    (1, True, 1, np.float64), (2, False, 2, np.float32), (9, True, 20, np.float64),
    (9, False, 4, np.float64), (6, True, 0, np.float32),
])  # fmt: skip
def test_one_block_reduces_a_matrix(n, lower, capacity, dtype):
    a = hermitian(n, dtype)
    triangle = np.tril(a) if lower else np.triu(a)
    t, q, (factor, largest) = reduce_by_kernel(triangle, lower, capacity)
    assert factor == 1.0
    assert largest == np.abs(a).max()
    eps = np.finfo(dtype).eps
    np.testing.assert_allclose(q @ t @ q.T, a, rtol=0, atol=8 * n * eps * np.abs(a).max())
    np.testing.assert_allclose(q.T @ q, np.eye(n), rtol=0, atol=8 * n * eps)


@pytest.mark.simulator
def test_the_kernel_scales_by_a_power_of_two_and_reports_what_is_not_finite():
    a = hermitian(5)
    for size in (1e-200, 1e200):
        t, q, (factor, _) = reduce_by_kernel(a * size, True, 2)
        assert np.frexp(factor)[0] == 0.5
        assert 0.1 < np.abs(t).max() < 10
        back = q @ t @ q.T / factor
        np.testing.assert_allclose(back, a * size, rtol=0, atol=1e-14 * size * np.abs(a).max())
    for value in (np.nan, np.inf, -np.inf):
        a[3, 1] = value
        assert not np.isfinite(reduce_by_kernel(a, True, 4)[2][1])


@pytest.mark.simulator
@pytest.mark.parametrize(
    ("m", "b", "dtype"),
    [*((m, b, t) for m, b in ((1, 1), (3, 5), (9, 3)) for t in ("f8", "c16")), (8, 4, "f4")],
)
@pytest.mark.parametrize("has_zeros", [False, True])
def test_one_block_factors_a_panel(m, b, dtype, has_zeros):
    from sbth._back.triangular_factors import COLUMNS, THREADS
    from sbth._reduction.dense_to_band import panel_kernels as kernels

    dtype, n = np.dtype(dtype), 14
    a = hermitian(n, dtype)
    row, column = n - m, 2
    if has_zeros:  # reflections that change nothing
        a[row + 1 :, column] = 0
        a[row + 2 :, column + 1] = 0
    place = row * n + column, n, m, b, m, b, 0, 2 * b
    matrix = cuda.to_device(a.reshape(-1))
    factors = kernels.Factors(
        *(cuda.to_device(np.full(count * b * m, np.nan, dtype)) for count in (2, 2, 1, 1))
    )
    sums = np.full(2 * COLUMNS * kernels.MOST_BLOCKS, np.nan, dtype)
    exchange = kernels.Exchange(
        cuda.to_device(sums),
        cuda.to_device(sums[: 2 * COLUMNS]),
        cuda.to_device(np.zeros(2, np.int32)),
    )
    size = dtype.itemsize * kernels.shared_size(m)
    factor = kernels.KERNELS[f"factor_{dtype}"]
    arguments = matrix, place, 0, factors, exchange, 0
    launch.launch(factor, 1, THREADS, 0, arguments, size)
    wide = np.result_type(dtype, float)
    v, u = (x.copy_to_host().reshape(m, b).astype(wide) for x in (factors.v, factors.u))
    q = np.eye(m) - u @ v.conj().T
    r = np.triu(matrix.copy_to_host().reshape(n, n)[row:, column : column + b])
    eps = np.finfo(dtype).eps
    np.testing.assert_allclose(q.conj().T @ q, np.eye(m), rtol=0, atol=20 * eps)
    np.testing.assert_allclose(q @ r, a[row:, column : column + b], rtol=0, atol=50 * eps)
    left, right = (x.copy_to_host().reshape(m, 2 * b) for x in (factors.left, factors.right))
    np.testing.assert_array_equal(left[:, b:], v.astype(dtype))
    np.testing.assert_array_equal(right[:, :b], v.astype(dtype))


@pytest.mark.simulator
@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
def test_w_of_a_panel(dtype):
    from sbth._reduction.dense_to_band.update_kernels import KERNELS, THREADS

    m, b, pitch, dtype = 7, 3, 11, np.dtype(dtype)
    rng = np.random.default_rng(3)
    left, right, v, p = (
        random_numbers(rng, shape, dtype) for shape in ((m, pitch), (m, pitch), (m + 2, b), (b, b))
    )
    expected_left, expected_right = left.copy(), right.copy()
    w = left[:, 4 : 4 + b] - v[2:] @ p / 2
    expected_left[:, 4 : 4 + b] = expected_right[:, 6 : 6 + b] = w
    on_gpu = [cuda.to_device(x.reshape(-1)) for x in (left, right, v, p)]
    place = m, b, pitch, 4, 6, 2 * b
    KERNELS[f"finish_{dtype}"][1, THREADS, 0, p.nbytes](*on_gpu, place)
    eps = np.finfo(dtype).eps
    for x, expected in zip(on_gpu, (expected_left, expected_right), strict=False):
        np.testing.assert_allclose(x.copy_to_host().reshape(m, pitch), expected, atol=20 * eps)


@pytest.mark.simulator
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_triangular_factors_of_products_of_reflections(dtype):
    from sbth._back.triangular_factors import KERNELS, SHARED_SIZE, THREADS

    rng = np.random.default_rng(0)
    count, m, b = 2, 6, 3
    dtype = np.dtype(dtype)
    v = np.tril(random_numbers(rng, (count, m, b), dtype), -1)
    tau = np.zeros((count, b))
    for i in range(count):
        for j in range(b):
            if (i, j) != (1, 1):  # one that changes nothing
                v[i, j, j] = 1.0
                tau[i, j] = 2.0 / np.vdot(v[i, :, j], v[i, :, j]).real
            else:
                v[i, :, j] = 0.0
    grams = cuda.to_device((v.conj().transpose(0, 2, 1) @ v).reshape(-1))
    taus_on_gpu, size = cuda.to_device(tau.reshape(-1)), SHARED_SIZE * dtype.itemsize
    arguments = grams, taus_on_gpu, b
    launch.launch(KERNELS[f"form_{dtype}"], count, THREADS, 0, arguments, size)
    for t, of_matrix, taus in zip(grams.copy_to_host().reshape(count, b, b), v, tau, strict=True):
        product = np.eye(m)
        for j in range(b):
            u = of_matrix[:, j]
            product = product @ (np.eye(m) - taus[j] * np.outer(u, u.conj()))
        whole = np.eye(m) - of_matrix @ t @ of_matrix.conj().T
        np.testing.assert_allclose(whole, product, atol=1e-14)
        assert np.all(np.tril(t, -1) == 0)


# ---- whole matrices, on a GPU ------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [1, 2, 3, 64, 65, 131, 132, 133, 400, 1000, 1201, 2000, 2700, 2800])
def test_orders(n, dtype):
    """From 1800 rows on, some are in global memory (in float32 from 2500)."""
    a = hermitian(n, dtype)
    assert_eigenpairs(a, *sbth.eigh(np.tril(a), **OURS))
    alone = sbth.eigvalsh(np.tril(a), **OURS)
    assert_eigenpairs(a, alone)
    if n in (133, 2000):
        np.testing.assert_array_equal(alone, sbth.eigvalsh(np.tril(a), **OURS))
        assert_eigenpairs(a, *sbth.eigh(np.triu(a), lower=False, **OURS))


@pytest.mark.parametrize("kind", TYPES)
def test_types_of_matrices(kind):
    band, _ = TYPES[kind](300, 20)
    a = sbth.dense_from_band(band, lower=True)
    assert_eigenpairs(a, *sbth.eigh(a, **OURS))


def test_what_is_not_finite_is_refused():
    a = hermitian(300)
    a[200, 100] = np.nan
    for solve in (sbth.eigvalsh, sbth.eigh):
        with pytest.raises(ValueError, match=r"a must be finite: its lower triangle holds NaN"):
            solve(a, **OURS)
    upper = sbth.eigh(a, lower=False, eigvals_only=True, **OURS)
    assert_eigenpairs(hermitian(300), upper)


@pytest.mark.parametrize(
    ("n", "bandwidth", "dtype"),
    [
        *((66, 64, "f8"), (200, 17, "f8"), (1000, 64, "f4")),
        *((3000, 64, "f8"), (300, 1, "f8"), (90, 80, "f8")),
    ],
)
def test_panels_keep_the_eigenvalues(n, bandwidth, dtype):
    a = hermitian(n, dtype)
    options = {"lower": True, "device": "cuda"}
    band, again = (sbth.full_to_band(a, bandwidth, **options) for _ in range(2))
    np.testing.assert_array_equal(band, again)
    computed = np.linalg.eigvalsh(sbth.dense_from_band(band, lower=True).astype(float))
    assert_eigenpairs(a, computed.astype(dtype), threshold=1.0)


def test_several_threads_at_once():
    """Kernels whose blocks wait for each other do not wait for those of another one."""
    import cupy

    def solve(n):
        with cupy.cuda.Stream(non_blocking=True):
            a = hermitian(n)
            values = sbth.eigvalsh(cupy.asarray(a), method="sbth").get()
            return np.abs(values - np.linalg.eigvalsh(a)).max() / np.linalg.norm(a, 1)

    with ThreadPoolExecutor(4) as threads:
        errors = list(threads.map(solve, [300, 1500, 700, 2800, 400, 1000, 3000, 90]))
    assert max(errors) < 3000 * np.finfo(float).eps
