"""Every pattern, precision and boundary condition against `lbm.reference`, cell by cell."""

import numpy as np
import pytest

import lbm
from flows import FLOWS, noisy, pair, random_walls
from lbm._engines.cpu_offsets import CACHED_OFFSETS
from lbm._engines.cpu_rows import SCRATCH_CELLS
from lbm._model.precision import PRECISIONS
from lbm._model.streaming_patterns import PATTERNS
from lbm.lattices import LATTICES
from lbm.reference import Reference

# Rounding of the storage: eps of float64 and float32, 2^-11 of the largest shifted population.
TOLERANCE = {"float64": 5e-15, "float32": 3e-7, "float16": 2e-4}


def difference(ours, theirs):
    rho, u = theirs.moments()
    return max(np.abs(ours.rho - rho).max(), np.abs(ours.u - u).max())


def compare(flow, collision, storage, pattern, device, steps):
    options = PRECISIONS[storage].arguments
    ours, theirs = pair(flow, collision, pattern=pattern, device=device, **options)
    assert difference(ours, theirs) < TOLERANCE[storage]
    follow(ours, theirs, steps, TOLERANCE[storage])


def follow(ours, theirs, steps, tolerance):
    for _ in range(steps):
        ours.run(1)
        theirs.step()
        assert difference(ours, theirs) < tolerance


def make_both(shape, pattern, device, options):
    """Return a simulation and the reference with the same noise."""
    rho, u = noisy(shape)
    ours = lbm.Simulation(shape, collision=lbm.TRT(0.7), rho=rho, u=u, dtype="float64",
                          pattern=pattern, device=device, **options)  # fmt: skip
    theirs = Reference(shape, lbm.TRT(0.7), **options)
    theirs.set(rho, u)
    return ours, theirs


@pytest.mark.parametrize("flow", FLOWS)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_trt_in_float64(flow, pattern, device):
    compare(flow, lbm.TRT(0.7), "float64", pattern, device, 5)


@pytest.mark.parametrize("pattern", ["ab", "esoteric"])
@pytest.mark.parametrize("storage", ["float32", "float16"])
@pytest.mark.parametrize("flow", ["cavity with bodies", "open channel", "sponges"])
def test_other_precisions(flow, storage, pattern, device):
    compare(flow, lbm.TRT(0.7), storage, pattern, device, 4)


def test_bgk(device):
    compare("cavity with bodies", lbm.BGK(0.8), "float64", "esoteric", device, 4)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_long_rows_among_many_kinds_of_cells(pattern, device):
    """There are more cells than a scratch array holds, and more kinds than offsets are cached."""
    shape = (2 * SCRATCH_CELLS + 21, 5, 4)
    solid = np.random.default_rng(3).random(shape) < 0.04
    solid[:SCRATCH_CELLS] = False
    options = {"boundaries": {"y-": lbm.NoSlip(), "y+": lbm.MovingWall((0.1, 0.0, 0.05)),
                              "body": lbm.Solid(solid)}}  # fmt: skip
    ours, theirs = make_both(shape, pattern, device, options)
    assert len(ours.problem.links.masks) > 2 * CACHED_OFFSETS
    follow(ours, theirs, 2, TOLERANCE["float64"])


def test_any_conditions_around_any_solids(device):
    rng, shape = np.random.default_rng(0), (4, 5, 3)

    for k in range(60):
        options = {
            "boundaries": random_walls(rng, shape),
            "lattice": LATTICES["D3Q27" if k % 2 else "D3Q19"],
        }
        ours, theirs = make_both(shape, "esoteric", device, options)
        follow(ours, theirs, 3, TOLERANCE["float64"])


@pytest.mark.simulator
@pytest.mark.parametrize("pattern", PATTERNS)
def test_two_steps_of_a_tiny_flow(pattern, device):
    shape = (4, 3, 3)
    solid = np.zeros(shape, bool)
    solid[1, 1, 2] = True
    walls = {"x": lbm.NoSlip(), "y-": lbm.FreeSlip(), "y+": lbm.MovingWall((0.1, 0.0, 0.05)),
             "body": lbm.Solid(solid)}  # fmt: skip
    options = {"boundaries": walls, "force": (1e-4, 0.0, 2e-5)}
    ours, theirs = make_both(shape, pattern, device, options)
    follow(ours, theirs, 2, TOLERANCE["float64"])
