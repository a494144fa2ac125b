"""What walls send back, by classes of cells and as formulas of all populations of a cell."""

import numpy as np
import pytest

import lbm
from lbm._kernels.formulas.wall_formulas import make_outlet_returns, make_slip_returns, wall_return
from lbm.boundaries import Enclosure, split_boundaries
from lbm.geometry.wall_links import MIXED, MOVING, RETURN, SLIP, SPECIAL, classify_cells

LATTICES = pytest.mark.parametrize("lattice", [lbm.D3Q19, lbm.D3Q27], ids=lambda each: each.name)
INLET, OUTLET = lbm.VelocityInlet((0.05, 0.0, 0.0)), lbm.PressureOutlet(1.01)


def returns_of(walls, lattice=lbm.D3Q19):
    """Return the links of a 5^3 box, and the column RETURN of each cell [x, y, z]."""
    links = classify_cells(lattice, Enclosure((5, 5, 5), *split_boundaries(walls)))
    return links, links.masks_with_returns()[links.classes.T, RETURN]


def profile(x, y, z):
    return 0.01 * y * (5 - y), 0.0 * y, 0.0 * y


@LATTICES
@pytest.mark.parametrize("inlet", [INLET, lbm.VelocityInlet(profile)])
def test_inlets_move_and_an_outlet_has_its_row(lattice, inlet):
    links, returns = returns_of({"x-": inlet, "x+": OUTLET, "y": lbm.NoSlip()}, lattice)
    special = links.masks[links.classes.T, SPECIAL] != 0
    assert special[[0, 4]].all()
    assert not special[1:4].any()
    assert (returns[0] == MOVING).all()
    assert np.allclose(links.wall_types[returns[4]], (1, 0.01, 0, 0, 0))


def test_faces_with_free_slip_have_their_axis_and_edges_of_different_walls_are_mixed():
    slip = lbm.FreeSlip()
    _, returns = returns_of({"x": slip, "y": slip, "z": slip})
    assert [returns[0, 2, 2], returns[2, 4, 2], returns[2, 2, 0]] == [SLIP, SLIP + 1, SLIP + 2]
    assert returns[0, 0, 2] == MIXED  # an edge of two faces with free slip
    _, returns = returns_of({"x-": INLET, "x+": OUTLET, "y": lbm.FreeSlip()})
    assert returns[2, 0, 2] == SLIP + 1
    assert returns[0, 0, 2] == MIXED
    rod = lbm.Solid(lambda x, y, z: (x > 4) & (y > 1) & (y < 2), lbm.MovingWall((0, 0, 0.1)))
    _, returns = returns_of({"x": OUTLET, "rod": rod})
    assert MIXED in returns[4]
    walls = {"y": lbm.MovingWall((0.1, 0, 0)), "x-": lbm.MovingWall((0, 0, 0.1)), "x+": INLET}
    links, returns = returns_of(walls)  # walls that move are not mixed
    assert (returns[links.masks[links.classes.T, SPECIAL] != 0] == MOVING).all()


def test_walls_that_vary_have_their_rows_and_classes():
    walls = {"x-": INLET, "x+": lbm.PressureOutlet(lambda t: 1.0 + 1e-3 * t)}
    links, returns = returns_of(walls)
    assert np.isin(returns[4], np.flatnonzero(links.is_varying)).all()
    links, _ = returns_of({"x-": lbm.VelocityInlet(lambda t: (0.01 * t, 0, 0)), "x+": OUTLET})
    assert set(links.find_varying_classes()) == set(links.classes[..., 0].ravel())
    assert not len(returns_of({"x-": INLET, "x+": OUTLET})[0].find_varying_classes())


@LATTICES
def test_what_moving_walls_add_is_that_of_each_population(lattice):
    links, _ = returns_of({"x-": lbm.VelocityInlet(profile), "x+": INLET, "y": INLET}, lattice)
    moving = np.flatnonzero(links.masks_with_returns()[:, RETURN] == MOVING)
    added = links.added_by_walls()
    assert np.any(added[moving])
    for k in moving:
        for q, c in enumerate(lattice.velocities):
            wall = tuple(links.wall_types[links.wall_rows[k, q, 0]])
            f = wall_return(0.0, lattice.weights[q], tuple(map(float, c)), wall, (0.1, 0.2, 0.3))
            assert added[k, q] == pytest.approx(f, rel=1e-14, abs=1e-18)


@LATTICES
def test_returns_of_an_outlet_are_those_of_each_population(lattice):
    rng = np.random.default_rng(5)
    drho, u = rng.normal(), tuple(rng.normal(size=3))
    returns = make_outlet_returns(lattice)
    for _ in range(20):
        f, bits = tuple(rng.normal(size=lattice.size)), int(rng.integers(1 << lattice.size))
        bits &= ~1  # the population at rest meets no wall
        expected = [
            wall_return(f[q], lattice.weights[q], tuple(map(float, c)), (1.0, drho, 0, 0, 0), u)
            if bits >> q & 1
            else f[q]
            for q, c in enumerate(lattice.velocities)
        ]
        assert np.allclose(returns(f, np.uint32(bits), drho, *u), expected, rtol=1e-14, atol=1e-15)


@LATTICES
@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("side", [-1, 1])
def test_returns_of_free_slip_are_mirror_images(lattice, axis, side):
    """A population that runs into the face returns, after its bounce, along the face as it came."""
    f = tuple(np.random.default_rng(6).normal(size=lattice.size))
    into = [c[axis] == side and c.count(0) < 2 for c in lattice.velocities]
    bits = sum(1 << q for q, hits in enumerate(into) if hits)
    returned = make_slip_returns(lattice)(f, np.uint32(bits), np.uint32(axis))
    for q, c in enumerate(lattice.velocities):
        mirrored = tuple(-x if a == axis else x for a, x in enumerate(c))
        image = lattice.opposite[lattice.velocities.index(mirrored)]
        assert returned[q] == (f[image] if into[q] else f[q])
