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
    return lbm.Simulation((n, n, n), collision=collision, boundaries=walls | lid, device="cpu")


def tau_of(cell_reynolds):
    return 0.5 + 3.0 * SPEED / cell_reynolds


def error_of(collision, steps=4000):
    with pytest.raises(lbm.UnstableError) as caught:
        cavity(collision).run(steps)
    assert "inspect" not in str(caught.value)
    assert "inspect" in caught.value.__notes__[0]
    return str(caught.value)


@pytest.mark.parametrize(
    "collision", [lbm.BGK(tau_of(19.0)), lbm.TRT(tau_of(19.0), magic=1e-4)], ids=["BGK", "TRT"]
)
def test_the_operator_that_is_advised_is_stable(collision):
    message = error_of(collision)
    magic = float(re.search(r"Use (?:lbm.TRT\(tau, )?magic=([\d.]+)", message)[1])
    assert np.isfinite(cavity(lbm.TRT(collision.tau, magic=magic)).run(4000).u).all()


def test_the_number_of_cells_that_is_advised_is_stable():
    collision = lbm.TRT(tau_of(45.0), magic=0.25)
    factor = float(re.search(r"Use ([\d.]+) times as many cells", error_of(collision))[1])
    n = round(16 * factor)
    finer = lbm.TRT(tau_of(45.0 * 16 / n), magic=0.25)
    assert np.isfinite(cavity(finer, n).run(4000).u).all()


def test_operators_without_a_magic_parameter_are_not_advised_one():
    message = error_of(lbm.RecursiveRegularized(tau_of(1e5)))
    assert "magic" not in message
    assert "For RecursiveRegularized no largest speed/viscosity is known; here it is" in message
