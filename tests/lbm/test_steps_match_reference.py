"""Every pattern, precision and boundary condition against `lbm.reference`, cell by cell."""

import numpy as np
import pytest

import lbm
from covering import cover_pairs
from flows import (
    FORMS,
    OTHERS,
    PATTERNS,
    PLAIN,
    TOLERANCE,
    difference,
    follow,
    pair,
    pair_in,
    random_walls,
)  # fmt: skip
from lbm._kernels.cpu_offsets import CACHED_OFFSETS
from lbm._kernels.cpu_rows import SCRATCH_CELLS
from lbm.lattices import LATTICES


@pytest.mark.parametrize(
    ("flow", "pattern", "lattice"), cover_pairs([*OTHERS, *PLAIN], PATTERNS, LATTICES.values())
)
def test_steps_in_float64(flow, pattern, lattice, device):
    both = pair(flow, lbm.TRT(0.7), lattice, dtype="float64", pattern=pattern, device=device)
    assert difference(*both) < TOLERANCE["float64"]
    follow(*both, 5)


@pytest.mark.parametrize("lattice", ["D3Q19", pytest.param("D3Q27", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("flow", "storage", "pattern"),
    cover_pairs(["cavity with bodies", "open channel", "sponges", "interpolated walls"],
                ["float32", "float16"], ["ab", "esoteric"]),
)  # fmt: skip
def test_other_precisions(flow, storage, pattern, lattice, device):
    both = pair(flow, lbm.TRT(0.7), LATTICES[lattice], pattern=pattern, device=device,
                **FORMS[storage])  # fmt: skip
    follow(*both, 4, TOLERANCE[storage] * (3 if flow == "interpolated walls" else 1))


@pytest.mark.parametrize("pattern", PATTERNS)
def test_long_rows_among_many_kinds_of_cells(pattern, device):
    """There are more cells than a scratch array holds, and more kinds than offsets are cached."""
    shape = (2 * SCRATCH_CELLS + 21, 5, 4)
    solid = np.random.default_rng(3).random(shape) < 0.04
    solid[:SCRATCH_CELLS] = False
    walls = {"y-": lbm.NoSlip(), "y+": lbm.MovingWall((0.1, 0.0, 0.05)), "body": lbm.Solid(solid)}
    both = pair_in(shape, {"boundaries": walls}, dtype="float64", pattern=pattern, device=device)
    assert len(both[0].problem.links.masks) > 2 * CACHED_OFFSETS
    follow(*both, 2)


def test_any_conditions_around_any_solids(device):
    """On D3Q27, links to corners meet up to three faces, and faces beside solids."""
    rng, shape = np.random.default_rng(0), (4, 5, 3)
    for k in range(20):
        settings = {"boundaries": random_walls(rng, shape), "force": (1e-300, 0.0, 0.0),
                    "lattice": LATTICES["D3Q27" if k % 2 else "D3Q19"]}  # fmt: skip
        follow(*pair_in(shape, settings, dtype="float64", device=device), 3)


@pytest.mark.simulator
@pytest.mark.parametrize("lattice", LATTICES.values(), ids=LATTICES)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_two_steps_of_a_tiny_flow(pattern, lattice, device):
    shape = (4, 3, 3)
    solid = np.zeros(shape, bool)
    solid[1, 1, 2] = True
    walls = {"x": lbm.NoSlip(), "y-": lbm.FreeSlip(), "y+": lbm.MovingWall((0.1, 0.0, 0.05)),
             "body": lbm.Solid(solid)}  # fmt: skip
    settings = {"boundaries": walls, "force": (1e-4, 0.0, 2e-5), "lattice": lattice}
    follow(*pair_in(shape, settings, dtype="float64", pattern=pattern, device=device), 2)
