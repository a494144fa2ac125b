"""Eigenvalues of tridiagonal matrices by bisection, and of band matrices."""

import numpy as np
import pytest

import sbth
from sbth import reference

EPS = np.finfo(float).eps


def dense(d, e):
    """Return a tridiagonal matrix in full storage."""
    return np.diag(d) + np.diag(e, 1) + np.diag(e, -1)


def error(computed, true):
    """Return the largest error in units of eps times the largest eigenvalue."""
    return np.max(np.abs(computed - true)) / (np.max(np.abs(true)) * EPS)


@pytest.mark.parametrize("n", [1, 2, 3, 17, 200, 1500])
def test_random_matrices(device, n):
    rng = np.random.default_rng(n)
    d, e = rng.standard_normal(n), rng.standard_normal(n - 1)
    computed = sbth.eigvalsh_tridiagonal(d, e, device=device, method="sbth")
    assert error(computed, np.linalg.eigvalsh(dense(d, e))) < 10 + n


def test_wilkinson_and_clement(device):
    """The eigenvalues are pairs 7e-14 apart, and integers."""
    d = np.abs(np.arange(-10.0, 11.0))
    computed = sbth.eigvalsh_tridiagonal(d, np.ones(20), device=device, method="sbth")
    assert computed[-1] == pytest.approx(10.746194182903393, abs=1e-14)
    assert 5e-14 < computed[-1] - computed[-2] < 9e-14
    k = np.arange(1, 50)
    computed = sbth.eigvalsh_tridiagonal(
        np.zeros(50), np.sqrt(k * (50 - k)), device=device, method="sbth"
    )
    np.testing.assert_allclose(computed, np.arange(-49, 50, 2), atol=1e-12)


def test_selection(device):
    rng = np.random.default_rng(0)
    d, e = rng.standard_normal(100), rng.standard_normal(99)
    values = sbth.eigvalsh_tridiagonal(d, e, device=device, method="sbth")
    selected = sbth.eigvalsh_tridiagonal(
        d, e, select="i", select_range=(3, 10), device=device, method="sbth"
    )
    np.testing.assert_allclose(selected, values[3:11], atol=1e-14)
    ends = 0.5 * (values[19] + values[20]), 0.5 * (values[59] + values[60])
    selected = sbth.eigvalsh_tridiagonal(
        d, e, select="v", select_range=ends, device=device, method="sbth"
    )
    np.testing.assert_allclose(selected, values[20:60], atol=1e-14)
    computed = sbth.eigvalsh_tridiagonal(
        [1.0, 2.0, 3.0], [0.0, 0.0], select="v", select_range=(1, 2), device=device
    )
    np.testing.assert_allclose(computed, [2.0], atol=1e-15)
    none = sbth.eigvalsh_tridiagonal(
        d, e, select="v", select_range=(50, 60), device=device, method="sbth"
    )
    assert none.shape == (0,)


@pytest.mark.parametrize("factor", [1e160, 1e-160, 1e300, 1e-300])
def test_huge_and_tiny(device, factor):
    rng = np.random.default_rng(0)
    d, e = rng.standard_normal(30), rng.standard_normal(29)
    computed = sbth.eigvalsh_tridiagonal(d * factor, e * factor, device=device, method="sbth")
    assert error(computed / factor, np.linalg.eigvalsh(dense(d, e))) < 40


def test_zero_and_multiple_eigenvalues(device):
    zero = sbth.eigvalsh_tridiagonal(np.zeros(5), np.zeros(4), device=device, method="sbth")
    np.testing.assert_allclose(zero, np.zeros(5), atol=1e-300)
    computed = sbth.eigvalsh_tridiagonal(
        np.repeat([2.0, -1.0], 10), np.zeros(19), device=device, method="sbth"
    )
    np.testing.assert_allclose(computed, np.repeat([-1.0, 2.0], 10), rtol=1e-15)
    assert sbth.eigvalsh_tridiagonal([], [], device=device, method="sbth").shape == (0,)


def test_bands_end_to_end(device):
    ab, true = reference.cosine_matrix([1.0, 0.5, -0.75, 0.1], 300)
    computed = sbth.eigvals_banded(ab, device=device, method="sbth")
    assert error(computed, true) < 300
    selected = sbth.eigvals_banded(
        ab, select="i", select_range=(0, 4), device=device, method="sbth"
    )
    np.testing.assert_allclose(selected, computed[:5], atol=1e-13)
    single = sbth.eigvals_banded(ab.astype(np.float32), device=device, method="sbth")
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, true, atol=1e-4)


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
    d, e, *selection = arguments
    options = dict(zip(("select", "select_range"), selection, strict=False))
    with pytest.raises(ValueError, match=message):
        sbth.eigvalsh_tridiagonal(d, e, **options)


@pytest.mark.parametrize("solve", [sbth.eigvals_banded, sbth.eigvalsh])
def test_a_wrong_selection_is_refused_before_the_reduction(solve, monkeypatch):
    from sbth import dense, eigenvalues

    for module, name in ((eigenvalues, "reduce_band"), (dense, "reduce_to_band")):
        monkeypatch.setattr(module, name, lambda *_, **__: pytest.fail("the matrix was reduced"))
    for options in ({"select": "x"}, {"select": "i", "select_range": (0, 4)}):
        with pytest.raises(ValueError, match="select"):
            solve(np.eye(4), **options)


def test_arrays_of_the_other_byte_order_keep_their_precision():
    d, e = np.ones(3, ">f4"), np.full(2, 0.5, ">f4")
    computed = sbth.eigvalsh_tridiagonal(d, e)
    assert computed.dtype == np.float32
    np.testing.assert_array_equal(
        computed, sbth.eigvalsh_tridiagonal(d.astype(np.float32), e.astype(np.float32))
    )
    assert sbth.full_to_band(np.eye(3, dtype=">f4"), 1).dtype == np.float32
    assert sbth.tridiagonalize(np.ones((2, 3), ">f4"))[0].dtype == np.float32
