"""Cells whose special links end at one wall: how classes name it, and what it sends back."""

import numpy as np
import pytest

import lbm
from lbm._engines.cell_formulas import make_slip_returns, make_wall_returns, wall_return
from lbm._model.wall_links import COMMON_WALL, NO_WALL, SLIP, SPECIAL, classify_cells
from lbm.boundaries import split_boundaries

LATTICES = pytest.mark.parametrize(
    "lattice", [lbm.D3Q19, lbm.D3Q27], ids=lambda lattice: lattice.name
)
INLET, OUTLET = lbm.VelocityInlet((0.05, 0.0, 0.0)), lbm.PressureOutlet(1.01)


def common_walls(walls, lattice=lbm.D3Q19):
    """Return the walls of a 5^3 box, and the common wall of each cell [x, y, z]."""
    links = classify_cells(lattice, (5, 5, 5), *split_boundaries(walls))
    return links, links.masks_with_common_walls()[links.classes.T, COMMON_WALL]


@LATTICES
def test_cells_at_an_inlet_and_an_outlet_have_their_rows(lattice):
    links, walls = common_walls({"x-": INLET, "x+": OUTLET, "y": lbm.NoSlip()}, lattice)
    assert np.allclose(links.wall_types[walls[0, 2, 2]], (0, 0, 0.05, 0, 0))
    assert np.allclose(links.wall_types[walls[4, 2, 2]], (1, 0.01, 0, 0, 0))
    special = links.masks[links.classes.T, SPECIAL] != 0
    assert np.all(special[[0, 4]])
    assert not np.any(special[1:4])
    assert np.all(walls[[0, 4]] < len(links.wall_types))


def test_faces_with_free_slip_have_their_axis():
    slip = lbm.FreeSlip()
    _, walls = common_walls({"x": slip, "y": slip, "z": slip})
    assert [walls[0, 2, 2], walls[2, 4, 2], walls[2, 2, 0]] == [SLIP, SLIP + 1, SLIP + 2]
    assert walls[0, 0, 2] == NO_WALL  # an edge of two faces with free slip


def test_an_edge_of_two_walls_has_none():
    _, walls = common_walls({"x-": INLET, "x+": OUTLET, "y": lbm.FreeSlip()})
    assert walls[2, 0, 2] == SLIP + 1
    assert walls[0, 0, 2] == NO_WALL


@LATTICES
@pytest.mark.parametrize("is_outlet", [0.0, 1.0])
def test_returns_of_a_wall_are_those_of_each_population(lattice, is_outlet):
    rng = np.random.default_rng(5)
    wall, u = (is_outlet, *rng.normal(size=4)), tuple(rng.normal(size=3))
    returns = make_wall_returns(lattice)
    for _ in range(20):
        f, bits = tuple(rng.normal(size=lattice.size)), int(rng.integers(1 << lattice.size))
        bits &= ~1  # the population at rest meets no wall
        expected = [
            wall_return(f[q], lattice.weights[q], tuple(map(float, c)), wall, u)
            if bits >> q & 1
            else f[q]
            for q, c in enumerate(lattice.velocities)
        ]
        assert np.allclose(returns(f, np.uint32(bits), wall, u), expected, rtol=1e-14, atol=1e-15)


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
