"""Eigenvectors of band and full matrices: LAPACK's ratios by NumPy, and back-transformation."""

import numpy as np
import pytest

import sbth
from eigen_checks import assert_eigenpairs
from hermitian_matrices import hermitian
from host_cublas import use_host_memory
from lapack_matrices import TYPES
from sbth._back import diamonds
from sbth._back.diamonds import Layout

THRESHOLD = 5.0
"""LAPACK's test programs accept 20; values below 2 were seen."""

OURS = {"device": "cpu", "method": "sbth"}
CPU = {"device": "cpu"}


def require_pairs(a, w, v):
    """Check all eigenpairs of a matrix."""
    assert v.shape == a.shape
    assert_eigenpairs(a, w, v, threshold=THRESHOLD)


@pytest.mark.parametrize("kind", TYPES)
def test_bands(device, kind):
    options = OURS
    if device == "cuda":
        pytest.importorskip("cupy")
        options = {"device": device}
    ab, _ = TYPES[kind](53, 7)
    full = sbth.dense_from_band(ab, lower=True)
    require_pairs(full, *sbth.eig_banded(ab, lower=True, **options))


@pytest.mark.parametrize("kind", ["random", "clustered", "small beside the diagonal"])
def test_bands_that_are_reduced_in_two_stages(device, kind):
    """From 384 subdiagonals on the CPU does so, a GPU from 65 on."""
    n, d, options = 400, 390, OURS
    if device == "cuda":
        pytest.importorskip("cupy")
        n, d, options = 150, 70, {"device": device}
    ab, _ = TYPES[kind](n, d)
    full = sbth.dense_from_band(ab, lower=True)
    require_pairs(full, *sbth.eig_banded(ab, lower=True, **options))


@pytest.mark.parametrize("n", [1, 2, 64, 66, 200])
def test_full_matrices(n):
    a = hermitian(n)
    require_pairs(a, *sbth.eigh(np.tril(a), **CPU))
    junk = np.triu(a) + np.tril(np.full((n, n), np.nan), -1)
    require_pairs(a, *sbth.eigh(junk, lower=False, **CPU))


def test_blocks_keep_their_own_accuracy():
    """A block with elements of 1e-150 beside one with elements of 1e150, and single rows."""
    ab = np.random.default_rng(0).standard_normal((4, 50))
    ab *= np.where(np.arange(50) < 20, 1e150, 1e-150)
    for k in range(1, 4):
        ab[k, 20 - k : 20] = 0.0
        ab[k, 47 - k :] = 0.0
    w, v = sbth.eig_banded(ab, lower=True, **OURS)
    full = sbth.dense_from_band(ab, lower=True)
    large, small = np.abs(v[:20]).max(axis=0) > 0, np.abs(v[20:]).max(axis=0) > 0
    assert not np.any(large & small)
    require_pairs(full[:20, :20], w[large], v[:20, large])
    require_pairs(full[20:, 20:], w[small], v[20:, small])


@pytest.mark.parametrize(
    ("solve", "method"),
    [(sbth.eigh, "lapack"), (sbth.eig_banded, "lapack"), (sbth.eig_banded, "sbth")],
)
def test_memory_is_forecast(solve, method, monkeypatch):
    merge_tree = "sbth._tridiagonal.divide_and_conquer.merge_tree"
    monkeypatch.setattr(f"{merge_tree}.SMALL", 0)
    monkeypatch.setattr("sbth._route.route._LEAST_LARGE", 0)
    monkeypatch.setattr(f"{merge_tree}.free_bytes", lambda device, need: need - 1)
    begun = "sbth._problem.inspection.safe_scale"
    monkeypatch.setattr(begun, lambda *_: pytest.fail("it has begun"))
    with pytest.raises(MemoryError, match="all eigenvectors of a matrix of order 90 needs"):
        solve(np.ones((90, 90)), device="cpu", method=method)


def in_waves(layout, vectors, x):
    """Return Q x by products of diamonds, as on a GPU."""
    return diamonds.apply_in_waves(
        np, layout, diamonds.form_all_diamonds(np, layout, vectors, x.dtype), x
    )


@pytest.mark.parametrize(
    ("n", "d", "stages"), [(50, 7, 1), (33, 2, 1), (10, 9, 1), (130, 40, 2), (64, 33, 2)]
)
def test_waves_of_diamonds_give_the_same_product(n, d, stages, monkeypatch):
    """What a GPU computes by batched products, here by NumPy."""
    use_host_memory(monkeypatch)
    ab = np.random.default_rng(n).standard_normal((d + 1, n))
    *_, q = sbth.tridiagonalize(ab, keep_reflectors=True, stages=stages, device="cpu")
    x = np.eye(n)[:, : n // 2 + 1]
    product = x
    for stage in q.stages[::-1]:
        product = in_waves(stage.layout, stage.vectors, product)
    np.testing.assert_allclose(product, q.apply(x), rtol=0, atol=1e-14)
    np.testing.assert_allclose(q.apply(product, transposed=True), x, rtol=0, atol=1e-14)


def test_waves_of_complex_diamonds(monkeypatch):
    """Reflections 1 - tau v v^H with real tau, applied one after the other and in waves."""
    use_host_memory(monkeypatch)
    n, d, rng = 29, 4, np.random.default_rng(0)
    vectors = rng.standard_normal((n - 2, n)) + 1j * rng.standard_normal((n - 2, n))
    x = rng.standard_normal((n, 6)) + 1j * rng.standard_normal((n, 6))
    expected = x.copy()
    for column in reversed(range(n - 2)):
        for start in reversed(range(column + 1, n, d)):
            part = vectors[column, start : start + d]
            if start == 9:  # one that changes nothing
                part[:] = 0
                continue
            v = np.concatenate(([1.0], part[1:]))
            part[0] = tau = 2.0 / np.vdot(v, v).real
            rows = expected[start : start + d]
            rows -= tau * np.outer(v, v.conj() @ rows)
    product = in_waves(Layout(n, d, 1, n - 2), vectors, x)
    np.testing.assert_allclose(product, expected, rtol=0, atol=1e-13)
