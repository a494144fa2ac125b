"""Panels of a full matrix whose updates are applied together, with NumPy in the place of a GPU."""

from types import SimpleNamespace

import numpy as np
import pytest

from host_cublas import use_host_memory
from sbth._back.compact_wy import qr_compact_wy
from sbth._reduction.dense_to_band import panels
from sbth._reduction.dense_to_band.back_transformation import apply_panels, join_panels


class ReductionOnHost(panels.PanelReduction):
    """The reduction in host memory: NumPy factors the panels, where a kernel does on a GPU."""

    def _factor(self, start, m, offset, number):
        a, b = self._a, self._b
        below = start + b
        v, u, r, _ = qr_compact_wy(np, a[below:, start:below])
        a[below : below + min(m, b), start:below] = r[: min(m, b)]
        for kept, x in ((self._v, v), (self._u, u)):
            whole = kept[offset : offset + m * b].reshape(m, b)
            whole[:] = 0
            whole[:, : x.shape[1]] = x
        left, right = (x.reshape(-1, self._pitch) for x in (self._left, self._right))
        rows, column = slice(number * b, number * b + m), 2 * number * b
        for target, first in ((left, column + b), (right, column)):
            target[rows, first : first + b] = self._v[offset : offset + m * b].reshape(m, b)

    def _finish_w(self, m, begin, number):
        b, column = self._b, 2 * number * self._b
        rows = slice(number * b, number * b + m)
        left, right = (x.reshape(-1, self._pitch)[rows] for x in (self._left, self._right))
        v = self._v[begin : begin + m * b].reshape(m, b)
        w = left[:, column : column + b] - 0.5 * (v @ self._product[:b])
        left[:, column : column + b] = right[:, column + b : column + 2 * b] = w


@pytest.fixture(autouse=True)
def _arrays_of_numpy(monkeypatch):
    monkeypatch.setattr(panels, "ready", lambda array: array)
    use_host_memory(monkeypatch)


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("group", [1, 2, 3, 4])
@pytest.mark.parametrize(("n", "b"), [(4, 2), (17, 3), (18, 3), (19, 3), (30, 4), (9, 1)])
@pytest.mark.parametrize("least", [0, 12])
def test_a_group_of_panels_reduces_like_single_ones(n, b, group, least, dtype, monkeypatch):
    monkeypatch.setattr(panels, "_PANELS_OF_GROUP", group)
    monkeypatch.setattr(panels, "_LEAST_ROWS_OF_GROUP", {"f": least, "c": least})
    rng = np.random.default_rng(n)
    a = rng.standard_normal((n, n)).astype(dtype)
    if a.dtype.kind == "c":
        a += 1j * rng.standard_normal((n, n))
    a += a.conj().T
    reduced = a.copy()
    # What is not written is NaN, so that reading it spoils the result.
    stream = SimpleNamespace(ptr=0)
    xp = SimpleNamespace(
        empty=lambda shape, dtype: np.full(shape, np.nan, dtype),
        zeros=np.zeros,
        cuda=SimpleNamespace(get_current_stream=lambda: stream),
    )
    reduction = ReductionOnHost(xp, reduced, b, keeps_factors=True)
    factors = [reduction.reduce(start) for start in range(0, n - b - 1, b)]
    reduction.finish()
    lower = np.tril(np.triu(reduced, -b))
    band = lower + np.tril(lower, -1).conj().T
    q = np.eye(n, dtype=dtype)
    apply_panels(np, join_panels(np, factors, b), q)
    np.testing.assert_allclose(q @ band @ q.conj().T, a, rtol=0, atol=1e-12)
    np.testing.assert_allclose(q.conj().T @ q, np.eye(n), rtol=0, atol=1e-13)
