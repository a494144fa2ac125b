"""The one pass over all cells that looks for bad ones, before the worst of them is searched."""

import itertools

import numpy as np
import pytest

import lbm
from flows import FLOWS, FORMS, PATTERNS, SHAPE, on_parts

SPEED_LIMIT = 0.8 / 3**0.5
"""Largest speed that the check accepts: Mach 0.8."""

BAD = [
    *((0.24, 0.0), (3.01, 0.1), (-1.0, 0.0), (np.nan, 0.0)),
    *((1.0, 1.01 * SPEED_LIMIT), (1.0, np.nan), (1.0, np.inf)),
]
"""Density and speed of cells that the check refuses."""

GOOD = [(0.26, 0.0), (2.99, 0.0), (1.0, 0.99 * SPEED_LIMIT)]


def write(s, t, cells, rho, u):
    """Set the populations before step t to equilibria: at rest, and in some cells otherwise."""
    nx, ny, nz = s.shape
    moments = np.zeros((4, nz, ny, nx))
    for x, y, z in cells:
        moments[:, z, y, x] = rho - 1.0, 0.0, u, 0.0
    with np.errstate(invalid="ignore"):
        s.domain.write(t, 0, moments)


def make(flow="cavity with bodies", **options):
    settings = FLOWS[flow] | {"force": (1e-300, 0.0, 0.0)}
    return lbm.Simulation(SHAPE, **settings | options)


def corners_and_others(s):
    """Return fluid cells in corners, beside bodies, at faces and inside."""
    cells = [(0, 0, 0), (11, 8, 6), (0, 8, 3), (6, 3, 2), (5, 5, 5), (11, 4, 0)]
    assert all(s.fluid[cell] for cell in cells)
    return cells


@pytest.mark.parametrize(("pattern", "precision"), itertools.product(PATTERNS, FORMS))
def test_every_bad_cell_is_seen(pattern, precision, device):
    s = make(pattern=pattern, device=device, **FORMS[precision])
    cells = corners_and_others(s)
    for t in (0, 1):
        for rho, u in GOOD:
            write(s, t, cells, rho, u)
            assert not s.domain.may_have_bad_cell(t)
        for cell in cells:
            for rho, u in [(0.24, 0.0), (1.0, 1.01 * SPEED_LIMIT)]:
                write(s, t, [cell], rho, u)
                assert s.domain.may_have_bad_cell(t)
    for rho, u in BAD:
        write(s, 0, cells[-1:], rho, u)
        assert s.domain.may_have_bad_cell(0)
    write(s, 0, [], 1.0, 0.0)
    assert not s.domain.may_have_bad_cell(0)


@pytest.mark.simulator
def test_both_parities_on_few_cells(device):
    """The simulator would take long for the test above."""
    solid = np.zeros((4, 2, 2), bool)
    solid[2, 1, 0] = True
    s = lbm.Simulation((4, 2, 2), boundaries={"x": lbm.NoSlip(), "grain": lbm.Solid(solid)},
                       device=device)  # fmt: skip
    for t in (0, 1):
        for cell in ((0, 0, 0), (3, 1, 0), (1, 1, 1)):
            write(s, t, [cell], 3.01, 0.0)
            assert s.domain.may_have_bad_cell(t)
        write(s, t, [(1, 0, 1)], 2.99, 0.1)
        assert not s.domain.may_have_bad_cell(t)


def test_a_force_adds_half_of_its_impulse_and_that_of_a_scalar_counts():
    s = lbm.Simulation((4, 3, 2), force=(0.0, 0.02, 0.0), device="cpu")
    for u, bad in ((SPEED_LIMIT - 0.005, False), (SPEED_LIMIT + 0.005, True)):
        write(s, 0, [(1, 1, 1)], 1.0, u)
        assert s.domain.may_have_bad_cell(0) is bad
    heat = lbm.Scalar(0.1, buoyancy=(0.0, 0.02, 0.0), start=1.0)
    s = lbm.Simulation((4, 3, 2), scalars={"heat": heat}, device="cpu")
    write(s, 0, [(1, 1, 1)], 1.0, SPEED_LIMIT - 0.015)
    s.require_stable()
    write(s, 0, [(1, 1, 1)], 1.0, SPEED_LIMIT - 0.005)
    with pytest.raises(lbm.UnstableError, match="speed"):
        s.require_stable()


def set_scalar(s, t, value):
    """Let all scalars of a flow have a value [x, y, z] after t steps, a seventh in each direction.

    The last step must have been of the same parity.
    """
    rows = np.repeat(value.T[None] / 7, 7 * len(s.scalars), axis=0)
    for companion in s.companions:
        companion.write_rows(t, 0, rows)


def has_bad_moments(s, t):
    """Return whether the moments of a fluid cell, all of which are read, are bad."""
    drho, *u = s.domain.read_moments_to_host(t)[:, s.fluid.T]
    square = sum(component**2 for component in u)
    return not ((square < SPEED_LIMIT**2) & (drho >= -0.75) & (drho <= 2.0)).all()


@pytest.mark.parametrize(
    ("lattice", "pattern", "precision", "parts"),
    [("D3Q19", "esoteric", "float64", (1, 1, 1)), ("D3Q19", "aa", "float16", (1, 1, 1)),
     ("D3Q27", "ab", "float64", (1, 1, 1)), ("D3Q19", "esoteric", "float32", (2, 1, 2))],
)  # fmt: skip
def test_a_survey_finds_what_moments_with_half_of_an_impulse_show(
    lattice, pattern, precision, parts, device
):
    """The impulse of one cell in a trial makes it too fast or slow enough; the others are good."""
    rng, outcomes = np.random.default_rng(3), []
    heat = lbm.Scalar(0.1, buoyancy=(0.01, 0.02, -0.005), reference=0.3)
    s = make(scalars={"heat": heat}, lattice=lattice, pattern=pattern, force=(0.004, 0.0, 0.0),
             **on_parts(parts, device), **FORMS[precision])  # fmt: skip
    for t in (0, 1):
        for cell in corners_and_others(s):
            for _ in range(2):
                value = rng.uniform(-2.0, 2.0, SHAPE)
                value[cell] = rng.uniform(-10.0, 10.0)
                write(s, t, [cell], 1.0 + 0.2 * rng.random(), SPEED_LIMIT - 0.01)
                set_scalar(s, t, value)
                outcomes.append(has_bad_moments(s, t))
                assert s.domain.may_have_bad_cell(t) is outcomes[-1]
    assert 0.2 < np.mean(outcomes) < 0.8


@pytest.mark.simulator
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_not_finite_are_found(bad, device):
    """In fluid cells, in one scalar that drives the flow and in one that it carries."""
    solid = np.zeros((4, 3, 2), bool)
    solid[2, 1, 0] = True
    options = {"boundaries": {"grain": lbm.Solid(solid)}, "device": device}
    heat, salt = lbm.Scalar(0.1, buoyancy=(0.0, 1e-3, 0.0)), lbm.Scalar(0.1)
    of_salt = r"scalar 'salt' is not finite .* cell \(1, 2, 1\)"
    for scalars, words in ({"heat": heat}, "flow is not finite"), ({"salt": salt}, of_salt):
        s = lbm.Simulation((4, 3, 2), scalars=scalars, **options)
        value = np.ones((4, 3, 2))
        value[2, 1, 0] = bad
        with np.errstate(invalid="ignore"):
            set_scalar(s, 0, value)
            s.require_stable()
            value[1, 2, 1] = bad
            set_scalar(s, 0, value)
        with pytest.raises(lbm.UnstableError, match=words):
            s.require_stable()
