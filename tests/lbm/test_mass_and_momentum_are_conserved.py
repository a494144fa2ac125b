"""Conservation of mass and momentum in periodic and in closed boxes."""

import itertools

import numpy as np
import pytest

import lbm
from flows import noisy
from lbm._model.precision import PRECISIONS

SHAPE = (16, 12, 10)
EPS = {"float64": 2.3e-16, "float32": 1.2e-7}


@pytest.mark.parametrize("dtype", EPS)
def test_periodic_box_keeps_mass_and_momentum(dtype, device):
    rho, u = noisy(SHAPE)
    s = lbm.Simulation(SHAPE, collision=lbm.TRT(0.7), rho=rho, u=u, dtype=dtype,
                       force=(1e-5, 0.0, 0.0), device=device)  # fmt: skip
    cells, steps = np.prod(SHAPE), 50
    mass, momentum = s.rho.sum(dtype=float), s.momentum()
    s.run(steps)
    scale = cells * steps * EPS[dtype]
    assert abs(s.rho.sum(dtype=float) - mass) < scale
    gained = s.momentum() - momentum - np.array([1e-5 * cells * steps, 0.0, 0.0])
    assert np.abs(gained).max() < scale


def test_a_moving_lid_keeps_mass(device):
    walls = {"x": lbm.NoSlip(), "y-": lbm.NoSlip(), "y+": lbm.MovingWall((0.1, 0.0, 0.05)),
             "z": lbm.NoSlip()}  # fmt: skip
    s = lbm.Simulation(SHAPE, collision=lbm.TRT(0.7), boundaries=walls, dtype="float64",
                       force=(0.0, 1e-5, 0.0), device=device)  # fmt: skip
    s.run(60)
    cells = np.prod(SHAPE)
    assert abs(s.rho.sum() - cells) < cells * 60 * EPS["float64"]
    assert s.u[0, :, -1].max() > 0.01


def test_force_on_a_body_is_what_the_fluid_loses(device):
    cells = lbm.geometry.sphere(SHAPE, (7.3, 6.0, 5.2), 2.6)
    rho, u = noisy(SHAPE)
    s = lbm.Simulation(SHAPE, collision=lbm.TRT(0.7), dtype="float64", device=device,
                       boundaries={"ball": lbm.Solid(cells, lbm.MovingWall((0.02, 0.0, -0.01)))},
                       rho=rho, u=u, force=(1e-5, 0.0, 0.0))  # fmt: skip
    for _ in range(4):  # even and odd
        s.run(1)
        before = s.momentum()
        s.run(1)
        lost = before - s.momentum() + np.array([1e-5, 0.0, 0.0]) * s.fluid.sum()
        np.testing.assert_allclose(s.force_on("ball"), lost, rtol=0, atol=1e-13)
    centre = np.array([7.3, 6.0, 5.2])
    far = centre + np.array([10.0, 0.0, 0.0])
    turned = s.torque_on("ball", centre) - s.torque_on("ball", far)
    np.testing.assert_allclose(turned, np.cross(far - centre, s.force_on("ball")), atol=1e-13)


def test_stored_populations_are_decoded_without_loss():
    halves = np.array([1.0, -0.1, 2.0**-24, 65504.0], np.float16)  # the smallest, the largest
    decoded = PRECISIONS["float16"].decode(halves.view(np.uint16))
    assert decoded.dtype == np.float64
    assert (decoded * 2.0**15 == halves).all()
    singles = np.array([0.1, 1e-30], np.float32)
    assert (PRECISIONS["float32"].decode(singles) == singles.astype(np.float64)).all()


def test_closed_boxes_keep_mass_whatever_walls_meet(device):
    """Every pair and triple of impermeable conditions, all different at the two ends of an axis."""

    def wall(kind, axis):
        u = np.roll((0.0, 0.06, -0.04), axis)  # along the wall
        return {"still": lbm.NoSlip(), "lid": lbm.MovingWall(u), "slip": lbm.FreeSlip()}[kind]

    shape = (4, 5, 3)
    rho, u = noisy(shape)
    ball = np.zeros(shape, bool)
    ball[1, 4, :2] = True  # beside the faces y+ and z-, along which it moves
    failures = []
    for k, low in enumerate(itertools.product(("still", "lid", "slip"), repeat=3)):
        for high in itertools.islice(itertools.product(("still", "lid", "slip"), repeat=3), k % 4,
                                     None, 4):  # fmt: skip
            walls = {f"{a}-": wall(w, i) for i, (a, w) in enumerate(zip("xyz", low, strict=True))}
            walls |= {f"{a}+": wall(w, i) for i, (a, w) in enumerate(zip("xyz", high, strict=True))}
            if k % 2:
                walls["ball"] = lbm.Solid(ball, lbm.MovingWall((0.02, 0.0, 0.0)))
            s = lbm.Simulation(shape, collision=lbm.TRT(0.7), boundaries=walls, rho=rho, u=u,
                               dtype="float64", force=(1e-300, 0.0, 0.0), check=0,
                               device=device)  # fmt: skip
            mass = s.rho[s.fluid].sum()
            if abs(s.run(3).rho[s.fluid].sum() - mass) > 1e-12:
                failures.append((low, high))
    assert failures == []


def test_the_mass_that_a_flow_gains_can_be_read(device):
    """A float32 density near 1 is a multiple of 6e-8, but its difference from 1 is not."""
    walls = {"x-": lbm.VelocityInlet((1e-8, 0.0, 0.0)), "x+": lbm.PressureOutlet()}
    walls |= {"y": lbm.FreeSlip(), "z": lbm.FreeSlip()}
    options = {"collision": lbm.TRT(0.7), "boundaries": walls, "force": (1e-300, 0.0, 0.0),
               "device": device, "check": 0}  # fmt: skip
    exact, single = (
        lbm.Simulation(SHAPE, dtype=p, **options).run(5) for p in ("float64", "float32")
    )
    gained = exact.drho.sum()
    assert 0.9 * 5e-8 * 120 < gained < 1.1 * 5e-8 * 120  # what the inlet has brought in
    assert abs(single.drho.sum(dtype=float) / gained - 1.0) < 1e-5
    assert abs((single.rho - 1.0).sum(dtype=float) / gained - 1.0) > 0.1
    np.testing.assert_allclose(single.drho, exact.drho, rtol=0, atol=1e-14)
    statistics = lbm.Statistics(every=1)
    single.run(1, callbacks=[statistics])
    assert np.array_equal(statistics.mean_drho, single.drho)
    assert not single.drho.flags.writeable
