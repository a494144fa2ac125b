"""What the error of an unstable flow advises exists, and makes the flow stable."""

import re

import numpy as np
import pytest

import lbm

SPEED = 0.1


def cavity(collision, n=16):
    """Return a cavity with a moving lid."""
    walls = {"x": lbm.NoSlip(), "y": lbm.NoSlip(), "z-": lbm.NoSlip()}
    lid = {"z+": lbm.MovingWall((SPEED, 0.0, 0.0))}
    return lbm.Simulation((n, n, n), collision=collision, boundaries=walls | lid, device="cpu",
                          force=(1e-300, 0.0, 0.0), dtype="float64")  # fmt: skip


def tau_of(cell_reynolds):
    return 0.5 + 3.0 * SPEED / cell_reynolds


def error_of(collision, steps=4000):
    with pytest.raises(lbm.UnstableError) as caught:
        cavity(collision).run(steps)
    assert "inspect" not in str(caught.value)
    assert "inspect" in caught.value.__notes__[0]
    return str(caught.value)


def test_what_is_advised_is_stable():
    """A magic parameter, or a number of cells."""
    collision = lbm.TRT(tau_of(19.0), magic=1e-4)
    magic = float(re.search(r"Use magic=([\d.]+)", error_of(collision))[1])
    assert np.isfinite(cavity(lbm.TRT(collision.tau, magic=magic)).run(4000).u).all()
    collision = lbm.TRT(tau_of(45.0), magic=0.25)
    factor = float(re.search(r"Use ([\d.]+) times as many cells", error_of(collision))[1])
    n = round(16 * factor)
    finer = lbm.TRT(tau_of(45.0 * 16 / n), magic=0.25)
    assert np.isfinite(cavity(finer, n).run(4000).u).all()
