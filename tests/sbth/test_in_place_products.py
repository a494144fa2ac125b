"""Products that cuBLAS adds to matrices, by a stand-in that computes in host memory."""

from types import SimpleNamespace

import numpy as np
import pytest

from host_cublas import use_host_memory
from sbth._vendor.products import Operand, address_of, multiply_at


@pytest.fixture
def _stand_in(monkeypatch):
    """Replace cuBLAS."""
    use_host_memory(monkeypatch)


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


@pytest.mark.usefixtures("_stand_in")
@pytest.mark.parametrize("n", [2, 3, 64, 65, 66, 150])
@pytest.mark.parametrize("m", [1, 7])
def test_blocks_of_reflections_are_applied_one_after_the_other(n, m):
    from sbth._reduction.one_stage.back_transformation import apply_reflections, form_blocks

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
