"""Faces that return the equilibrium of an undisturbed stream."""

import numpy as np
import pytest

import lbm
from lbm.lattices.precision import STATES

STREAM = (0.06, 0.02, -0.01)
ALL = {axis: lbm.FreeStream(STREAM) for axis in "xyz"}


def simulate(shape, boundaries, tau, **options):
    return lbm.Simulation(shape, collision=lbm.TRT(tau), boundaries=boundaries, dtype="float64",
                          device="cpu", **options)  # fmt: skip


def deviation(s):
    return np.abs(s.u - np.array(STREAM)[:, None, None, None]).max()


def test_a_stream_at_an_angle_passes_all_faces_undisturbed():
    s = simulate((12, 10, 8), ALL, 0.51, u=STREAM).run(200)
    assert deviation(s) < 1e-15
    assert np.abs(s.drho).max() < 1e-15


@pytest.mark.parametrize("state", STATES)
def test_a_body_that_moves_with_the_stream_leaves_it_undisturbed_up_to_the_faces(state):
    """But for the cubes of velocities, and squares beside both body and face with populations."""
    for axis in "yz":  # the rod ends at faces, and passes through one
        shape = lbm.Cylinder((6.2, 1.4), 2.3, axis=axis)
        rod = lbm.Solid(shape, lbm.MovingWall(STREAM), wall="interpolated")
        s = lbm.Simulation((12, 10, 8), collision=lbm.RecursiveRegularized(0.7), dtype="float64",
                           boundaries=ALL | {"rod": rod}, u=STREAM, state=state,
                           force=(1e-300, 0.0, 0.0), device="cpu").run(50)  # fmt: skip
        assert np.abs((s.u - np.array(STREAM)[:, None, None, None])[:, s.fluid]).max() < 1e-3


def test_fluid_at_rest_becomes_the_stream():
    assert deviation(simulate((12, 10, 8), ALL, 0.6).run(2000)) < 1e-12


def test_sound_comes_back_as_the_page_says():
    end = lbm.FreeStream((0.05, 0.0, 0.0))
    pulse = 1.0 + 1e-3 * np.exp(-(((np.arange(240).reshape(-1, 1, 1) - 119.5) / 8.0) ** 2))
    s = simulate((240, 1, 1), {"x": end}, 0.51, u=(0.05, 0.0, 0.0), rho=pulse)
    before = np.abs(s.run(100).drho).max()
    assert 0.27 < np.abs(s.run(250).drho).max() / before < 0.29
