"""Long loops run in pieces, so that Ctrl-C is answered; the pieces do not change results."""

import numpy as np
import pytest

import sbth


def use_small_pieces(monkeypatch):
    """Divide the loops into the smallest possible pieces."""

    def small_ranges(total, *, first, multiple=1):
        for begin in range(0, total, multiple):
            yield begin, min(begin + multiple, total)

    for module in ("sbth._bisection.cpu", "sbth._bulge_chasing.cpu"):
        monkeypatch.setattr(f"{module}.ranges", small_ranges)


@pytest.mark.parametrize("method", ["serial", "wavefront"])
def test_pieces_do_not_change_a_reduction(method, monkeypatch):
    band = np.random.default_rng(1).standard_normal((4, 120))
    settings = {"lower": True, "method": method, "device": "cpu"}
    whole = sbth.tridiagonalize(band, **settings)
    use_small_pieces(monkeypatch)
    for before, after in zip(whole, sbth.tridiagonalize(band, **settings), strict=True):
        np.testing.assert_array_equal(after, before)


def test_pieces_do_not_change_eigenvalues(monkeypatch):
    rng = np.random.default_rng(2)
    d, e = rng.standard_normal(200), rng.standard_normal(199)
    whole = sbth.eigvalsh_tridiagonal(d, e, device="cpu")
    selected = sbth.eigvalsh_tridiagonal(d, e, select="i", select_range=(30, 170), device="cpu")
    use_small_pieces(monkeypatch)
    np.testing.assert_array_equal(sbth.eigvalsh_tridiagonal(d, e, device="cpu"), whole)
    again = sbth.eigvalsh_tridiagonal(d, e, select="i", select_range=(30, 170), device="cpu")
    np.testing.assert_array_equal(again, selected)
    np.testing.assert_allclose(
        again, np.linalg.eigvalsh(np.diag(d) + np.diag(e, 1) + np.diag(e, -1))[30:171], atol=1e-13
    )
