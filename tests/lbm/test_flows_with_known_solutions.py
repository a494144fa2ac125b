"""Channels, ducts and vortices: exact solutions, and orders of convergence by regression."""

import itertools

import numpy as np
import pytest

import lbm
from covering import cover_pairs
from flows import FORMS, wave
from lbm._coupled.open_faces.sheared import ShearedOutlets

FORCED = {"dtype": "float64", "collision": lbm.TRT(0.9)}
NU = 0.4 / 3


def run_to_steady_state(shape, device, *, force=0.0, tolerance=1e-12, **options):
    stop = lbm.SteadyState(tolerance, 100)
    # A vanishing force keeps all of these to one compiled kernel.
    s = lbm.Simulation(shape, force=(force or 1e-300, 0.0, 0.0), device=device,
                       **FORCED | options)  # fmt: skip
    s.run(40000, callbacks=[stop])
    assert stop.reached
    return s


@pytest.mark.parametrize("upper", [lbm.NoSlip(), lbm.FreeSlip()], ids=["channel", "half of one"])
def test_poiseuille_is_exact_with_the_magic_three_sixteenths(upper, device):
    n, g = 12, 1e-6
    walls = {"y-": lbm.NoSlip(), "y+": upper}
    s = run_to_steady_state((2, n, 2), device, force=g, boundaries=walls)
    y, width = np.arange(n) + 0.5, n if upper == lbm.NoSlip() else 2 * n
    assert np.abs(s.u[0, 0, :, 0] / (g * y * (width - y) / (2 * NU)) - 1).max() < 1e-9


@pytest.mark.parametrize("storage", ["float32", "float16"])
def test_low_precision_on_taylor_green(storage, device):
    """The error of low-precision storage, relative to float64, is that in the documentation."""
    shape, rho, u = wave(32, speed=0.05)
    runs = {
        p: lbm.Simulation(shape, collision=lbm.TRT(0.7), rho=rho, u=u, **FORMS[p],
                          force=(1e-300, 0.0, 0.0), device=device).run(200).u
        for p in ("float64", storage)
    }  # fmt: skip
    error = np.abs(runs[storage] - runs["float64"]).max() / np.abs(runs["float64"]).max()
    assert error < {"float32": 1e-5, "float16": 1e-2}[storage]
    assert error > 0


UNIFORM = (0.05, -0.03, 0.04)
CHOICES = ("periodic", "inlet", "outlet", "slip", "lid")


def uniform_flow(kinds):
    """Return velocity and boundaries of a uniform flow for the conditions `kinds` of three axes.

    Each is the condition of both faces of an axis, or a pair. The flow is along slip faces, lids.
    """
    pairs = [(k, k) if isinstance(k, str) else k for k in kinds]
    sealed = [bool({"slip", "lid"} & set(pair)) for pair in pairs]
    u = tuple(0.0 if s else v for s, v in zip(sealed, UNIFORM, strict=True))
    make = {
        "periodic": lbm.Periodic(), "inlet": lbm.VelocityInlet(u),
        "outlet": lbm.PressureOutlet(1.0), "slip": lbm.FreeSlip(), "lid": lbm.MovingWall(u),
    }  # fmt: skip
    faces = [f"{axis}{end}" for axis in "xyz" for end in "-+"]
    return u, {f: make[k] for f, k in zip(faces, itertools.chain(*pairs), strict=True)}


def keeps_uniform_flow(kinds, device, shape=(4, 5, 3), **bodies):
    """Return whether a uniform flow is still uniform after three steps."""
    u, boundaries = uniform_flow(kinds)
    s = lbm.Simulation(shape, u=u, boundaries=boundaries | bodies, force=(1e-300, 0.0, 0.0),
                       device=device, check=0, **FORCED)  # fmt: skip
    s.run(3)
    error = np.abs(s.u - np.reshape(u, (3, 1, 1, 1)))[:, s.fluid].max()
    return max(error, np.abs(s.rho - 1.0).max()) < 1e-14


def test_a_uniform_flow_passes_every_pair_and_triple_of_conditions(device):
    """Uniform flow is exact: at every face, edge and corner where these conditions meet."""
    wrong = [k for k in itertools.product(CHOICES, repeat=3) if not keeps_uniform_flow(k, device)]
    assert wrong == []


def test_a_uniform_flow_passes_where_the_ends_of_an_axis_differ(device):
    ends = list(itertools.permutations(("inlet", "outlet", "slip", "lid"), 2))
    triples = [(e, a, b) for e in ends for a in ("slip", "outlet", "lid") for b in ("slip", *ends)]
    cases = [tuple(np.roll(np.array(t, object), k)) for k, t in enumerate(triples[::3])]
    assert [k for k in cases if not keeps_uniform_flow(k, device)] == []


def test_a_uniform_flow_passes_solids_that_move_with_it(device):
    """Solids in the corners and at the faces of the domain, with all conditions there."""
    shape = (4, 5, 3)
    body = np.zeros(shape, bool)
    body[0, 0, 0] = body[3, 4, 2] = body[1, 0, 1] = body[0, 3, 2] = True
    wrong = []
    for *kinds, number in cover_pairs(CHOICES, CHOICES, CHOICES, range(3)):
        u, _ = uniform_flow(kinds)
        conditions = [lbm.VelocityInlet(u), lbm.PressureOutlet(1.0), lbm.MovingWall(u)]
        # Walls do not let a flow slide along a slip face into them.
        condition = conditions[number % (2 if "slip" in kinds else 3)]
        if not keeps_uniform_flow(kinds, device, shape, body=lbm.Solid(body, condition)):
            wrong.append((kinds, condition))
    assert wrong == []


def test_a_layer_of_solid_cells_is_a_face(device, monkeypatch):
    """A wall in the domain acts as one at its end, beside faces of any condition.

    Only the shear stress of channels is added at faces alone, and left out here.
    """
    monkeypatch.setattr(ShearedOutlets, "after_step", lambda outlets, t: None)
    rng = np.random.default_rng(5)
    rho, u = 1.0 + 0.01 * rng.standard_normal((4, 4, 3)), 0.02 * rng.standard_normal((3, 4, 4, 3))
    conditions = (lbm.NoSlip(), lbm.MovingWall((0.0, 0.05, -0.02)),
                  lbm.VelocityInlet((0.04, 0.03, 0.02)), lbm.PressureOutlet(1.01))  # fmt: skip
    sides = (lbm.FreeSlip(), lbm.Periodic(), lbm.NoSlip(), lbm.MovingWall((0.02, 0.0, 0.0)),
             lbm.VelocityInlet((0.03, -0.01, 0.05)), lbm.PressureOutlet(0.99))  # fmt: skip
    layer = np.zeros((5, 4, 3), bool)
    layer[0] = True
    wider = [np.concatenate([a[..., :1, :, :], a], axis=-3) for a in (rho, u)]
    for condition, y, z in itertools.product(conditions, sides, sides):
        if type(condition) in (type(y), type(z)) and not isinstance(condition, lbm.NoSlip):
            continue  # one of two inlets must win at their edge: not always the same
        walls = {"x+": lbm.PressureOutlet(), "y": y, "z": z}
        options = {"force": (1e-300, 0.0, 0.0), "device": device, "check": 0} | FORCED
        face = lbm.Simulation((4, 4, 3), boundaries=walls | {"x-": condition}, rho=rho, u=u,
                              **options)  # fmt: skip
        walls |= {"x-": lbm.NoSlip(), "layer": lbm.Solid(layer, condition)}
        solid = lbm.Simulation((5, 4, 3), boundaries=walls, rho=wider[0], u=wider[1], **options)
        np.testing.assert_allclose(solid.run(4).u[:, 1:], face.run(4).u, rtol=0, atol=1e-15)


@pytest.mark.parametrize("side", [lbm.Periodic(), lbm.FreeSlip(), lbm.PressureOutlet()])
def test_couette_is_exact_between_other_faces(side, device):
    """The flow is along the edges: an edge with friction would bend the profile there."""
    n, lid = 9, 1e-5  # so slow that what varies with the speed squared cannot be seen
    walls = {"y-": lbm.NoSlip(), "y+": lbm.MovingWall((lid, 0.0, 0.0)), "z": side}
    s = run_to_steady_state((2, n, 3), device, boundaries=walls, tolerance=1e-11)
    exact = lid * (np.arange(n) + 0.5)[None, :, None] / n
    assert np.abs(s.u[0] - exact).max() < 1e-6 * lid
    assert np.abs(s.u[1:]).max() < 1e-4 * lid


@pytest.mark.parametrize(("n", "wall"), [(9, "faces"), (5, "layers of solid cells")])
def test_an_inlet_between_walls_brings_in_its_speed_times_its_area(n, wall, device):
    """What leaves through any cross section, as momentum of its cells, is U A.

    The edges of the inlet belong to it: if they belonged to the walls, 2/(3 n) would be missing.
    """
    length, speed = 4 * n, 0.02
    ends = {"x-": lbm.VelocityInlet((speed, 0.0, 0.0)), "x+": lbm.PressureOutlet(1.0)}
    if wall == "faces":
        shape, walls = (length, n, n), ends | {"y": lbm.NoSlip(), "z": lbm.NoSlip()}
    else:
        shape = length, n + 2, n + 2
        cells = np.ones(shape, bool)
        cells[:, 1:-1, 1:-1] = False
        walls = ends | {"duct": lbm.Solid(cells)}
    s = run_to_steady_state(shape, device, tolerance=1e-9, boundaries=walls)
    flow = (s.rho * s.u[0]).sum(axis=(1, 2)) / (speed * n**2)
    assert np.abs(flow[n:-n] - 1.0).max() < 2e-4
