"""Flows whose state is ten moments, beside the same operator with populations."""

import numpy as np
import pytest
from numba import from_dtype

import lbm
from compile_cuda import allowed_spills, compile_kernel
from flows import FLOWS, FORMS, SHAPE, TOLERANCE, difference, follow, noisy, pair_in
from hetero.cuda.driver import SIMULATOR
from kernel_budgets.budget import read_types
from lbm.collisions import OPERATORS
from lbm.lattices import D3Q19, D3Q27, LATTICES
from lbm.lattices.precision import STATES
from lbm.reference import equilibrium

ABLE = [o for o in OPERATORS.values() if o.relax_moments is not lbm.Collision.relax_moments]
DRIVEN = FLOWS["driven in time"]
NAMES = ["periodic", "cavity with bodies", "open channel", "sponges", "slip in two directions"]
TRIED = {name: FLOWS[name] for name in NAMES} | {
    # Its outlet must not touch walls with friction.
    "driven in time": DRIVEN | {"boundaries": DRIVEN["boundaries"] | {"y": lbm.FreeSlip()}},
}


@pytest.mark.parametrize("lattice", LATTICES.values(), ids=LATTICES)
@pytest.mark.parametrize("operator", ABLE)
def test_populations_after_the_collision_depend_on_ten_moments(operator, lattice):
    from lbm._kernels.moments.formulas import make_collision, make_conversions

    w, collision = np.array(lattice.weights), operator(0.7)
    f = w[:, None, None, None] * np.random.default_rng(2).uniform(0.8, 1.2, (lattice.size, 5, 1, 1))
    u = np.tensordot(np.array(lattice.velocities, float).T, f, 1) / f.sum(axis=0)
    expected = collision.reference_collide(f, equilibrium(f.sum(axis=0), u, lattice))
    to_moments, to_populations = make_conversions(lattice)
    collide = make_collision(lattice, operator, False)
    for cell in range(5):
        moments = to_moments(tuple(map(float, f[:, cell, 0, 0] - w)))
        after = collide(moments, collision.rates, (0.0, 0.0, 0.0))
        assert np.abs(after + w - expected[:, cell, 0, 0]).max() < 5e-16
        assert to_moments(to_populations(moments)) == pytest.approx(moments, abs=1e-16)


@pytest.mark.parametrize(
    ("flow", "operator", "lattice", "dtype"),
    [
        *((flow, lbm.RecursiveRegularized, D3Q19, "float64") for flow in TRIED),
        *(pytest.param(flow, *case, marks=pytest.mark.slow)
          for flow in ("cavity with bodies", "open channel", "driven in time", "sponges")
          for case in ((lbm.RecursiveRegularized, D3Q19, "float32"),
                       (lbm.CentralMoments, D3Q19, "float64"),
                       (lbm.CentralMoments, D3Q27, "float64"),
                       (lbm.RecursiveRegularized, D3Q27, "float64"),
                       (lbm.SmagorinskyRecursive, D3Q19, "float32"),
                       (lbm.Regularized, D3Q19, "float64"))),
    ],
)  # fmt: skip
@pytest.mark.parametrize("steps", [200, pytest.param(1000, marks=pytest.mark.slow)])
def test_many_steps_are_those_of_populations(flow, operator, lattice, dtype, steps, device):
    settings = TRIED[flow] | {"collision": operator(0.7), "lattice": lattice}
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
    # A force that is lost takes the code that other tests have compiled, here and below.
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
    solid[1, 1, 2] = True
    walls = {"x-": lbm.VelocityInlet((0.05, 0.0, 0.0)), "x+": lbm.PressureOutlet(),
             "z": lbm.FreeSlip(),
             "body": lbm.Solid(solid, lbm.MovingWall((0.01, 0.0, 0.05)))}  # fmt: skip
    settings = {"boundaries": walls, "force": (1e-4, 0.0, 2e-5), "lattice": lattice,
                "collision": lbm.RecursiveRegularized(0.7)}  # fmt: skip
    form = {"dtype": "float64"} if storage == "float64" else {"storage": storage}
    both = pair_in(shape, settings, state="moments", device=device, **form)
    follow(*both, 2, TOLERANCE[storage])


@pytest.mark.parametrize("first", STATES)
def test_checkpoints_pass_between_both_states(first, device, tmp_path):
    def make(state):
        settings = FLOWS["cavity with bodies"] | {"dtype": "float64", "device": device}
        rho, u = noisy(SHAPE)
        return lbm.Simulation(
            SHAPE, collision=lbm.RecursiveRegularized(0.7), rho=rho, u=u, state=state, **settings
        )

    (then,) = {*STATES} - {first}
    saved = make(first).run(5)
    other = make(then).restore(saved.save(tmp_path / "state")).run(5)
    assert other.steps == 10
    assert np.abs(other.u - saved.run(5).u).max() < 1e-15
    assert other.force_on("moving") == pytest.approx(saved.force_on("moving"), abs=1e-14)
    with pytest.raises(ValueError, match="run the simulation first"):
        make("moments").restore(tmp_path / "state").force_on("moving")


@pytest.mark.parametrize("storage", ["float64", pytest.param("float16", marks=pytest.mark.slow)])
@pytest.mark.parametrize("flow", ["periodic", "heated"])
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
    }[flow]  # fmt: skip
    rho, u = noisy((16, 10, 11))
    one, parts = (
        lbm.Simulation((16, 10, 11), collision=lbm.RecursiveRegularized(0.7), rho=rho, u=u,
                       state="moments", device=where, **FORMS[storage], **settings).run(6)
        for where in (device, [device] * 3)
    )  # fmt: skip
    tolerance = TOLERANCE[storage]
    assert np.abs(parts.u - one.u).max() < tolerance
    assert np.abs(parts.rho - one.rho).max() < tolerance
    assert parts.force_on("body") == pytest.approx(one.force_on("body"), abs=100 * tolerance)


WALLS = {"x-": lbm.NonReflectingInlet((0.05, 0.0, 0.0)), "x+": lbm.PressureOutlet()}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"collision": lbm.TRT(0.7)}, "more than ten moments.*Regularized, RecursiveReg"),
        ({"device": ["cpu", "cpu"], "decomposition": (2, 1, 1)}, "use decomposition=.1, 1, 2."),
        ({"device": ["cpu", "cpu"], "decomposition": (1, 1, 2), "shape": (6, 8, 8)},
         "use another nx or ny, one device"),
        ({"device": ["cpu"] * 9}, "9 boxes along z do not fit .* or devices"),
        ({"ratio": 0.5}, "ratio"),
        ({"boundaries": WALLS}, r"boundaries\['x-'\] cannot be NonReflectingInlet"),
        ({"boundaries": {"x": lbm.FreeStream((0.05, 0, 0))}}, "'x-'. cannot be FreeStream"),
        ({"boundaries": {"b": lbm.Solid(lbm.Sphere((4, 4, 4), 2), wall="interpolated")}},
         "use wall='halfway'"),
        ({"boundaries": {"x-": lbm.VelocityInlet((0.01, 0, 0)), "x+": lbm.PressureOutlet(),
                         "y": lbm.NoSlip()}}, "outlet 'x.' touches walls with friction"),
        ({"state": "moment"}, "state must be one of 'populations', 'moments'"),
    ],
)  # fmt: skip
def test_what_moments_cannot_do_is_refused(settings, words):
    settings = {"collision": lbm.Regularized(0.7), "state": "moments", "device": "cpu",
                "shape": (8, 8, 8)} | settings  # fmt: skip
    with pytest.raises(ValueError, match=words):
        lbm.Simulation(**settings)


def test_moments_take_half_of_the_bytes():
    walls, settings = {"y": lbm.NoSlip()}, {"collision": lbm.Regularized(0.7), "device": "cpu"}
    for lattice, storage, expected in (
        (D3Q19, "float32", 81), (D3Q27, "float32", 81), (D3Q19, "float16", 41)
    ):  # fmt: skip
        s = lbm.Simulation((8, 8, 8), boundaries=walls, lattice=lattice, storage=storage,
                           state="moments", **settings)  # fmt: skip
        assert s.problem.bytes_per_update() == expected
        assert "state='moments'" in repr(s)


@pytest.mark.skipif(SIMULATOR, reason="the simulator compiles nothing")
@pytest.mark.parametrize(
    ("precision", "walls", "operator", "lattice", "forced", "registers"),
    [
        ("float32", "solids", lbm.RecursiveRegularized, D3Q19, True, 64),
        ("float16", "faces", lbm.RecursiveRegularized, D3Q19, False, 64),
        *(pytest.param(*case, marks=pytest.mark.slow) for case in (
            ("float32", "none", lbm.RecursiveRegularized, D3Q19, False, 56),
            ("float32", "faces", lbm.RecursiveRegularized, D3Q27, False, 96),
            ("float32", "none", lbm.CentralMoments, D3Q19, False, 64),
            ("float32", "none", lbm.CentralMoments, D3Q27, False, 96),
            ("float64", "faces", lbm.RecursiveRegularized, D3Q19, True, 128),
            ("float64", "faces", lbm.RecursiveRegularized, D3Q27, False, 168))),
    ],
)  # fmt: skip
def test_kernels_compile_within_their_budgets(
    precision, walls, operator, lattice, forced, registers
):
    from lbm._kernels.moments.cuda import make_step
    from lbm._kernels.moments.tiles import choose_tile
    from lbm.lattices.precision import PRECISIONS

    form = PRECISIONS[f"{precision} moments"]
    S, T = (from_dtype(np.dtype(kind)) for kind in (form.storage, form.compute))
    tile = choose_tile(lattice, np.dtype(form.compute).itemsize, 227 << 10)
    signature = read_types(f"S* S* u1* u4** u1*** T** T** 1xT 3xT{7 * ' i8'}", S=S, T=T)
    report = compile_kernel(make_step(form.name, walls, operator, forced, lattice, tile), signature)
    assert report.spills <= allowed_spills()
    assert report.registers <= registers
    assert (report.opcodes(".f64") > 0) == (precision == "float64")
