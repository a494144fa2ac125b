"""Temperatures and concentrations: beside NumPy, exact solutions, in parts, and after restarts."""

import itertools
import re

import numpy as np
import pytest

import lbm
from covering import cover_pairs
from flows import FLOWS, PATTERNS, SHAPE, case_text, difference, noisy
from lbm.lattices import LATTICES
from lbm_runs import call, read_text
from scalar_reference import ScalarReference
from vtk_images import read_image

HOT, COLD = lbm.FixedValue(0.5), lbm.FixedValue(-0.5)

SCALARS = {
    "periodic": {},
    "cavity with bodies": {
        "boundaries": {"x-": HOT, "x+": COLD, "y": lbm.FixedFlux(0.01), "moving": HOT}
    },
    "open channel": {"boundaries": {"x-": HOT, "still": COLD}},
    "interpolated walls": {"boundaries": {"ball": HOT, "rod": COLD, "y-": lbm.FixedFlux(0.01)}},
}
"""Boundaries of a scalar in flows of `flows`."""


def start(x, y, z):
    return 0.3 * np.sin(0.7 * x + 0.4 * y) * np.cos(0.9 * z)


def make_scalar(flow, **options):
    settings = {"buoyancy": (0.0, 2e-3, 1e-3), "reference": 0.1, "start": start}
    return lbm.Scalar(0.05, **settings | SCALARS[flow] | options)


def make(flow, scalar=None, lattice=lbm.D3Q19, **options):
    """Return a flow with a scalar and its reference, from the same noisy start."""
    rho, u = noisy(SHAPE)
    scalar, settings = scalar or make_scalar(flow), {"lattice": lattice, **FLOWS[flow]}
    ours = lbm.Simulation(SHAPE, collision=lbm.TRT(0.7), rho=rho, u=u, scalars={"heat": scalar},
                          **settings, **options)  # fmt: skip
    theirs = ScalarReference(SHAPE, lbm.TRT(0.7), scalar, **settings)
    theirs.set(rho, u, start(*np.ogrid[0.5:12, 0.5:9, 0.5:7]))
    return ours, theirs


def follow(ours, theirs, steps, tolerance):
    """Do steps of a flow and of its reference, and compare all their fields after each."""
    for _ in range(steps):
        ours.run(1)
        theirs.step()
        values = np.abs(ours.scalars["heat"].values - theirs.values).max()
        assert max(difference(ours, theirs), values) < tolerance


@pytest.mark.parametrize(
    ("flow", "pattern", "lattice"), cover_pairs(SCALARS, PATTERNS, LATTICES.values())
)
def test_steps_match_the_reference(flow, pattern, lattice, device):
    both = make(flow, lattice=lattice, pattern=pattern, dtype="float64", device=device)
    follow(*both, 5, 5e-15)


@pytest.mark.parametrize("storage", ["float32", pytest.param("float16", marks=pytest.mark.slow)])
def test_other_precisions(storage, device):
    tolerance = {"float32": 3e-7, "float16": 3e-4}[storage]
    follow(*make("open channel", storage=storage, device=device), 4, tolerance)


@pytest.mark.simulator
@pytest.mark.parametrize("walls", [
    {"y": lbm.NoSlip()},
    {"y": lbm.NoSlip(),  # one cell lies between the two other walls
     "floor": lbm.Solid(lbm.HalfSpace((0, 1.3, 0), (0, 1, 0)), lbm.NoSlip(), "interpolated"),
     "ball": lbm.Solid(lbm.Sphere((2.1, 4.4, 1.4), 1.1), lbm.NoSlip(), "interpolated")},
], ids=["faces", "interpolated"])  # fmt: skip
def test_steps_on_a_small_grid(walls, device):
    """Small enough for the simulator of CUDA."""
    shape = 4, 6, 3
    values = {"floor": HOT, "ball": COLD} if "floor" in walls else {"y-": HOT, "y+": COLD}
    scalar = lbm.Scalar(0.1, values, start=start, buoyancy=(0.0, 1e-3, 0.0))
    s = lbm.Simulation(shape, boundaries=walls, scalars={"heat": scalar}, dtype="float64",
                       device=device)  # fmt: skip
    theirs = ScalarReference(shape, lbm.TRT(0.8), scalar, walls)
    theirs.set(np.ones(shape), np.zeros((3, *shape)), start(*np.ogrid[0.5:4, 0.5:6, 0.5:3]))
    follow(s, theirs, 2, 5e-15)
    heat = s.scalars["heat"]
    before = heat.total()
    s.run(1)
    entered = sum(heat.flux(name) for name in values)
    assert heat.total() - before == pytest.approx(entered, abs=1e-13)


# ---- exact solutions -------------------------------------------------------------------------


def run_scalar(shape, steps, scalar, walls=None, device="cpu", **options):
    """Run a flow in float64 with a scalar, and return the flow and the scalar."""
    s = lbm.Simulation(shape, boundaries=walls, scalars={"t": scalar}, dtype="float64",
                       device=device, **options).run(steps)  # fmt: skip
    return s, s.scalars["t"]


def body(shape):
    return lbm.Solid(shape, wall="interpolated")


def test_a_sine_diffuses_at_second_order():
    errors, d = [], 0.1
    for n in (16, 32):
        k = 2 * np.pi / n
        wave = lbm.Scalar(d, start=lambda x, y, z, k=k: np.sin(k * x) + 0 * y * z)
        s, t = run_scalar((n, 1, 1), n * n // 4, wave)
        exact = np.sin(k * (np.arange(n) + 0.5)) * np.exp(-d * k * k * s.steps)
        errors.append(np.abs(t.values[:, 0, 0] - exact).max())
    assert errors[0] < 2e-3
    assert np.log2(errors[0] / errors[1]) > 1.7


def test_a_drop_moves_and_spreads():
    """A Gaussian in a uniform flow: its centre moves with it, its variance grows by 2 D t."""
    n, d, speed = 200, 0.1, 0.1

    def drop(x, y, z, t=0.0, width=36.0):
        grown = width + 2 * d * t
        return np.sqrt(width / grown) * np.exp(-0.5 * (x - 60 - speed * t) ** 2 / grown) + 0 * y * z

    _, t = run_scalar((n, 1, 1), 400, lbm.Scalar(d, start=drop), u=(speed, 0.0, 0.0))
    error = np.abs(t.values[:, 0, 0] - drop(np.arange(n) + 0.5, 0, 0, 400.0)).max()
    assert error < 3e-3  # of 1; the third derivative of the profile moves at another speed


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_conduction_between_plates_is_exact(axis, device):
    shape, name = [3, 3, 3], "xyz"[axis]
    shape[axis] = 10
    scalar = lbm.Scalar(0.2, {f"{name}-": HOT, f"{name}+": COLD})
    _, t = run_scalar(tuple(shape), 3000, scalar, {name: lbm.NoSlip()}, device)
    line = np.moveaxis(t.values, axis, 0)[:, 0, 0]
    assert np.abs(line - (0.5 - (np.arange(10) + 0.5) / 10)).max() < 1e-12
    assert t.flux(f"{name}-") == pytest.approx(0.2 / 10 * 9, rel=1e-10)
    assert t.flux(f"{name}+") == pytest.approx(-0.2 / 10 * 9, rel=1e-10)
    assert t.nusselt(f"{name}-", difference=1.0, length=10.0, area=9.0) == pytest.approx(1.0)


@pytest.mark.parametrize("gap", [6.3, 6.9, 1.2, 0.7])
def test_plates_anywhere_between_cells_are_exact(gap):
    """Also with one cell between them, which is solved for both walls."""
    low, y = 2.3, np.arange(12) + 0.5
    walls = {"y": lbm.NoSlip(), "floor": body(lbm.HalfSpace((0.0, low, 0.0), (0, 1, 0))),
             "ceiling": body(lbm.HalfSpace((0.0, low + gap, 0.0), (0, -1, 0)))}  # fmt: skip
    scalar = lbm.Scalar(0.2, {"floor": HOT, "ceiling": COLD})
    s, t = run_scalar((2, 12, 2), 2000, scalar, walls)
    line = s.fluid[0, :, 0]
    assert np.abs(t.values[0, line, 0] - (0.5 - (y - low) / gap)[line]).max() < 1e-12
    assert t.flux("floor") == pytest.approx(0.2 / gap * 4, rel=1e-9)
    assert t.flux("ceiling") == pytest.approx(-0.2 / gap * 4, rel=1e-9)


@pytest.mark.parametrize(("flow", "boundaries"), [
    ("cavity with bodies", {}), ("cavity with bodies", {"x-": HOT, "y": lbm.FixedFlux(0.001)}),
    ("interpolated walls", SCALARS["interpolated walls"]["boundaries"]),
], ids=["adiabatic", "faces", "interpolated"])  # fmt: skip
def test_what_enters_stays(flow, boundaries):
    """The total grows by what the walls give, to rounding, and by nothing if they are adiabatic."""
    scalar = make_scalar(flow, boundaries=boundaries)
    s = make(flow, scalar, dtype="float64", device="cpu")[0].run(1)
    faces = zip(("x-", "x+", "y-", "y+", "z-", "z+"), s.faces, strict=True)
    walls = [name for name, face in faces if not isinstance(face, lbm.Periodic)]
    heat, walls = s.scalars["heat"], [*walls, *s.solids]
    before, entered = heat.total(), 0.0
    for _ in range(20):
        s.run(1)
        entered += sum(heat.flux(name) for name in walls)
    assert heat.total() - before == pytest.approx(entered, abs=1e-12)
    assert bool(boundaries) == (abs(entered) > 0.1)


def test_fluid_that_enters_brings_its_value():
    """A uniform stream is filled from its inlet and lets everything out again."""
    walls = {"x-": lbm.VelocityInlet((0.1, 0.0, 0.0)), "x+": lbm.PressureOutlet(1.0)}
    scalar = lbm.Scalar(0.02, {"x-": lbm.FixedValue(0.7)})
    _, t = run_scalar((40, 2, 2), 1500, scalar, walls, u=(0.1, 0.0, 0.0))
    assert np.abs(t.values - 0.7).max() < 1e-3


def test_a_column_of_light_fluid_is_at_rest():
    """Hydrostatics: between plates with a linear temperature the pressure balances the buoyancy."""
    scalar = lbm.Scalar(0.2, {"y-": COLD, "y+": HOT}, buoyancy=(0.0, 1e-4, 0.0),
                        start=lambda x, y, z: y / 12 - 0.5 + 0 * x * z)  # fmt: skip
    s, _ = run_scalar((4, 12, 4), 3000, scalar, {"y": lbm.NoSlip()}, collision=lbm.TRT(1.0))
    assert np.abs(s.u).max() < 1e-12
    middle = np.arange(1, 12) / 12 - 0.5
    assert np.abs(np.diff(s.drho[0, :, 0] / 3) - 1e-4 * middle).max() < 1e-7


@pytest.mark.parametrize("shape", [(6, 5, 1), (5, 4, 7)])
def test_a_buoyant_flow_starts_with_the_given_velocity(shape):
    """Numbers and arrays of velocity, density and start in all combinations, also by `set`."""
    given = {"u": (0.01, 0.02, -0.03), "rho": 1.1, "start": 0.7}
    full = {k: np.multiply.outer(v, np.ones(shape)) for k, v in given.items()}
    for whole in itertools.product((False, True), repeat=3):
        u, rho, first = ((full if w else given)[k] for k, w in zip(given, whole, strict=True))
        scalar = lbm.Scalar(0.1, start=first, buoyancy=(0.02, -0.01, 0.03))
        s, _ = run_scalar(shape, 0, scalar, u=u, rho=rho)
        assert np.abs(s.u - full["u"]).max() < 1e-15
        s.set(u=-np.asarray(u), rho=rho)
        assert np.abs(s.u + full["u"]).max() < 1e-15


@pytest.mark.parametrize("size", [1e-25, 3e7])
def test_sums_are_exact_in_any_unit(size):
    """Numbers of molecules are large, and fractions of a trace are small."""
    ends = {"y-": lbm.FixedValue(size), "y+": lbm.FixedValue(0.0)}
    dye = lbm.Scalar(0.1, ends, start=lambda x, y, z: size * (1 - y / 6) + 0 * (x + z))
    _, t = run_scalar((4, 6, 5), 2000, dye, {"y": lbm.NoSlip()})
    assert t.total() == pytest.approx(0.5 * size * 120, rel=1e-12, abs=0.0)
    assert t.flux("y-") == pytest.approx(0.1 * size / 6 * 20, rel=1e-9, abs=0.0)


# ---- parts and several scalars ---------------------------------------------------------------


def test_two_parts_of_a_device_with_sponges_and_a_scalar(device, tmp_path):
    """On a GPU the planes of halos, sponges and scalars of two parts share its streams."""
    walls = {"x-": lbm.VelocityInlet((0.05, 0.0, 0.0)), "x+": lbm.PressureOutlet()}
    heat = lbm.Scalar(0.1, {"x-": HOT}, start=start, buoyancy=(0.0, 1e-3, 0.0))
    rho, u = noisy((10, 4, 2))
    options = {"boundaries": walls, "scalars": {"heat": heat}, "rho": rho, "u": u,
               "sponges": {"x+": lbm.Sponge(5, reflection=0.3, averaging=5.0)}}  # fmt: skip
    one, two, again = (
        lbm.Simulation((10, 4, 2), dtype="float64", device=devices, decomposition=grid, check=0,
                       **options)
        for devices, grid in (([device], (1, 1, 1)), *[([device] * 2, (1, 2, 1))] * 2)
    )  # fmt: skip
    one.run(2)
    again.restore(two.run(1).save(tmp_path / "state"))
    for s in (two, again):
        s.run(1)
        assert np.abs(s.u - one.u).max() < 1e-14
        assert np.abs(s.scalars["heat"].values - one.scalars["heat"].values).max() < 1e-14


def test_several_scalars_and_a_new_start(device):
    scalars = {"salt": lbm.Scalar(0.01, start=start), "heat": make_scalar("periodic")}
    s = lbm.Simulation(SHAPE, scalars=scalars, dtype="float64", device=device)
    assert list(s.scalars) == ["heat", "salt"]
    first = s.run(3).scalars["salt"].values
    s.set()
    assert np.array_equal(s.run(3).scalars["salt"].values, first)
    heat = {"heat": scalars["heat"]}
    alone = lbm.Simulation(SHAPE, scalars=heat, dtype="float64", device=device).run(3)
    assert np.array_equal(alone.u, s.u)


# ---- refusals --------------------------------------------------------------------------------


WALLS = {"x-": lbm.VelocityInlet((0.05, 0.0, 0.0)), "x+": lbm.PressureOutlet(), "y": lbm.NoSlip()}


@pytest.mark.parametrize(("scalars", "message"), [
    *(({name: lbm.Scalar(0.1)}, re.escape(f"scalars has the key {name!r}"))
      for name in ("x", "component", "speed", "u", "a b")),
    ({"t": lbm.Scalar(0.1)}, "the inlet 'x-' needs lbm.FixedValue"),
    ({"t": lbm.Scalar(0.1, {"x-": HOT, "z": HOT})}, "the face 'z-' is periodic"),
    ({"t": lbm.Scalar(0.1, {"x-": HOT, "ball": HOT})}, "has the key 'ball'"),
    ({"t": lbm.Scalar(0.1, {"x-": HOT, "x": HOT})}, "specifies the face 'x-' twice"),
    ({"t": lbm.Scalar(0.1, {"x-": HOT}, start=np.zeros(3))}, "start must be a number or of sh"),
    ({n: lbm.Scalar(0.1, {"x-": HOT}, buoyancy=(0, 1e-3, 0)) for n in "ab"},
     "the scalars a, b have a buoyancy"),
])  # fmt: skip
def test_impossible_scalars_are_refused(scalars, message):
    with pytest.raises((ValueError, TypeError), match=message):
        lbm.Simulation((8, 6, 4), boundaries=WALLS, scalars=scalars, device="cpu")


def test_numbers_beyond_the_range_of_float32_are_refused():
    options = {"shape": (8, 6, 4), "boundaries": WALLS, "device": "cpu"}
    for scalar, message in (
        (lbm.Scalar(0.1, {"x-": HOT}, start=1e300), "start has the size 1e\\+300"),
        (lbm.Scalar(0.1, {"x-": lbm.FixedValue(-1e39)}), r"boundaries\['x-'\] has the size 1e\+39"),
        (lbm.Scalar(0.1, {"x-": HOT}, reference=1e40), "buoyancy or reference"),
    ):
        with pytest.raises(ValueError, match=message):
            lbm.Simulation(scalars={"t": scalar}, **options)
        lbm.Simulation(scalars={"t": scalar}, dtype="float64", **options)


CASE = case_text((20, 12, 1), 4, """
[boundaries]
y = "no-slip"
[scalars.temperature]
diffusivity = 1.4e-7
boundaries = { "y-" = 5.0, "y+" = { flux = 0.001 } }
buoyancy = [0.0, 0.002, 0.0]
reference = 2.5
start = 2.5
""")  # fmt: skip


def test_scalars_in_case_files(tmp_path, capsys):
    case = read_text(tmp_path, CASE)
    units, scalar = case.scales.units, case.arguments["scalars"]["temperature"]
    assert scalar.diffusivity == pytest.approx(1.4e-7 * units.dt / units.dx**2)
    assert scalar.buoyancy[1] == pytest.approx(0.002 * units.dt**2 / units.dx)
    assert scalar.boundaries["y-"] == lbm.FixedValue(5.0)
    assert scalar.boundaries["y+"].flux == pytest.approx(0.001 * units.dt / units.dx)
    assert (scalar.start, scalar.reference) == (2.5, 2.5)
    picture = "\n[output.pictures]\nevery = 4\nfield = "
    for old, new, message in (
        ("flux = 0.001", "flux = 0.001, value = 1.0", "y+.value or flux is needed"),
        ("1.4e-7", "1.0", "scalars.temperature: diffusivity must be above 0"),
        ("start = 2.5", f'start = 2.5{picture}"salt"', "output.pictures.field must be one of"),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            read_text(tmp_path, CASE.replace(old, new))
    pytest.importorskip("matplotlib")
    read_text(tmp_path, f'{CASE}{picture}"temperature"')
    out = tmp_path / "out"
    assert call(capsys, "run", tmp_path / "case.toml", "--out", out, "--device", "cpu")[0] == 0
    (drawing,) = out.glob("*.png")
    assert drawing.read_bytes()[:4] == b"\x89PNG"


def test_a_scalar_that_blows_up_is_named_and_not_the_flow_that_carries_it():
    """Its lattice is far from stable here; the flow alone is uniform."""
    stream = {"x-": lbm.VelocityInlet((0.3, 0.0, 0.0)), "x+": lbm.PressureOutlet()}
    dye = lbm.Scalar(1e-5, {"x-": lbm.FixedValue(1.0)}, magic=1e-5,
                     start=lambda x, y, z: np.sign(np.sin(2 * x + 3 * y)) + 0.0 * z)  # fmt: skip
    s = lbm.Simulation((32, 8, 1), boundaries=stream, u=(0.3, 0.0, 0.0), scalars={"dye": dye},
                       collision=lbm.TRT(0.9), device="cpu")  # fmt: skip
    with pytest.raises(lbm.UnstableError, match="the scalar 'dye' is not finite after") as caught:
        s.run(3000)
    assert "back in the state of step" in str(caught.value)
    s.run(caught.value.step - 1 - s.steps)
    assert np.isfinite(s.scalars["dye"].values).all()


def test_files_and_pictures_hold_scalars(tmp_path):
    heat = lbm.Scalar(0.1, start=lambda x, y, z: x + 10 * y + 0 * z)
    s = lbm.Simulation((6, 5, 4), dtype="float64", device="cpu", scalars={"heat": heat})
    values = s.scalars["heat"].values
    pytest.importorskip("xarray")
    assert np.array_equal(s.to_xarray()["heat"].values, values)
    pytest.importorskip("vtkmodules.vtkIOXML")
    assert np.array_equal(read_image(s.write_vtk(tmp_path / "flow"))[1]["heat"], values)
    pytest.importorskip("matplotlib")
    figure = s.plot("z", field="heat")
    np.testing.assert_allclose(figure.axes[0].get_images()[0].get_array(), values[:, :, 2].T)
    assert "heat" in [axes.get_ylabel() for axes in figure.axes]
    with pytest.raises(ValueError, match=r"field must be one of .*'drho', 'heat'"):
        s.plot("z", field="temperature")
