"""Eigenvalues of tridiagonal matrices by bisection, and of band matrices."""

import numpy as np
import pytest

import hetero
import sbth
from hermitian_matrices import tridiagonal

EPS = np.finfo(float).eps


def solve(d, e, device, **options):
    """Return eigenvalues by bisection."""
    return sbth.eigvalsh_tridiagonal(d, e, **options, device=device, method="sbth")


def error(computed, true):
    """Return the largest error in units of eps times the largest eigenvalue."""
    return np.max(np.abs(computed - true)) / (np.max(np.abs(true)) * EPS)


@pytest.mark.parametrize("n", [1, 2, 3, 17, 200, 1500])
def test_random_matrices(device, n):
    rng = np.random.default_rng(n)
    d, e = rng.standard_normal(n), rng.standard_normal(n - 1)
    assert error(solve(d, e, device), np.linalg.eigvalsh(tridiagonal(d, e))) < 10 + n


def test_wilkinson_and_clement(device):
    """The eigenvalues are pairs 7e-14 apart, and integers."""
    computed = solve(np.abs(np.arange(-10.0, 11.0)), np.ones(20), device)
    assert computed[-1] == pytest.approx(10.746194182903393, abs=1e-14)
    assert 5e-14 < computed[-1] - computed[-2] < 9e-14
    k = np.arange(1, 50)
    computed = solve(np.zeros(50), np.sqrt(k * (50 - k)), device)
    np.testing.assert_allclose(computed, np.arange(-49, 50, 2), atol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0, 2.0], [1.0, 2.0]), r"shapes \(n,\) and \(n - 1,\)"),
        (([1.0, np.nan], [1.0]), "d must be finite, got nan at index 1"),
        (([1.0, 2.0], [1.0], "x"), "select must be one of"),
        (([1.0, 2.0], [1.0], "i", (0, 2)), "indices 0 <= first <= last < 2"),
        (([1.0, 2.0], [1.0], "v", (2, 1)), "must be ascending"),
        (([1.0, 2.0], [1.0], "v"), "select_range must be a pair"),
        (([1.0, 2.0], [1.0], "v", (1.0,)), "select_range must be a pair"),
        (([1.0, 2.0], [1.0], "i", ("a", 1)), "select_range must be a pair of numbers"),
        (([1.0, 2.0], [1.0], "i", (0, np.nan)), "select_range must hold indices"),
        (([1.0, 2.0], [1.0], "i", (0.5, 1)), "select_range must hold indices"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        sbth.eigvalsh_tridiagonal(*arguments)


@pytest.mark.parametrize("solve", [sbth.eigvals_banded, sbth.eigvalsh])
def test_a_wrong_selection_is_refused_before_the_reduction(solve):
    for options in ({"select": "x"}, {"select": "i", "select_range": (0, 4)}):
        with hetero.profile() as profile, pytest.raises(ValueError, match="select"):
            solve(np.eye(4), **options)
        assert not profile.children


def test_arrays_of_the_other_byte_order_keep_their_precision():
    d, e = np.ones(3, ">f4"), np.full(2, 0.5, ">f4")
    computed = sbth.eigvalsh_tridiagonal(d, e)
    assert computed.dtype == np.float32
    np.testing.assert_array_equal(
        computed, sbth.eigvalsh_tridiagonal(d.astype(np.float32), e.astype(np.float32))
    )
    assert sbth.full_to_band(np.eye(3, dtype=">f4"), 1).dtype == np.float32
    assert sbth.tridiagonalize(np.ones((2, 3), ">f4"))[0].dtype == np.float32
