"""The ratios of LAPACK's test program for band matrices (dchksb), for its types of matrices."""

import numpy as np
import pytest

import sbth
from eigen_checks import EPS, THRESHOLD
from hermitian_matrices import tridiagonal
from lapack_matrices import TYPES, small_beside_the_diagonal
from sbth import reference

ORDERS = {1: (53, 7), 2: (75, 34)}
"""Order n and bandwidth d of a band that is reduced in one stage, or in two."""


@pytest.mark.parametrize("stages", ORDERS)
@pytest.mark.parametrize("kind", TYPES)
def test_ratios(device, stages, kind):
    n, d = ORDERS[stages]
    ab, true = TYPES[kind](n, d)
    main, below, q = sbth.tridiagonalize(
        ab, lower=True, stages=stages, keep_reflectors=True, device=device
    )
    values = sbth.eigvalsh_tridiagonal(main, below, device=device, method="sbth")
    # All in units of the largest element: norms of products would over- or underflow.
    unit = max(np.max(np.abs(ab)), np.finfo(float).tiny)
    a = reference.dense_from_band(ab / unit, lower=True)
    t = tridiagonal(main / unit, below / unit)
    full, norm = q.apply(np.eye(n)), np.linalg.norm(a, 1) or 1.0
    assert np.linalg.norm(a - full @ t @ full.T, 1) / (norm * n * EPS) < THRESHOLD
    assert np.linalg.norm(np.eye(n) - full @ full.T, 1) / (n * EPS) < THRESHOLD
    other = np.linalg.eigvalsh(t)
    largest = np.max(np.abs(other)) or 1.0
    assert np.max(np.abs(values / unit - other)) / (largest * EPS) < THRESHOLD
    if true is not None:
        assert np.max(np.abs(values - true) / unit) / (largest * n * EPS) < THRESHOLD


@pytest.mark.parametrize("stages", ORDERS)
@pytest.mark.parametrize(("dtype", "size"), [(np.float64, 1e-157), (np.float32, 1e-21)])
def test_reflections_are_orthogonal_when_squares_underflow(device, stages, dtype, size):
    n, d = ORDERS[stages]
    ab, _ = small_beside_the_diagonal(n, d, size, dtype)
    main, below, q = sbth.tridiagonalize(
        ab, lower=True, stages=stages, keep_reflectors=True, device=device
    )
    full, eps = q.apply(np.eye(n)), np.finfo(dtype).eps
    assert np.linalg.norm(np.eye(n) - full @ full.T, 1) / (n * eps) < THRESHOLD
    values = sbth.eigvalsh_tridiagonal(main, below, device=device, method="sbth")
    np.testing.assert_allclose(values, np.sort(ab[0]), rtol=0, atol=THRESHOLD * n * eps)
