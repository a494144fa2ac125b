"""Flows whose state is ten moments, beside the same operator with populations."""

import numpy as np
import pytest
from numba import from_dtype

import lbm
from compile_cuda import allowed_spills, compile_kernel
from flows import FLOWS, FORMS, SHAPE, TOLERANCE, difference, follow, noisy, pair_in
from kernel_budgets.budget import read_types
from lbm.collisions import OPERATORS
from lbm.lattices import D3Q19, D3Q27, LATTICES
from lbm.lattices.precision import STATES
from lbm.reference import equilibrium

ABLE = [o for o in OPERATORS.values() if o.relax_moments is not lbm.Collision.relax_moments]
DRIVEN = FLOWS["driven in time"]
NAMES = ["periodic", "cavity with bodies", "open channel", "sponges", "slip in two directions"]
TRIED = {name: FLOWS[name] for name in NAMES} | {
    # Without an outlet beside walls with friction, which has kernels of its own.
    "driven in time": DRIVEN | {"boundaries": DRIVEN["boundaries"] | {"y": lbm.FreeSlip()}},
}
BEYOND = ["interpolated walls", "inlets that do not reflect", "free streams"]
"""Flows that change what walls have returned in a step. The second one has an outlet beside walls
with friction, too."""


@pytest.mark.parametrize("lattice", LATTICES.values(), ids=LATTICES)
@pytest.mark.parametrize("operator", ABLE)
def test_populations_after_the_collision_depend_on_ten_moments(operator, lattice):
    from lbm._kernels.moments.formulas import make_collision, make_conversions

    w, collision = np.array(lattice.weights), operator(0.7)
    eddies = (0.02,) * operator.reads_viscosity
    f = w[:, None, None, None] * np.random.default_rng(2).uniform(0.8, 1.2, (lattice.size, 5, 1, 1))
    u = np.tensordot(np.array(lattice.velocities, float).T, f, 1) / f.sum(axis=0)
    expected = collision.reference_collide(f, equilibrium(f.sum(axis=0), u, lattice), *eddies)
    to_moments, to_populations = make_conversions(lattice)
    collide = make_collision(lattice, operator, False)
    for cell in range(5):
        moments = to_moments(tuple(map(float, f[:, cell, 0, 0] - w)))
        after = collide(moments, collision.rates + eddies, (0.0, 0.0, 0.0))
        assert np.abs(after + w - expected[:, cell, 0, 0]).max() < 5e-16
        assert to_moments(to_populations(moments)) == pytest.approx(moments, abs=1e-16)


@pytest.mark.parametrize(("flow", "operator", "lattice", "dtype"), [
    *((flow, lbm.RecursiveRegularized, D3Q19, "float64") for flow in TRIED),
    *((flow, lbm.VremanRecursive, D3Q19, "float64") for flow in BEYOND),
    *(pytest.param(flow, *case, marks=pytest.mark.slow) for flow in BEYOND
      for case in ((lbm.VremanRecursive, D3Q19, "float32"),
                   (lbm.CentralMoments, D3Q27, "float64"))),
    *(pytest.param(flow, *case, marks=pytest.mark.slow)
      for flow in ("cavity with bodies", "open channel", "driven in time", "sponges")
      for case in ((lbm.RecursiveRegularized, D3Q19, "float32"),
                   (lbm.CentralMoments, D3Q19, "float64"),
                   (lbm.CentralMoments, D3Q27, "float64"),
                   (lbm.RecursiveRegularized, D3Q27, "float64"),
                   (lbm.SmagorinskyRecursive, D3Q19, "float32"),
                   (lbm.Regularized, D3Q19, "float64"))),
])  # fmt: skip
@pytest.mark.parametrize("steps", [50, pytest.param(1000, marks=pytest.mark.slow)])
def test_many_steps_are_those_of_populations(flow, operator, lattice, dtype, steps, device):
    settings = FLOWS[flow] | TRIED.get(flow, {}) | {"collision": operator(0.7), "lattice": lattice}
    ours, theirs = pair_in(SHAPE, settings, state="moments", dtype=dtype, device=device)
    ours.run(steps)
    for _ in range(steps):
        theirs.step()
    assert difference(ours, theirs) < {"float64": 1e-12, "float32": 1e-5}[dtype]
    assert np.abs(ours.u).max() > 1e-4


def test_a_scalar_that_drives_the_flow(device):
    """Its impulse changes moments as it changes populations."""
    rho, u = noisy(SHAPE)
    heat = lbm.Scalar(0.05, {"y-": lbm.FixedValue(0.5)}, start=0.1, buoyancy=(1e-3, 2e-3, 0.0))
    settings = FLOWS["cavity with bodies"] | {"scalars": {"heat": heat}, "dtype": "float64"}
    ours, theirs = (
        lbm.Simulation(SHAPE, collision=lbm.RecursiveRegularized(0.7), rho=rho, u=u, state=state,
                       device=device, **settings).run(100)
        for state in ("moments", "populations")
    )  # fmt: skip
    assert np.abs(ours.u - theirs.u).max() < 1e-13
    assert np.abs(ours.scalars["heat"].values - theirs.scalars["heat"].values).max() < 1e-13


@pytest.mark.parametrize("nx", [1, 33, 70])
def test_boxes_that_do_not_fill_tiles_and_vectors(nx, device):
    shape, walls = (nx, 5, 19), {"y": lbm.NoSlip()}
    settings = {"collision": lbm.RecursiveRegularized(0.7), "boundaries": walls,
                "force": (1e-300, 0.0, 0.0)}  # fmt: skip
    options = {"state": "moments", "device": device}
    follow(*pair_in(shape, settings, dtype="float64", **options), 3)
    follow(*pair_in(shape, settings, storage="float16", **options), 3, TOLERANCE["float16"])


@pytest.mark.simulator
@pytest.mark.parametrize(("storage", "lattice"), [("float64", D3Q27), ("float16", D3Q19)])
def test_two_steps_of_a_tiny_flow(storage, lattice, device):
    """Tiles of the simulator have 4 x 2 cells."""
    shape = (5, 3, 3)
    solid = np.zeros(shape, bool)
    solid[1, 1, 2] = solid[2, 1, 1] = True  # they touch along an edge, and close a link of fluid
    walls = {"x-": lbm.VelocityInlet((0.05, 0.0, 0.0)), "x+": lbm.PressureOutlet(),
             "z-": lbm.FreeSlip(), "z+": lbm.FreeStream(lambda t: (0.05, 0.01 * t, 0.0)),
             "body": lbm.Solid(solid, lbm.MovingWall((0.01, 0.0, 0.05)))}  # fmt: skip
    settings = {"boundaries": walls, "force": (1e-4, 0.0, 2e-5), "lattice": lattice,
                "collision": lbm.RecursiveRegularized(0.7)}  # fmt: skip
    form = {"dtype": "float64"} if storage == "float64" else {"storage": storage}
    both = pair_in(shape, settings, state="moments", device=device, **form)
    follow(*both, 2, TOLERANCE[storage])


@pytest.mark.simulator
def test_a_tiny_flow_past_a_round_body_that_leaves_beside_walls(device):
    walls = {"x-": lbm.VelocityInlet((0.05, 0.0, 0.0)), "x+": lbm.NonReflectingOutlet(),
             "y": lbm.NoSlip(),
             "ball": lbm.Solid(lbm.Sphere((2.4, 2.1, 1.5), 0.8), wall="interpolated")}  # fmt: skip
    settings = {"boundaries": walls, "force": (1e-4, 0.0, 2e-5),
                "collision": lbm.VremanRecursive(0.51, constant=2.0, every=2)}  # fmt: skip
    ours, theirs = pair_in((5, 4, 3), settings, state="moments", dtype="float64", device=device)
    follow(ours, theirs, 3)
    assert theirs.viscosity.max() > 0.005


@pytest.mark.parametrize("first", STATES)
def test_checkpoints_pass_between_both_states(first, device, tmp_path):
    def make(state):
        settings = FLOWS["inlets that do not reflect"] | {"dtype": "float64", "device": device}
        rho, u = noisy(SHAPE)
        return lbm.Simulation(SHAPE, collision=lbm.VremanRecursive(0.7, every=3), rho=rho, u=u,
                              state=state, **settings)  # fmt: skip

    (then,) = {*STATES} - {first}
    saved = make(first).run(5)
    other = make(then).restore(saved.save(tmp_path / "state")).run(5)
    assert other.steps == 10
    assert np.abs(other.u - saved.run(5).u).max() < 1e-15
    assert np.abs(other.eddy_viscosity - saved.eddy_viscosity).max() < 1e-15
    assert other.force_on("still") == pytest.approx(saved.force_on("still"), abs=1e-14)
    with pytest.raises(ValueError, match="run the simulation first"):
        make("moments").restore(tmp_path / "state").force_on("still")


@pytest.mark.parametrize("storage", ["float64", pytest.param("float16", marks=pytest.mark.slow)])
@pytest.mark.parametrize("flow", ["periodic", "heated", "open"])
def test_parts_compute_the_flow_of_one_part(flow, storage, device):
    body = {"body": lbm.Solid(lbm.Sphere((8.2, 5.1, 5.3), 3.1))}  # a cut goes through it
    faces = {"z-": lbm.NoSlip(), "z+": lbm.MovingWall((0.05, 0.02, 0.0)), "y": lbm.NoSlip()}
    heat = lbm.Scalar(0.05, {"z-": lbm.FixedValue(1.0), "z+": lbm.FixedValue(0.0)},
                      buoyancy=(0.0, 0.0, 1e-3))  # fmt: skip
    settings = {
        "periodic": {"boundaries": body, "force": (1e-4, 2e-5, -3e-5)},
        "heated": {"boundaries": body | faces, "force": (1e-300, 0.0, 0.0),
                   "scalars": {"heat": heat},
                   "sponges": {"z+": lbm.Sponge(5, reflection=0.2)}},
        "open": {"boundaries": {
                     "x-": lbm.NonReflectingInlet((0.05, 0.0, 0.0), averaging=20.0),
                     "x+": lbm.NonReflectingOutlet(), "y": lbm.NoSlip(),
                     "body": lbm.Solid(lbm.Sphere((8.2, 5.1, 5.3), 3.1), wall="interpolated")},
                 "collision": lbm.VremanRecursive(0.6, constant=2.0, every=3),
                 "force": (1e-5, 0.0, 0.0)},
    }[flow]  # fmt: skip
    rho, u = noisy((16, 10, 11))
    one, parts = (
        lbm.Simulation((16, 10, 11), rho=rho, u=u, state="moments", device=where, **FORMS[storage],
                       **({"collision": lbm.RecursiveRegularized(0.7)} | settings)).run(6)
        for where in (device, [device] * 3)
    )  # fmt: skip
    tolerance = TOLERANCE[storage]
    assert device != "cpu" or np.array_equal(parts.u, one.u)  # GPUs may contract other products
    assert np.abs(parts.u - one.u).max() < tolerance
    assert np.abs(parts.rho - one.rho).max() < tolerance
    assert parts.force_on("body") == pytest.approx(one.force_on("body"), abs=100 * tolerance)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"device": ["cpu", "cpu"], "decomposition": (2, 1, 1)}, "use decomposition=.1, 1, 2."),
        ({"device": ["cpu", "cpu"], "decomposition": (1, 1, 2), "shape": (6, 8, 8)},
         "use another nx or ny, one device"),
        ({"device": ["cpu"] * 9}, "9 boxes along z do not fit .* or devices"),
        ({"ratio": 0.5}, "ratio"),
        ({"state": "moment"}, "state must be one of 'populations', 'moments', 'auto'"),
    ],
)  # fmt: skip
def test_what_moments_cannot_do_is_refused(settings, words):
    settings = {"collision": lbm.Regularized(0.7), "state": "moments", "device": "cpu",
                "shape": (8, 8, 8)} | settings  # fmt: skip
    with pytest.raises(ValueError, match=words):
        lbm.Simulation(**settings)


@pytest.mark.simulator
@pytest.mark.parametrize(("settings", "words"), [
    ({}, "half of the bytes"), ({"storage": "float16"}, "larger errors"),
])  # fmt: skip
def test_moments_are_taken_where_they_are_faster(settings, words, device, caplog):
    with caplog.at_level("INFO", logger="lbm.simulation"):
        s = lbm.Simulation(
            (8, 8, 8), collision=lbm.Regularized(0.7), state="auto", device=device, **settings
        )
    on_gpu = device.startswith("cuda")
    assert s.state == STATES[on_gpu and not settings]
    assert (s.problem.precision.moments > 0) == (s.state == "moments")
    assert (words if on_gpu else "slower") in s.state_reason
    assert f"state={s.state!r}: {s.state_reason}" in caplog.text


MOVES = lbm.Solid(lbm.Sphere((8, 4, 4), 2), motion=lbm.Translation((0.01, 0.0, 0.0)))


@pytest.mark.parametrize(("settings", "words"), [
    ({"collision": lbm.TRT(0.7)}, "more than ten moments"),
    ({"boundaries": {"ball": MOVES}, "shape": (18, 12, 12)}, "has a motion"),
    ({"device": ["cpu"] * 9, "shape": (18, 8, 8)}, "9 boxes along z"),
])  # fmt: skip
def test_populations_are_taken_where_moments_are_not_enough(settings, words):
    settings = {"collision": lbm.Regularized(0.7), "device": "cpu", "shape": (8, 8, 8)} | settings
    s = lbm.Simulation(state="auto", **settings)
    assert (s.state, s.problem.precision.moments) == ("populations", 0)
    assert words in s.state_reason


@pytest.mark.parametrize(("precision", "walls", "operator", "lattice", "forced", "registers"), [
    ("float16", "faces", lbm.RecursiveRegularized, D3Q19, False, 64),
    ("float32", "solids and streams", lbm.VremanRecursive, D3Q19, True, 64),
    *(pytest.param(*case, marks=pytest.mark.slow) for case in (
        ("float32", "none", lbm.CentralMoments, D3Q27, False, 96),
        ("float64", "faces", lbm.RecursiveRegularized, D3Q27, False, 168))),
])  # fmt: skip
def test_kernels_compile_within_their_budgets(
    precision, walls, operator, lattice, forced, registers
):
    from lbm._kernels.moments.cuda import make_step
    from lbm._kernels.moments.tiles import choose_tile
    from lbm.lattices.precision import PRECISIONS

    form = PRECISIONS[f"{precision} moments"]
    S, T = (from_dtype(np.dtype(kind)) for kind in (form.storage, form.compute))
    tile = choose_tile(lattice, form, 227 << 10)
    eddies = " T*" * operator.reads_viscosity
    text = f"S* S* u1* u4** u1*** T** T** 1xT 3xT{eddies}{9 * ' i8'}"
    signature = read_types(text, S=S, T=T)
    streams = walls.endswith("streams")
    step = make_step(form.name, walls.split()[0], operator, forced, lattice, tile, streams)
    report = compile_kernel(step, signature)
    # Numbers of float64 take two registers each, and a thread of these tiles has 128 or 168.
    assert report.spills <= allowed_spills() + 16 * (precision == "float64")
    assert report.registers <= registers
    assert (report.opcodes(".f64") > 0) == (precision == "float64")
