"""Temperatures and concentrations: beside NumPy, exact solutions, in parts, and after restarts."""

import itertools
import re

import numpy as np
import pytest

import lbm
from compile_cuda import allowed_spills, compile_kernel
from flows import FLOWS, SHAPE, case_text, noisy
from generated_kernels import lbm_acceleration_signature
from hetero.cuda.driver import SIMULATOR
from lbm.__main__ import main
from lbm._cases.case import read_case
from lbm._model.streaming_patterns import PATTERNS
from scalar_reference import ScalarReference

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


def make(flow, scalar=None, **options):
    rho, u = noisy(SHAPE)
    scalars = {"temperature": scalar or make_scalar(flow)}
    return lbm.Simulation(SHAPE, collision=lbm.TRT(0.7), rho=rho, u=u, scalars=scalars,
                          **FLOWS[flow], **options)  # fmt: skip


def make_reference(flow, **options):
    rho, u = noisy(SHAPE)
    theirs = ScalarReference(SHAPE, lbm.TRT(0.7), make_scalar(flow), **FLOWS[flow], **options)
    theirs.set(rho, u, start(*np.ogrid[0.5:12, 0.5:9, 0.5:7]))
    return theirs


def difference(ours, theirs):
    rho, u = theirs.moments()
    values = ours.scalars["temperature"].values
    return max(
        np.abs(ours.rho - rho).max(), np.abs(ours.u - u).max(), np.abs(values - theirs.values).max()
    )


@pytest.mark.parametrize("flow", SCALARS)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_steps_match_the_reference(flow, pattern, device):
    ours, theirs = make(flow, pattern=pattern, dtype="float64", device=device), make_reference(flow)
    for _ in range(5):
        assert difference(ours, theirs) < 5e-15
        ours.run(1)
        theirs.step()


def test_steps_on_the_lattice_d3q27_match_the_reference(device):
    settings = {"lattice": lbm.D3Q27}
    ours = make("cavity with bodies", dtype="float64", device=device, **settings)
    theirs = make_reference("cavity with bodies", **settings)
    for _ in range(4):
        ours.run(1)
        theirs.step()
        assert difference(ours, theirs) < 5e-15


@pytest.mark.parametrize(("storage", "tolerance"), [("float32", 3e-7), ("float16", 3e-4)])
def test_other_precisions(storage, tolerance, device):
    ours = make("open channel", dtype="float32", storage=storage, device=device)
    theirs = make_reference("open channel")
    for _ in range(4):
        ours.run(1)
        theirs.step()
        assert difference(ours, theirs) < tolerance


@pytest.mark.simulator
def test_steps_on_a_small_grid(device):
    """Small enough for the simulator of CUDA."""
    s = lbm.Simulation((5, 4, 3), boundaries={"y": lbm.NoSlip()}, dtype="float64", device=device,
                       scalars={"c": lbm.Scalar(0.1, {"y-": HOT, "y+": COLD}, start=start,
                                                buoyancy=(0.0, 1e-3, 0.0))})  # fmt: skip
    theirs = ScalarReference((5, 4, 3), lbm.TRT(0.8), s.scalars["c"].scalar, {"y": lbm.NoSlip()})
    theirs.set(np.ones((5, 4, 3)), np.zeros((3, 5, 4, 3)), start(*np.ogrid[0.5:5, 0.5:4, 0.5:3]))
    for _ in range(2):
        s.run(1)
        theirs.step()
    assert np.abs(s.scalars["c"].values - theirs.values).max() < 1e-15
    assert np.abs(s.u - theirs.moments()[1]).max() < 1e-15


@pytest.mark.simulator
def test_interpolated_values_on_a_small_grid(device):
    """Small enough for the simulator of CUDA; one cell lies between the two walls."""
    walls = {
        "y": lbm.NoSlip(),
        "floor": lbm.Solid(lbm.HalfSpace((0, 1.3, 0), (0, 1, 0)), lbm.NoSlip(), "interpolated"),
        "ball": lbm.Solid(lbm.Sphere((2.1, 4.4, 1.4), 1.1), lbm.NoSlip(), "interpolated"),
    }
    scalar = lbm.Scalar(0.1, {"floor": HOT, "ball": COLD}, start=start)
    s = lbm.Simulation((4, 6, 3), boundaries=walls, scalars={"c": scalar}, dtype="float64",
                       device=device)  # fmt: skip
    theirs = ScalarReference((4, 6, 3), lbm.TRT(0.8), scalar, walls)
    theirs.set(np.ones((4, 6, 3)), np.zeros((3, 4, 6, 3)), start(*np.ogrid[0.5:4, 0.5:6, 0.5:3]))
    for _ in range(2):
        s.run(1)
        theirs.step()
    assert np.abs(s.scalars["c"].values - theirs.values).max() < 1e-15
    before = s.scalars["c"].total()
    s.run(1)
    entered = sum(s.scalars["c"].flux(name) for name in ("floor", "ball"))
    assert s.scalars["c"].total() - before == pytest.approx(entered, abs=1e-13)


# ---- exact solutions -------------------------------------------------------------------------


def test_a_sine_diffuses_at_second_order():
    errors = []
    for n in (16, 32):
        k, d = 2 * np.pi / n, 0.1

        def wave(x, y, z, k=k):
            return np.sin(k * x) + 0 * y * z

        s = lbm.Simulation((n, 1, 1), dtype="float64", device="cpu",
                           scalars={"c": lbm.Scalar(d, start=wave)})  # fmt: skip
        s.run(n * n // 4)
        x = np.arange(n) + 0.5
        exact = np.sin(k * x) * np.exp(-d * k * k * s.steps)
        errors.append(np.abs(s.scalars["c"].values[:, 0, 0] - exact).max())
    assert errors[0] < 2e-3
    assert np.log2(errors[0] / errors[1]) > 1.7


def test_a_drop_moves_and_spreads():
    """A Gaussian in a uniform flow: its centre moves with it, its variance grows by 2 D t."""
    n, d, speed = 200, 0.1, 0.1

    def drop(x, y, z, t=0.0, width=36.0):
        grown = width + 2 * d * t
        return np.sqrt(width / grown) * np.exp(-0.5 * (x - 60 - speed * t) ** 2 / grown) + 0 * y * z

    s = lbm.Simulation((n, 1, 1), u=(speed, 0.0, 0.0), dtype="float64", device="cpu",
                       scalars={"c": lbm.Scalar(d, start=drop)}).run(400)  # fmt: skip
    x = np.arange(n) + 0.5
    error = np.abs(s.scalars["c"].values[:, 0, 0] - drop(x, 0, 0, 400.0)).max()
    assert error < 3e-3  # of 1; the third derivative of the profile moves at another speed


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_conduction_between_plates_is_exact(axis, device):
    shape, name = [3, 3, 3], "xyz"[axis]
    shape[axis] = 10
    scalar = lbm.Scalar(0.2, {f"{name}-": HOT, f"{name}+": COLD})
    s = lbm.Simulation(tuple(shape), boundaries={name: lbm.NoSlip()}, scalars={"t": scalar},
                       dtype="float64", device=device).run(3000)  # fmt: skip
    t = s.scalars["t"]
    line = np.moveaxis(t.values, axis, 0)[:, 0, 0]
    assert np.abs(line - (0.5 - (np.arange(10) + 0.5) / 10)).max() < 1e-12
    assert t.flux(f"{name}-") == pytest.approx(0.2 / 10 * 9, rel=1e-10)
    assert t.flux(f"{name}+") == pytest.approx(-0.2 / 10 * 9, rel=1e-10)
    assert t.nusselt(f"{name}-", difference=1.0, length=10.0, area=9.0) == pytest.approx(1.0)


def annulus(n, dtype="float64", device="cpu"):
    """Return conduction between cylinders of radii n and 2 n, and its flux over the exact one."""
    middle, diffusivity = 2 * n + 2.3, 0.1

    def logarithm(x, y, z):
        r = np.clip(np.hypot(x - middle, y - middle), n, 2 * n) + 0 * z
        return 1 - np.log(r / n) / np.log(2)

    walls = {
        "inner": lbm.Solid(lbm.Cylinder((middle, middle), n), wall="interpolated"),
        "outer": lbm.Solid(~lbm.Cylinder((middle, middle), 2 * n), wall="interpolated"),
    }
    heat = lbm.Scalar(diffusivity, {"inner": lbm.FixedValue(1.0), "outer": lbm.FixedValue(0.0)},
                      start=logarithm)  # fmt: skip
    s = lbm.Simulation((4 * n + 5, 4 * n + 5, 1), boundaries=walls, scalars={"heat": heat},
                       dtype=dtype, device=device).run(8 * n * n)  # fmt: skip
    x, y, z = (c + 0.5 for c in np.ogrid[: 4 * n + 5, : 4 * n + 5, :1])
    error = np.where(s.fluid, s.scalars["heat"].values - logarithm(x, y, z), 0.0)
    exact = 2 * np.pi * diffusivity / np.log(2)
    fluxes = [s.scalars["heat"].flux(name) / exact for name in ("inner", "outer")]
    return np.sqrt((error[s.fluid] ** 2).mean()), fluxes


def test_conduction_between_cylinders_is_of_second_order():
    errors, fluxes = zip(*(annulus(n) for n in (4, 8, 16)), strict=True)
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (orders > 1.9).all()
    assert errors[1] < 1.5e-3
    assert np.abs(np.array(fluxes) * (1, -1) - 1.0).max(axis=1) == pytest.approx(
        [0.005, 0.0012, 0.0003], rel=0.1
    )


def test_conduction_between_cylinders(device):
    error, (inner, outer) = annulus(4, "float32", device)
    assert error < 6e-3
    assert inner == pytest.approx(0.995, abs=1e-3)
    assert outer == pytest.approx(-0.995, abs=1e-3)


def test_conduction_between_spheres():
    """With staircases 7 % too much went through walls of such radii in some positions."""
    fluxes = []
    for n in (2.5, 5.0):
        middle, size = 3 * n + 1.8, int(6 * n + 4)

        def profile(x, y, z, n=n, middle=middle):
            square = (x - middle) ** 2 + (y - middle) ** 2 + (z - middle) ** 2
            return 1.5 * n * (1 / np.clip(np.sqrt(square), n, 3 * n) - 1 / (3 * n))

        walls = {
            "inner": lbm.Solid(lbm.Sphere((middle,) * 3, n), wall="interpolated"),
            "outer": lbm.Solid(~lbm.Sphere((middle,) * 3, 3 * n), wall="interpolated"),
        }
        heat = lbm.Scalar(0.1, {"inner": lbm.FixedValue(1.0), "outer": lbm.FixedValue(0.0)},
                          start=profile)  # fmt: skip
        s = lbm.Simulation((size,) * 3, boundaries=walls, scalars={"heat": heat}, dtype="float64",
                           device="cpu").run(round(20 * n * n))  # fmt: skip
        fluxes.append(s.scalars["heat"].flux("inner") / (4 * np.pi * 0.1 * 1.5 * n))
    assert np.abs(1.0 - np.array(fluxes)) == pytest.approx([0.0246, 0.0057], rel=0.1)


@pytest.mark.parametrize("gap", [6.3, 6.9, 1.2, 0.7])
def test_plates_anywhere_between_cells_are_exact(gap):
    """Also with one cell between them, which is solved for both walls."""
    low = 2.3
    walls = {
        "y": lbm.NoSlip(),
        "floor": lbm.Solid(lbm.HalfSpace((0.0, low, 0.0), (0, 1, 0)), wall="interpolated"),
        "ceiling": lbm.Solid(lbm.HalfSpace((0.0, low + gap, 0.0), (0, -1, 0)), wall="interpolated"),
    }
    scalar = lbm.Scalar(0.2, {"floor": HOT, "ceiling": COLD})
    s = lbm.Simulation((2, 12, 2), boundaries=walls, scalars={"t": scalar}, dtype="float64",
                       device="cpu").run(2000)  # fmt: skip
    t, y = s.scalars["t"], np.arange(12) + 0.5
    exact = 0.5 - (y - low) / gap
    line = s.fluid[0, :, 0]
    assert np.abs(t.values[0, line, 0] - exact[line]).max() < 1e-12
    assert t.flux("floor") == pytest.approx(0.2 / gap * 4, rel=1e-9)
    assert t.flux("ceiling") == pytest.approx(-0.2 / gap * 4, rel=1e-9)


def test_a_flux_heats_a_wall():
    """Steady conduction with a flux on one side: a gradient of flux/diffusivity."""
    scalar = lbm.Scalar(0.25, {"y-": lbm.FixedFlux(0.01), "y+": lbm.FixedValue(0.0)})
    s = lbm.Simulation((1, 8, 1), boundaries={"y": lbm.NoSlip()}, scalars={"t": scalar},
                       dtype="float64", device="cpu").run(2500)  # fmt: skip
    exact = 0.01 / 0.25 * (8 - np.arange(8) - 0.5)
    assert np.abs(s.scalars["t"].values[0, :, 0] - exact).max() < 1e-10
    assert s.scalars["t"].flux("y-") == pytest.approx(0.01)


def test_what_enters_through_interpolated_walls_stays():
    s = make("interpolated walls", dtype="float64", device="cpu").run(1)
    t = s.scalars["temperature"]
    before, entered = t.total(), 0.0
    for _ in range(20):
        s.run(1)
        entered += sum(t.flux(name) for name in ("y-", "y+", "ball", "rod"))
    assert t.total() - before == pytest.approx(entered, abs=1e-12)
    assert abs(entered) > 0.1


def test_what_enters_stays():
    """The total grows by what the walls give, to rounding, and by nothing if they are adiabatic."""
    walls = {"x-": HOT, "y": lbm.FixedFlux(0.001)}
    for boundaries in ({}, walls):
        s = make("cavity with bodies", make_scalar("cavity with bodies", boundaries=boundaries),
                 dtype="float64", device="cpu").run(1)  # fmt: skip
        t = s.scalars["temperature"]
        before, entered = t.total(), 0.0
        for _ in range(20):
            s.run(1)
            entered += sum(t.flux(name) for name in ("x-", "x+", "y-", "y+", "z-", "still"))
        assert t.total() - before == pytest.approx(entered, abs=1e-12)
        assert bool(boundaries) == (abs(entered) > 0.1)


def test_fluid_that_enters_brings_its_value():
    """A uniform stream is filled from its inlet and lets everything out again."""
    walls = {"x-": lbm.VelocityInlet((0.1, 0.0, 0.0)), "x+": lbm.PressureOutlet(1.0)}
    s = lbm.Simulation((40, 2, 2), boundaries=walls, u=(0.1, 0.0, 0.0), dtype="float64",
                       device="cpu", scalars={"t": lbm.Scalar(0.02, {"x-": lbm.FixedValue(0.7)})}
                       ).run(1500)  # fmt: skip
    assert np.abs(s.scalars["t"].values - 0.7).max() < 1e-3


def test_a_column_of_light_fluid_is_at_rest():
    """Hydrostatics: between plates with a linear temperature the pressure balances the buoyancy."""
    scalar = lbm.Scalar(0.2, {"y-": COLD, "y+": HOT}, buoyancy=(0.0, 1e-4, 0.0),
                        start=lambda x, y, z: y / 12 - 0.5 + 0 * x * z)  # fmt: skip
    s = lbm.Simulation((4, 12, 4), boundaries={"y": lbm.NoSlip()}, scalars={"t": scalar},
                       dtype="float64", device="cpu", collision=lbm.TRT(1.0)).run(3000)  # fmt: skip
    assert np.abs(s.u).max() < 1e-12
    y = np.arange(12) + 0.5
    gradient = np.diff(s.drho[0, :, 0] / 3)
    middle = (y[1:] + y[:-1]) / 2 / 12 - 0.5
    assert np.abs(gradient - 1e-4 * middle).max() < 1e-7


@pytest.mark.parametrize("shape", [(6, 5, 1), (6, 5, 3), (5, 4, 7)])
def test_a_buoyant_flow_starts_with_the_given_velocity(shape):
    """Numbers and arrays of velocity, density and start in all combinations, also by `set`."""
    given = {"u": (0.01, 0.02, -0.03), "rho": 1.1, "start": 0.7}
    full = {k: np.multiply.outer(v, np.ones(shape)) for k, v in given.items()}
    for whole in itertools.product((False, True), repeat=3):
        u, rho, first = ((full if w else given)[k] for k, w in zip(given, whole, strict=True))
        s = lbm.Simulation(shape, u=u, rho=rho, dtype="float64", device="cpu", scalars={
            "t": lbm.Scalar(0.1, start=first, buoyancy=(0.02, -0.01, 0.03))})  # fmt: skip
        assert np.abs(s.u - full["u"]).max() < 1e-15
        s.set(u=-np.asarray(u), rho=rho)
        assert np.abs(s.u + full["u"]).max() < 1e-15


# ---- parts, restarts, output -----------------------------------------------------------------


@pytest.mark.parametrize("flow", SCALARS)
@pytest.mark.parametrize("grid", [(3, 1, 2), (1, 4, 1), (2, 3, 1)])
def test_parts_are_bit_for_bit_one(flow, grid):
    one = make(flow, device="cpu")
    two = make(flow, device=["cpu"] * int(np.prod(grid)), decomposition=grid)
    for _ in range(4):
        one.run(1)
        two.run(1)
        ours, theirs = (s.scalars["temperature"] for s in (one, two))
        assert np.array_equal(ours.values, theirs.values)
        assert np.array_equal(one.populations(), two.populations())
        assert np.array_equal(one.u, two.u)
    assert ours.total() == theirs.total()
    for name in set(SCALARS[flow].get("boundaries", {})) & {"x+", "still", "ball", "rod"}:
        assert ours.flux(name) == theirs.flux(name)


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


@pytest.mark.parametrize("grid", [(1, 1, 1), (2, 1, 2)])
@pytest.mark.parametrize("steps", [4, 5])
def test_restarts_go_on_bit_for_bit(grid, steps, tmp_path):
    through = make("open channel", device="cpu").run(steps)
    file = through.save(tmp_path / "state")
    through.run(5)
    again = make("open channel", device=["cpu"] * int(np.prod(grid)), decomposition=grid)
    again.restore(file).run(5)
    assert np.array_equal(through.populations(), again.populations())
    values = (s.scalars["temperature"].values for s in (through, again))
    assert np.array_equal(*values)
    other = make("open channel", make_scalar("open channel", reference=0.2), device="cpu")
    with pytest.raises(lbm.CheckpointError, match="sponges, scalars and outlets="):
        other.restore(file)


def test_several_scalars_and_a_new_start(device):
    scalars = {"salt": lbm.Scalar(0.01, start=start), "heat": make_scalar("periodic")}
    s = lbm.Simulation(SHAPE, scalars=scalars, dtype="float64", device=device)
    assert list(s.scalars) == ["heat", "salt"]
    first = s.run(3).scalars["salt"].values
    s.set()
    assert np.array_equal(s.run(3).scalars["salt"].values, first)
    alone = lbm.Simulation(
        SHAPE, scalars={"heat": scalars["heat"]}, dtype="float64", device=device
    ).run(3)
    assert np.array_equal(alone.u, s.u)


def test_a_passive_scalar_leaves_the_flow_as_it_is():
    with_scalar = make(
        "cavity with bodies", make_scalar("cavity with bodies", buoyancy=(0, 0, 0)), device="cpu"
    )
    rho, u = noisy(SHAPE)
    without = lbm.Simulation(SHAPE, collision=lbm.TRT(0.7), rho=rho, u=u, device="cpu",
                             **FLOWS["cavity with bodies"])  # fmt: skip
    assert np.array_equal(with_scalar.run(6).populations(), without.run(6).populations())


def test_a_run_that_blows_up_returns_to_a_good_state_of_its_scalars():
    def make_unstable():
        return lbm.Simulation((12, 6, 4), boundaries={"y": lbm.NoSlip()}, scalars={"t": scalar},
                              collision=lbm.TRT(0.5001), check=8, dtype="float64",
                              device="cpu")  # fmt: skip

    scalar = lbm.Scalar(0.001, {"y-": lbm.FixedValue(1.0)}, start=start, buoyancy=(0.0, 5e-3, 0.0))
    unstable, careful = make_unstable(), make_unstable()
    with pytest.raises(lbm.UnstableError):
        unstable.run(4000)
    careful.advance(unstable.steps)
    assert np.array_equal(unstable.scalars["t"].values, careful.scalars["t"].values)
    for s in (unstable, careful):
        s.advance(1)
    assert np.array_equal(unstable.scalars["t"].values, careful.scalars["t"].values)


def test_files_hold_scalars(tmp_path):
    pytest.importorskip("xarray")
    s = make("cavity with bodies", device="cpu").run(2)
    dataset = s.to_xarray()
    assert np.array_equal(dataset["temperature"].values, s.scalars["temperature"].values)
    pytest.importorskip("vtkmodules.vtkIOXML")
    from vtk_images import read_image

    _, fields = read_image(s.write_vtk(tmp_path / "flow"))
    assert np.array_equal(fields["temperature"], s.scalars["temperature"].values)


# ---- refusals --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"diffusivity": 0.0}, "diffusivity must be above 0"),
        ({"diffusivity": 30.0}, "at most 24.8"),
        (
            {"diffusivity": 0.1, "boundaries": {"x-": 1.0}},
            "must be lbm.FixedValue or lbm.FixedFlux",
        ),
        ({"diffusivity": 0.1, "boundaries": [1]}, "boundaries must map faces"),
        ({"diffusivity": 0.1, "buoyancy": (0.0, 1.0)}, "buoyancy must hold three numbers"),
        ({"diffusivity": 0.1, "magic": 0.0}, "magic"),
        ({"diffusivity": 0.1, "reference": float("nan")}, "reference"),
    ],
)
def test_arguments_of_a_scalar_are_checked(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        lbm.Scalar(**arguments)


WALLS = {"x-": lbm.VelocityInlet((0.05, 0.0, 0.0)), "x+": lbm.PressureOutlet(), "y": lbm.NoSlip()}


@pytest.mark.parametrize(
    ("scalars", "message"),
    [
        ([lbm.Scalar(0.1)], "scalars must map names"),
        ({"u": lbm.Scalar(0.1)}, "not those of other fields"),
        ({"t": 0.1}, "must be lbm.Scalar"),
        ({"t": lbm.Scalar(0.1)}, "the inlet 'x-' needs lbm.FixedValue"),
        ({"t": lbm.Scalar(0.1, {"x-": HOT, "z": HOT})}, "the face 'z-' is periodic"),
        ({"t": lbm.Scalar(0.1, {"x-": HOT, "ball": HOT})}, "has the key 'ball'"),
        ({"t": lbm.Scalar(0.1, {"x-": HOT, "x": HOT})}, "specifies the face 'x-' twice"),
        (
            {"t": lbm.Scalar(0.1, {"x-": HOT}, start=np.zeros(3))},
            "start must be a number or of shape",
        ),
        ({"t": lbm.Scalar(0.1, {"x-": HOT}, start=np.nan)}, "start must be finite"),
        (
            {n: lbm.Scalar(0.1, {"x-": HOT}, buoyancy=(0, 1e-3, 0)) for n in "ab"},
            "the scalars a, b have a buoyancy",
        ),
    ],
)
def test_impossible_scalars_are_refused(scalars, message):
    with pytest.raises((ValueError, TypeError), match=message):
        lbm.Simulation((8, 6, 4), boundaries=WALLS, scalars=scalars, device="cpu")


@pytest.mark.parametrize(
    ("scalar", "message"),
    [
        (lbm.Scalar(0.1, {"x-": HOT}, start=1e300), "start has the size 1e\\+300"),
        (lbm.Scalar(0.1, {"x-": lbm.FixedValue(-1e39)}), r"boundaries\['x-'\] has the size 1e\+39"),
        (lbm.Scalar(0.1, {"x-": HOT}, reference=1e40), "buoyancy or reference"),
    ],
)
def test_numbers_beyond_the_range_of_float32_are_refused(scalar, message):
    with pytest.raises(ValueError, match=message):
        lbm.Simulation((8, 6, 4), boundaries=WALLS, scalars={"t": scalar}, device="cpu")
    lbm.Simulation((8, 6, 4), boundaries=WALLS, scalars={"t": scalar}, dtype="float64",
                   device="cpu")  # fmt: skip


def test_fluxes_that_are_not_known_are_refused():
    s = lbm.Simulation((8, 6, 4), boundaries=WALLS, device="cpu",
                       scalars={"t": lbm.Scalar(0.1, {"x-": HOT, "y-": HOT})})  # fmt: skip
    t = s.scalars["t"]
    with pytest.raises(ValueError, match="run first"):
        t.flux("y-")
    s.run(1)
    with pytest.raises(ValueError, match="the flow carries the scalar there"):
        t.flux("x-")
    with pytest.raises(ValueError, match="name must be one of"):
        t.flux("z-")
    with pytest.raises(ValueError, match="length must not be 0"):
        t.nusselt("y-", difference=1.0, length=0.0, area=1.0)


CASE = case_text(
    (20, 12, 1),
    4,
    """
[boundaries]
y = "no-slip"

[scalars.temperature]
diffusivity = 1.4e-7
boundaries = { "y-" = 5.0, "y+" = { flux = 0.001 } }
buoyancy = [0.0, 0.002, 0.0]
reference = 2.5
start = 2.5
""",
)


def test_scalars_in_case_files(tmp_path):
    file = tmp_path / "case.toml"
    file.write_text(CASE)
    case = read_case(file)
    units, scalar = case.scales.units, case.arguments["scalars"]["temperature"]
    assert scalar.diffusivity == pytest.approx(1.4e-7 * units.dt / units.dx**2)
    assert scalar.buoyancy[1] == pytest.approx(0.002 * units.dt**2 / units.dx)
    assert scalar.boundaries["y-"] == lbm.FixedValue(5.0)
    assert scalar.boundaries["y+"].flux == pytest.approx(0.001 * units.dt / units.dx)
    assert (scalar.start, scalar.reference) == (2.5, 2.5)
    for old, new, message in (
        ("flux = 0.001", "flux = 0.001, value = 1.0", "y+.value or flux is needed"),
        ("1.4e-7", "0.0", "scalars.temperature.diffusivity must be positive"),
        ("1.4e-7", "1.0", "scalars.temperature: diffusivity must be above 0"),
        ("start = 2.5", "begin = 2.5", "begin"),
    ):
        file.write_text(CASE.replace(old, new))
        with pytest.raises(ValueError, match=re.escape(message)):
            read_case(file)


def test_case_files_draw_scalars(tmp_path):
    pytest.importorskip("matplotlib")
    file, out = tmp_path / "case.toml", tmp_path / "out"
    file.write_text(CASE + '\n[output.pictures]\nevery = 4\nfield = "temperature"\n')
    assert main(["run", str(file), "--out", str(out), "--device", "cpu"]) == 0
    (picture,) = out.glob("*.png")
    assert picture.read_bytes()[:4] == b"\x89PNG"
    file.write_text(CASE + '\n[output.pictures]\nevery = 4\nfield = "salt"\n')
    with pytest.raises(ValueError, match=r"output.pictures.field .*'temperature'"):
        read_case(file)


@pytest.mark.skipif(SIMULATOR, reason="the simulator compiles nothing")
@pytest.mark.parametrize(
    ("pattern", "odd", "precision", "walls", "registers"),
    [("esoteric", 1, "float32", "solids", 96), ("ab", 0, "float16", "faces", 128)],
)
def test_the_kernel_of_buoyancy_compiles_within_its_budget(
    pattern, odd, precision, walls, registers
):
    from lbm._engines.cuda_kernels import make_kernel

    kernel = make_kernel("accelerate", pattern, odd, precision, walls, lbm.TRT, False)
    report = compile_kernel(kernel, lbm_acceleration_signature(precision))
    assert report.spills <= allowed_spills()
    assert report.registers <= registers
    assert report.opcodes(".f64") == 0


def test_a_scalar_that_blows_up_is_named_and_not_the_flow_that_carries_it():
    """Its lattice is far from stable here; the flow alone is uniform."""
    stream = {"x-": lbm.VelocityInlet((0.3, 0.0, 0.0)), "x+": lbm.PressureOutlet()}
    dye = lbm.Scalar(
        1e-5, {"x-": lbm.FixedValue(1.0)}, magic=1e-5,
        start=lambda x, y, z: np.sign(np.sin(2 * x + 3 * y)) + 0.0 * z,
    )  # fmt: skip
    s = lbm.Simulation((32, 8, 1), boundaries=stream, u=(0.3, 0.0, 0.0), scalars={"dye": dye},
                       collision=lbm.TRT(0.9), device="cpu")  # fmt: skip
    with pytest.raises(lbm.UnstableError, match="the scalar 'dye' is not finite after") as caught:
        s.run(3000)
    assert "back in the state of step" in str(caught.value)
    s.run(caught.value.step - 1 - s.steps)
    assert np.isfinite(s.scalars["dye"].values).all()


@pytest.mark.parametrize("size", [1e-25, 3e7])
def test_sums_are_exact_in_any_unit(size):
    """Numbers of molecules are large, and fractions of a trace are small."""
    walls = {"y-": lbm.FixedValue(size), "y+": lbm.FixedValue(0.0)}
    dye = lbm.Scalar(0.1, walls, start=lambda x, y, z: size * (1 - y / 6) + 0 * (x + z))
    s = lbm.Simulation((4, 6, 5), boundaries={"y": lbm.NoSlip()}, scalars={"dye": dye},
                       dtype="float64", device="cpu").run(2000)  # fmt: skip
    assert s.scalars["dye"].total() == pytest.approx(0.5 * size * 120, rel=1e-12, abs=0.0)
    assert s.scalars["dye"].flux("y-") == pytest.approx(0.1 * size / 6 * 20, rel=1e-9, abs=0.0)


@pytest.mark.parametrize("name", ["x", "component", "speed", "u", "a b"])
def test_names_of_other_fields_and_of_axes_are_refused(name):
    with pytest.raises(ValueError, match=re.escape(f"scalars has the key {name!r}")):
        lbm.Simulation((4, 4, 4), scalars={name: lbm.Scalar(0.1)}, device="cpu")


def test_pictures_of_a_scalar():
    pytest.importorskip("matplotlib")
    field = lambda x, y, z: x + 10 * y + 0 * z  # noqa: E731
    flow = lbm.Simulation(
        (6, 5, 4), scalars={"heat": lbm.Scalar(0.1, start=field)}, dtype="float64", device="cpu"
    )
    figure = flow.plot("z", field="heat")
    (image,) = figure.axes[0].get_images()
    np.testing.assert_allclose(image.get_array(), flow.scalars["heat"].values[:, :, 2].T)
    assert "heat" in [axes.get_ylabel() for axes in figure.axes]
    with pytest.raises(ValueError, match=r"field must be one of .*'drho', 'heat'"):
        flow.plot("z", field="temperature")
