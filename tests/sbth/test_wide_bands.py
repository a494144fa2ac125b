"""Bands that are reduced in two stages, and the reflections of every reduction."""

import numpy as np
import pytest

import sbth
from sbth import reference, tridiagonalization

EPS = np.finfo(float).eps


def band(n, d, dtype=float):
    """Return a random band matrix."""
    return np.random.default_rng(n + d).standard_normal((d + 1, n)).astype(dtype)


@pytest.fixture
def two_stages(monkeypatch):
    """Two stages from 33 subdiagonals on, on every device."""
    monkeypatch.setattr(tridiagonalization, "TWO_STAGE_BANDWIDTH", {"cpu": 33, "cuda": 33})


def reconstruction_errors(ab, device, **options):
    """Return |A - Q T Q^T| / (n eps |A|) and |1 - Q^T Q| / (n eps), as in LAPACK's tests."""
    d, e, q = sbth.tridiagonalize(ab, keep_reflectors=True, device=device, **options)
    n, a = len(d), reference.dense_from_band(ab).astype(float)
    t = np.diag(d) + np.diag(e, 1) + np.diag(e, -1)
    full = q.apply(np.eye(n))
    unit = n * np.finfo(d.dtype).eps
    norm = max(np.linalg.norm(a, 1), np.finfo(float).tiny)
    return (
        np.linalg.norm(full @ t @ full.T - a, 1) / (norm * unit),
        np.linalg.norm(full.T @ full - np.eye(n), 1) / unit,
    )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "d"), [(34, 33), (100, 40), (200, 64), (301, 77), (300, 299)])
def test_two_stages(two_stages, device, n, d, dtype):
    ab = band(n, d, dtype)
    assert max(reconstruction_errors(ab, device)) < 20
    computed = sbth.eigvals_banded(ab, device=device, method="sbth")
    true = np.linalg.eigvalsh(reference.dense_from_band(ab).astype(float))
    assert np.max(np.abs(computed - true)) < 5 * n * np.finfo(dtype).eps * np.max(np.abs(true))


@pytest.mark.parametrize(("n", "d"), [(3, 2), (20, 19), (61, 5), (90, 33), (130, 64)])
def test_reflections_rebuild_the_matrix(device, n, d):
    ab = band(n, d)
    for method in tridiagonalization.METHODS[device]:
        assert max(reconstruction_errors(ab, device, method=method)) < 20


def test_in_flight_does_not_change_results(two_stages, device):
    ab = band(300, 40)
    base = sbth.tridiagonalize(ab, device=device)
    for in_flight in (1, 2, 3, None):
        computed = sbth.tridiagonalize(ab, in_flight=in_flight, device=device)
        np.testing.assert_array_equal(computed[0], base[0])
        np.testing.assert_array_equal(computed[1], base[1])


@pytest.mark.parametrize("n", [40, 77])
def test_hard_matrices(two_stages, device, n):
    for diagonals in ((0.0,), (1.0,), (0.0, 1.0), (1.0, *[0.0] * 34, 1.0)):
        ab = np.zeros((37, n))
        for k, value in enumerate(diagonals):
            ab[k] = value
        assert max(reconstruction_errors(ab, device)) < 20


def test_reflections_of_vectors_and_bad_input():
    *_, q = sbth.tridiagonalize(band(12, 3), keep_reflectors=True, device="cpu")
    x = np.arange(12.0)
    back = q.apply(q.apply(x), transposed=True)
    np.testing.assert_allclose(back, x, atol=1e-13)
    np.testing.assert_array_equal(q.apply(x[:, None])[:, 0], q.apply(x))
    with pytest.raises(ValueError, match="x must have 12 rows"):
        q.apply(np.ones(11))
    plain = sbth.tridiagonalize(np.ones((2, 4)), keep_reflectors=True, device="cpu")[2]
    np.testing.assert_array_equal(plain.apply(np.eye(4)), np.eye(4))
