"""Conservation of mass and momentum in periodic and in closed boxes."""

import itertools

import numpy as np
import pytest
import scipy.ndimage

import lbm
from flows import noisy

SHAPE = (16, 12, 10)


@pytest.mark.parametrize(
    ("dtype", "lattice"),
    [("float64", "D3Q19"), ("float64", "D3Q27"), ("float32", "D3Q19"),
     pytest.param("float32", "D3Q27", marks=pytest.mark.slow)],
)  # fmt: skip
def test_a_periodic_box_keeps_mass_and_momentum(dtype, lattice, device):
    rho, u = noisy(SHAPE)
    cells, steps, force = np.prod(SHAPE), 50, np.array([1e-5, 0.0, 0.0])
    s = lbm.Simulation(SHAPE, collision=lbm.TRT(0.7), rho=rho, u=u, dtype=dtype, lattice=lattice,
                       force=tuple(force), device=device)  # fmt: skip
    mass, momentum = s.drho.sum(dtype=float), s.momentum()
    s.run(steps)
    scale = cells * steps * np.finfo(dtype).eps
    assert abs(s.drho.sum(dtype=float) - mass) < scale
    assert np.abs(s.momentum() - momentum - force * cells * steps).max() < scale


@pytest.mark.parametrize("lattice", ["D3Q19", "D3Q27"])
def test_the_force_on_a_body_is_what_the_fluid_loses(lattice, device):
    centre, force = np.array([7.3, 6.0, 5.2]), np.array([1e-5, 0.0, 0.0])
    rho, u = noisy(SHAPE)
    ball = lbm.Solid(lbm.Sphere(tuple(centre), 2.6), lbm.MovingWall((0.02, 0.0, -0.01)))
    s = lbm.Simulation(SHAPE, collision=lbm.TRT(0.7), dtype="float64", device=device,
                       boundaries={"ball": ball}, rho=rho, u=u, force=tuple(force),
                       lattice=lattice)  # fmt: skip
    for _ in range(4):  # even and odd
        before = s.run(1).momentum()
        lost = before - s.run(1).momentum() + force * s.fluid.sum()
        np.testing.assert_allclose(s.force_on("ball"), lost, rtol=0, atol=1e-13)
    far = centre + np.array([10.0, 0.0, 0.0])
    turned = s.torque_on("ball", centre) - s.torque_on("ball", far)
    np.testing.assert_allclose(turned, np.cross(far - centre, s.force_on("ball")), atol=1e-13)


class Plate(lbm.Shape):
    """A plate at 45 degrees to the axes x and y."""

    def __init__(self, thickness):
        self.half = thickness / 2

    def __call__(self, x, y, z):
        return np.abs(x - y + 0.3 + 0 * z) < self.half * 2**0.5

    def distances(self, points, directions):
        height = points[:, 0] - points[:, 1] + 0.3
        with np.errstate(all="ignore"):
            rise = directions[:, 0] - directions[:, 1]
            meets = np.stack([(s * self.half * 2**0.5 - height) / rise for s in (1, -1)])
        meets = np.where((meets >= 0) & (meets <= 1), meets, np.inf).min(axis=0)
        return np.where(np.isfinite(meets), meets, np.nan)


OBLIQUE = np.add.outer(np.add.outer(np.arange(16), np.arange(12)), np.arange(10))
X, Y, Z = np.ogrid[-7.7:8, -5.7:6, -4.7:5]
SHELL = (4.0 <= np.sqrt(X**2 + Y**2 + Z**2)) & (np.sqrt(X**2 + Y**2 + Z**2) < 5.0)
PARTED = {
    "a diagonal of cells": {"wall": lbm.Solid((OBLIQUE - np.arange(10)) == 12)},
    "a plane across (1, 1, 1)": {"wall": lbm.Solid(OBLIQUE == 18)},
    "a shell of one cell": {"wall": lbm.Solid(SHELL)},
    "two solids that touch": {"a": lbm.Solid((OBLIQUE == 18) & (np.arange(10) < 5)),
                              "b": lbm.Solid((OBLIQUE == 18) & (np.arange(10) >= 5))},
    "an interpolated plate of 0.8 cells": {"wall": lbm.Solid(Plate(0.8), wall="interpolated")},
    "an interpolated plate of 1.2 cells": {"wall": lbm.Solid(Plate(1.2), wall="interpolated")},
}  # fmt: skip
"""Solids whose cells part a closed box, though they touch only in edges or corners."""


@pytest.mark.parametrize("lattice", ["D3Q19", "D3Q27"])
@pytest.mark.parametrize("solids", PARTED)
def test_no_fluid_passes_cells_that_touch_in_edges(solids, lattice):
    """Sides at rest keep their densities to the last bit, and sides in motion their mass."""
    walls = {"x": lbm.NoSlip(), "y": lbm.FreeSlip(), "z": lbm.FreeSlip()} | PARTED[solids]
    options = {"boundaries": walls, "lattice": lattice, "collision": lbm.TRT(0.7),
               "force": (1e-300, 0.0, 0.0), "dtype": "float64", "device": "cpu"}  # fmt: skip
    sides, count = scipy.ndimage.label(lbm.Simulation(SHAPE, **options).fluid)
    assert count >= 2
    s = lbm.Simulation(SHAPE, rho=1.0 + 0.02 * (sides == 1), **options).run(40)
    assert np.abs(s.drho - 0.02 * (sides == 1)).max() < 1e-15
    if "interpolated" not in solids:  # such walls balance the mass of all of them together
        rho, u = noisy(SHAPE)
        s.set(rho=rho, u=u)
        before = [s.drho[sides == side].sum() for side in range(1, count + 1)]
        s.run(40)
        after = [s.drho[sides == side].sum() for side in range(1, count + 1)]
        np.testing.assert_allclose(after, before, rtol=0, atol=1e-12)


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
