"""Long loops run in pieces, so that Ctrl-C is answered; the pieces do not change results."""

import numpy as np
import pytest

import sbth
from hetero.cpu import interruptible

BAND = np.random.default_rng(1).standard_normal((4, 120))
D, E = np.random.default_rng(2).standard_normal((2, 200))
SOME = {"select": "i", "select_range": (30, 170)}
CPU = {"device": "cpu"}

CALLS = {
    "serial reduction": lambda: sbth.tridiagonalize(BAND, method="serial", **CPU),
    "wavefront": lambda: sbth.tridiagonalize(BAND, method="wavefront", **CPU),
    "eigenvalues": lambda: (sbth.eigvalsh_tridiagonal(D, E[:-1], **CPU),),
    "some eigenvalues": lambda: (sbth.eigvalsh_tridiagonal(D, E[:-1], **SOME, **CPU),),
}


@pytest.mark.parametrize("name", CALLS)
def test_pieces_do_not_change_results(name, monkeypatch):
    whole = CALLS[name]()
    monkeypatch.setattr(interruptible, "LARGEST_RANGE", 1)
    for x, y in zip(CALLS[name](), whole, strict=True):
        np.testing.assert_array_equal(x, y)
