"""No connected region of fluid fills or empties unnoticed."""

import numpy as np
import pytest

import lbm
from lbm._parallel.domain.mass_balance import _label_regions
from lbm.geometry.wall_links import INTO

SHAPE = (24, 16, 4)
X, Y, Z = np.ogrid[0.5:24, 0.5:16, 0.5:4]
EVERYWHERE = np.ones(SHAPE, bool)
STREAM = {"x-": lbm.VelocityInlet((0.02, 0.0, 0.0)), "x+": lbm.PressureOutlet()}
STREAM |= {"y": lbm.FreeSlip()}
CLOSED = {"x": lbm.NoSlip(), "y": lbm.NoSlip()}


def box(x0, x1, y0, y1):
    """Return the cells of a block that spans the domain along z."""
    return (x0 < X) & (X < x1) & (y0 < Y) & (Y < y1) & EVERYWHERE


def moving(cells, *u):
    return lbm.Solid(cells, lbm.MovingWall(u))


def rotating_sectors(count, radius=5.3):
    """Return a cylinder whose sectors each move with the velocity of their middle."""
    x, y = X - 12.3, Y - 7.9  # about a centre of symmetry the amounts would cancel
    inside, angle = (x**2 + y**2 < radius**2) & EVERYWHERE, np.arctan2(y, x) % (2 * np.pi)
    middles = (np.arange(count) + 0.5) * 2 * np.pi / count
    return {
        f"sector {k}": moving(inside & (np.abs(angle - a) <= np.pi / count),
                              -0.05 * np.sin(a), 0.05 * np.cos(a), 0.0)
        for k, a in enumerate(middles)
    }  # fmt: skip


DAM = {"dam": lbm.Solid(box(10, 12, 0, 16))}
TWO_DAMS = {"dams": lbm.Solid(box(15, 16, 0, 16) | box(18, 19, 0, 16))}
HALF_DAMS = {"dams": lbm.Solid(box(10, 11, 0, 8) | box(11, 12, 8, 16))}

UP, FREE = moving(box(8, 14, 0, 4), 0.0, 0.02, 0.0), moving(box(8, 14, 5, 9), 0.02, 0.03, -0.01)
SLOW = moving(box(16, 17, 4, 8), 1e-5, 0.0, 0.0)

UNBALANCED = {
    "an inlet that a wall cuts off from its outlet": STREAM | DAM,
    "dams that touch in an edge": STREAM | HALF_DAMS,
    "a block on the floor that moves up": CLOSED | {"a": UP},
    "a cylinder that rotates by sectors": rotating_sectors(12),
    "a leak that is far smaller than an inlet elsewhere": STREAM | TWO_DAMS | {"a": SLOW},
}

BALANCED = {
    "a free block": CLOSED | {"a": FREE},
    "sectors in a stream": STREAM | rotating_sectors(12),
    "two regions that a plate parts": STREAM | {"plate": lbm.Solid(box(0, 24, 7, 9))},
    "an inlet at either end": {"x": lbm.VelocityInlet((0.02, 0.0, 0.0)), "y": lbm.FreeSlip()},
}


@pytest.mark.parametrize("flow", UNBALANCED)
def test_a_region_that_would_fill_or_empty_is_refused(flow):
    with pytest.raises(ValueError, match=r"region of fluid .* no outlet") as caught:
        lbm.Simulation(SHAPE, boundaries=UNBALANCED[flow], device="cpu")
    assert "per step" in str(caught.value)


@pytest.mark.parametrize("flow", BALANCED)
def test_a_region_that_keeps_its_mass_or_has_an_outlet_is_not(flow):
    s = lbm.Simulation(SHAPE, boundaries=BALANCED[flow], dtype="float64", device="cpu")
    mass = s.drho.sum()
    s.run(20)
    if not any(isinstance(c, lbm.PressureOutlet) for c in s.faces):
        assert abs(s.drho.sum() - mass) < 1e-12 * s.fluid.sum()


@pytest.mark.parametrize("lattice", [lbm.D3Q19, lbm.D3Q27], ids=lambda lattice: lattice.name)
@pytest.mark.parametrize("shape", [(14, 11, 1), (1, 9, 13), (9, 8, 7), (6, 1, 1)])
def test_regions_are_those_of_a_walk_over_open_links(shape, lattice):
    """Two thirds of the cells are solid; x and z are periodic, and y has walls."""
    solid = np.random.default_rng(sum(shape)).random(shape) < 0.66
    solid[0, 0, 0] = False
    faces = {"y": lbm.NoSlip()}
    s = lbm.Simulation(shape, boundaries=faces | {"grains": lbm.Solid(solid)}, lattice=lattice,
                       device="cpu")  # fmt: skip
    labels, region_of_label = _label_regions(s.problem.links, s.domain.ranks, s.domain.partition)
    ours = np.where(labels > 0, region_of_label[labels], -1)
    theirs = walk_over_open_links(s)
    assert np.array_equal(ours == -1, theirs == -1)
    pairs = {(int(a), int(b)) for a, b in zip(ours.ravel(), theirs.ravel(), strict=True)}
    assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


def walk_over_open_links(s):
    """Return the number of the region of each fluid cell, and -1 for the others."""
    links, shape = s.problem.links, np.array(s.shape)
    is_open = ~links.bits(INTO)[links.classes.T]
    regions, count = np.full(s.shape, -1), 0
    for seed in map(tuple, np.argwhere(s.fluid)):
        if regions[seed] >= 0:
            continue
        regions[seed], queue = count, [seed]
        while queue:
            here = queue.pop()
            for c, leads_on in zip(links.lattice.velocities, is_open[here], strict=True):
                cell = tuple((here + np.array(c)) % shape)
                if leads_on and regions[cell] < 0:
                    regions[cell] = count
                    queue.append(cell)
        count += 1
    return regions
