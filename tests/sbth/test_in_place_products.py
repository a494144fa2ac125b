"""Products that cuBLAS adds to matrices, by a stand-in that computes in host memory."""

import ctypes
from types import SimpleNamespace

import numpy as np
import pytest

from sbth import _in_place_products
from sbth._in_place_products import Operand, add_products, address_of, multiply_at


def columns_at(address, rows, columns, pitch):
    """Return a matrix that is stored by columns in host memory."""
    pointer = ctypes.cast(address, ctypes.POINTER(ctypes.c_double))
    flat = np.ctypeslib.as_array(pointer, ((columns - 1) * pitch + rows,))
    return np.lib.stride_tricks.as_strided(flat, (rows, columns), (8, 8 * pitch))


def multiply_in_host_memory(
    handle, op_a, op_b, m, n, k, alpha, a, lda, step_a, b, ldb, step_b, beta, c, ldc, step_c, count
):
    """Compute what cuBLAS's dgemmStridedBatched does."""
    for i in range(count):
        left = columns_at(a + 8 * i * step_a, *((k, m) if op_a else (m, k)), lda)
        right = columns_at(b + 8 * i * step_b, *((n, k) if op_b else (k, n)), ldb)
        target = columns_at(c + 8 * i * step_c, m, n, ldc)
        factor, keep = (ctypes.c_double.from_address(p).value for p in (alpha, beta))
        product = factor * (left.T if op_a else left) @ (right.T if op_b else right)
        target[...] = product + (keep * target if keep else 0.0)


@pytest.fixture
def _stand_in(monkeypatch):
    """Replace cuBLAS."""
    routines = multiply_in_host_memory, lambda: 0, (0, 1)
    monkeypatch.setattr(_in_place_products, "_cublas", lambda dtype: routines)


@pytest.mark.usefixtures("_stand_in")
@pytest.mark.parametrize("x_is_transposed", [False, True])
@pytest.mark.parametrize("y_is_transposed", [False, True])
def test_operands_of_batches(x_is_transposed, y_is_transposed):
    rng = np.random.default_rng(0)
    x, y, c = (rng.standard_normal(s) for s in ((3, 5, 9), (3, 9, 4), (3, 5, 8)))
    expected = -1.0 * c[:, :, :4] + 0.5 * (x @ y)
    operands = []
    for matrices, is_transposed in ((x, x_is_transposed), (y, y_is_transposed)):
        stored = np.ascontiguousarray(matrices.transpose(0, 2, 1) if is_transposed else matrices)
        pitch = stored.shape[2]
        step = stored.shape[1] * pitch
        operands.append((stored, Operand(address_of(stored), pitch, step, is_transposed)))
    (_, left), (_, right) = operands
    target = Operand(address_of(c), 8, 40)
    untouched = c[:, :, 4:].copy()
    multiply_at("d", (5, 9, 4), target, left, right, 0.5, keep=-1.0, count=3)
    np.testing.assert_allclose(c[:, :, :4], expected, atol=1e-14)
    np.testing.assert_array_equal(c[:, :, 4:], untouched)
    assert left.transposed().transposed() == left


@pytest.mark.usefixtures("_stand_in")
@pytest.mark.parametrize("n", [2, 3, 64, 65, 66, 150])
@pytest.mark.parametrize("m", [1, 7])
def test_blocks_of_reflections_are_applied_one_after_the_other(n, m):
    from sbth._one_stage.back_transformation import apply_reflections, form_blocks

    rng = np.random.default_rng(n)
    rows = np.full((n, n), np.nan)  # the kernel leaves the last row undefined
    rows[: n - 1] = np.triu(rng.standard_normal((n - 1, n)), 1)
    taus = 2.0 / np.einsum("ij,ij->i", rows[: n - 1], rows[: n - 1])
    taus[n // 2 : n // 2 + 1] = 0.0
    x = rng.standard_normal((n, m))
    expected = x.copy()
    for tau, u in zip(taus[::-1], rows[n - 2 :: -1], strict=True):
        expected -= tau * np.outer(u, u @ expected)
    reduction = SimpleNamespace(vectors=rows, taus=taus)
    apply_reflections(np, form_blocks(np, reduction), x)
    np.testing.assert_allclose(x, expected, atol=1e-12)


def test_arrays_of_numpy_are_multiplied_by_numpy():
    rng = np.random.default_rng(1)
    x, y, c = (rng.standard_normal(s) for s in ((2, 3, 4), (2, 4, 5), (2, 3, 5)))
    expected = 2.0 * c + 3.0 * (x @ y)
    add_products(np, c, x, y, 3.0, keep=2.0)
    np.testing.assert_allclose(c, expected, atol=1e-14)
