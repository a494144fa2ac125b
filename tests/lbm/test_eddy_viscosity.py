"""Eddy viscosities that are fields: Vreman's model, what reads it, and what keeps it."""

import itertools

import numpy as np
import pytest

import lbm
import lbm.reference
from covering import cover_pairs
from flows import FORMS, PATTERNS, follow, pair, pair_in

MODEL = lbm.Vreman(0.51, constant=2.0, every=3)
"""A model with a large constant, whose viscosity changes what a few steps compute."""

# ---- the formula and its gradient ------------------------------------------------------------


def neighbour(cell, axis, side, s, periodic):
    """Return the cell beside another one, or None where there is no fluid."""
    beside = list(cell)
    beside[axis] += side
    if not 0 <= beside[axis] < s.shape[axis]:
        if axis not in periodic:
            return None
        beside[axis] %= s.shape[axis]
    return tuple(beside) if s.fluid[tuple(beside)] else None


def brute_force(s, periodic, constant):
    """Return the viscosity [x, y, z] by the definition in the paper, cell after cell."""
    u, result = s.u.astype(float), np.zeros(s.shape)
    for cell in np.ndindex(s.shape):
        if not s.fluid[cell]:
            continue
        a = np.zeros((3, 3))  # a_ij = du_j/dx_i
        for axis in range(3):
            low, high = (neighbour(cell, axis, side, s, periodic) for side in (-1, 1))
            ends = [end for end in (low, cell, high) if end is not None]
            distance = (low is not None) + (high is not None)
            if distance:
                a[axis] = (u[:, *ends[-1]] - u[:, *ends[0]]) / distance
        b = a.T @ a
        minors = ((0, 1), (0, 2), (1, 2))
        total = sum(np.linalg.det(b[np.ix_(pair, pair)]) for pair in minors)
        if (a != 0).any():
            result[cell] = constant * np.sqrt(max(total, 0.0) / (a**2).sum())
    return result


@pytest.mark.parametrize(
    "storage",
    ["float64", *(pytest.param(f, marks=pytest.mark.slow) for f in ("float32", "float16"))],
)
def test_the_field_is_that_of_the_definition(storage, device):
    """The gradient is central, periodic at open edges, and one-sided beside walls and bodies."""
    rng, shape = np.random.default_rng(3), (20, 7, 5)
    body = np.zeros(shape, bool)
    body[4:6, 2:4, 1:3] = body[9, 3, 0] = body[11, 3, 0] = body[19, 0, 4] = True
    walls = {"y-": lbm.NoSlip(), "y+": lbm.FreeSlip(), "body": lbm.Solid(body)}
    s = lbm.Simulation(
        shape, collision=lbm.Vreman(0.6), boundaries=walls, device=device,
        u=0.02 * rng.standard_normal((3, *shape)), force=(1e-300, 0.0, 0.0), **FORMS[storage],
    )  # fmt: skip
    expected = brute_force(s, (0, 2), 0.07)
    # Rounding of differences, and of the 11 bits in which the result is stored.
    tolerance = {"float64": 1e-14, "float32": 1e-6, "float16": 6e-4}[storage]
    assert np.abs(s.eddy_viscosity - expected).max() < tolerance * expected.max()
    assert (s.eddy_viscosity[body] == 0.0).all()


def vreman(gradient, constant=1.0, dtype=float):
    """Return what the compiled formula makes of du_i/dx_j."""
    formula = lbm.Vreman.eddy_viscosity()
    along = (tuple(dtype(c) for c in column) for column in np.transpose(gradient))
    return formula(*along, dtype(constant))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gradients_of_laminar_shear_have_no_eddy_viscosity(dtype):
    rng = np.random.default_rng(1)
    for i, j in itertools.product(range(3), repeat=2):
        gradient = np.zeros((3, 3))
        gradient[i, j] = 0.01
        assert vreman(gradient, dtype=dtype) == 0.0
    for _ in range(20):  # shear of a stream in any direction, across any direction
        shear = np.outer(rng.standard_normal(3), rng.standard_normal(3))
        eps = np.finfo(dtype).eps
        assert vreman(shear, dtype=dtype) < 4 * eps * np.linalg.norm(shear)
    assert vreman(np.zeros((3, 3)), dtype=dtype) == 0.0


def test_gradients_with_known_values():
    rotation = np.array([[0, -0.3, 0], [0.3, 0, 0], [0, 0, 0]])
    assert vreman(rotation) == pytest.approx(0.3 / np.sqrt(2), rel=1e-14)
    plane_strain = np.diag([0.2, -0.2, 0.0])
    assert vreman(plane_strain) == pytest.approx(0.2 / np.sqrt(2), rel=1e-14)
    exact = 0.07 * np.sqrt((2 * 0.02**2 + 0.01**2) / 0.06)
    assert vreman(np.diag([0.2, -0.1, -0.1]), 0.07) == pytest.approx(exact, rel=1e-14)


@pytest.mark.parametrize(
    "operator", [lbm.Vreman, pytest.param(lbm.VremanBGK, marks=pytest.mark.slow)]
)
def test_energy_dissipates_by_the_sum_of_both_viscosities(operator):
    n, tau, constant = 32, 0.53, 3.0
    x, y, z = np.meshgrid(*(2 * np.pi * (np.arange(n) + 0.5) / n,) * 3, indexing="ij")
    u = 0.03 * np.stack([np.sin(x) * np.cos(y) * np.cos(z), -np.cos(x) * np.sin(y) * np.cos(z),
                         0.0 * x])  # fmt: skip
    s = lbm.Simulation((n, n, n), collision=operator(tau, constant, every=1), u=u,
                       force=(1e-300, 0.0, 0.0), dtype="float64", device="cpu").run(40)  # fmt: skip

    def energy():
        return 0.5 * (s.rho * (s.u**2).sum(axis=0)).sum()

    before = energy()
    u = s.run(5).u
    k = 2j * np.pi * np.fft.fftfreq(n)
    waves = np.meshgrid(k, k, k, indexing="ij")
    spectrum = np.fft.fftn(u, axes=(1, 2, 3))
    gradient = np.array([[np.fft.ifftn(spectrum[i] * waves[j]).real for j in range(3)]
                         for i in range(3)])  # fmt: skip
    strain = 0.5 * (gradient + gradient.swapaxes(0, 1))
    eddies = s.eddy_viscosity
    loss = (before - (s.run(5) and energy())) / 10
    without, with_eddies = (
        2.0 * (((tau - 0.5) / 3 + nu) * (strain**2).sum(axis=(0, 1))).sum() for nu in (0.0, eddies)
    )
    assert with_eddies > 1.5 * without
    assert loss == pytest.approx(with_eddies, rel=0.01)


# ---- steps -----------------------------------------------------------------------------------


def follow_viscosity(ours, theirs, tolerance=5e-15):
    """Do some steps of a flow and of its reference, and compare them, and their viscosities."""
    follow(ours, theirs, 5, tolerance)
    every = ours.collision.every
    assert ours.steps % every, "the viscosity must be the one that the last step has read"
    assert theirs.viscosity.max() > 0.01
    assert np.abs((ours.eddy_viscosity - theirs.viscosity)[theirs.fluid]).max() < 20 * tolerance


@pytest.mark.parametrize(("flow", "pattern"), cover_pairs(
    ["cavity with bodies", "open channel", "periodic", "interpolated walls", "driven in time",
     "sponges", "inlets that do not reflect"], PATTERNS))  # fmt: skip
def test_steps_match_the_reference(flow, pattern, device):
    follow_viscosity(*pair(flow, MODEL, dtype="float64", pattern=pattern, device=device))


@pytest.mark.slow
@pytest.mark.parametrize("pattern", ["ab", "esoteric"])
def test_steps_of_d3q27_match_the_reference(pattern, device):
    operator = lbm.VremanBGK(0.51, constant=2.0, every=2)
    follow_viscosity(*pair("cavity with bodies", operator, lbm.D3Q27, dtype="float64",
                           pattern=pattern, device=device))  # fmt: skip


@pytest.mark.simulator
@pytest.mark.parametrize("pattern", ["esoteric", "ab"])
def test_three_steps_of_a_tiny_flow(pattern, device):
    settings = {"boundaries": {"y-": lbm.NoSlip(), "y+": lbm.MovingWall((0.05, 0.0, 0.02))},
                "collision": lbm.Vreman(0.51, constant=2.0, every=2),
                "force": (1e-300, 0.0, 0.0)}  # fmt: skip
    ours, theirs = pair_in((4, 3, 3), settings, dtype="float64", pattern=pattern, device=device)
    follow(ours, theirs, 3)
    assert theirs.viscosity.max() > 0.01


def test_half_of_a_buoyancy_counts_as_velocity():
    """The gradient is that of the velocity that users read."""
    rng, shape = np.random.default_rng(2), (9, 8, 7)
    heat = lbm.Scalar(0.05, start=rng.standard_normal(shape), buoyancy=(0.0, 0.02, 0.01))
    s = lbm.Simulation(shape, collision=lbm.Vreman(0.6), scalars={"heat": heat}, dtype="float64",
                       force=(1e-300, 0.0, 0.0), device="cpu").run(3)  # fmt: skip
    s.run(1)
    expected = brute_force(s, (0, 1, 2), 0.07)
    assert np.abs(s.eddy_viscosity - expected).max() < 1e-14


# ---- arguments -------------------------------------------------------------------------------


def test_parameters_and_operators_without_a_field():
    assert lbm.Vreman.suited_to(0.6, 5.0, "free") == lbm.Vreman(0.6, magic=1e-3)
    text = repr(lbm.Vreman(0.6, magic=0.25, every=4.0))
    assert text == "Vreman(tau=0.6, constant=0.07, magic=0.25, every=4)"
    with pytest.raises(ValueError, match="magic must lie in"):
        lbm.Vreman(0.6, magic=0.0)
    with pytest.raises(AttributeError, match="keeps no eddy viscosity: operators that do are"):
        _ = lbm.Simulation((4, 4, 4), device="cpu").eddy_viscosity
