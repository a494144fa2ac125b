"""The lattice D3Q27: against `lbm.reference`, against plain NumPy that shares nothing with the
package, against exact solutions, and through decompositions, checkpoints and case files."""

import itertools

import numpy as np
import pytest

import lbm
from compile_cuda import allowed_spills, compile_kernel
from flows import FLOWS, SHAPE, noisy, pair, random_walls
from hetero.cuda.driver import SIMULATOR
from lbm._cases.case import read_case
from lbm._model.precision import PRECISIONS
from lbm._model.streaming_patterns import PATTERNS
from lbm.collisions import OPERATORS
from lbm.reference import Reference, equilibrium
from rank_worker import FORMS

compiled = pytest.mark.skipif(SIMULATOR, reason="the simulator compiles nothing")
TOLERANCE = {"float64": 5e-15, "float32": 3e-7, "float16": 2e-4}


def difference(ours, theirs):
    rho, u = theirs.moments()
    return max(np.abs(ours.rho - rho).max(), np.abs(ours.u - u).max())


def follow(ours, theirs, steps, tolerance):
    for _ in range(steps):
        ours.run(1)
        theirs.step()
        assert difference(ours, theirs) < tolerance


# ---- against the reference -------------------------------------------------------------------


@pytest.mark.parametrize("flow", FLOWS)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_steps_match_the_reference(flow, pattern, device):
    ours, theirs = pair(flow, lbm.TRT(0.7), lbm.D3Q27, dtype="float64", pattern=pattern,
                        device=device)  # fmt: skip
    assert ours.populations().shape == (27, *SHAPE)
    follow(ours, theirs, 4, TOLERANCE["float64"])


@pytest.mark.parametrize("storage", ["float32", "float16"])
def test_other_precisions_match_the_reference(storage, device):
    for flow, pattern in ("cavity with bodies", "esoteric"), ("open channel", "ab"):
        ours, theirs = pair(flow, lbm.TRT(0.7), lbm.D3Q27, pattern=pattern, device=device,
                            **PRECISIONS[storage].arguments)  # fmt: skip
        follow(ours, theirs, 3, TOLERANCE[storage])


@pytest.mark.slow
@pytest.mark.parametrize("operator", OPERATORS.values())
def test_flows_of_operators_match_their_references(operator, device):
    ours, theirs = pair("open channel", operator(0.7), lbm.D3Q27, dtype="float64", device=device)
    follow(ours, theirs, 3, TOLERANCE["float64"])


@pytest.mark.parametrize("operator", OPERATORS.values())
def test_collisions_match_the_references_of_the_operators(operator):
    from lbm._engines.cell_formulas import make_cell_functions, make_relaxation

    w, collision = np.array(lbm.D3Q27.weights), operator(0.7)
    f = w[:, None, None, None] * np.random.default_rng(2).uniform(0.8, 1.2, (27, 5, 1, 1))
    rho = f.sum(axis=0)
    u = np.tensordot(np.array(lbm.D3Q27.velocities, float).T, f, 1) / rho
    # Operators that read the eddy viscosity get it behind their rates.
    eddies = (0.03,) * collision.reads_viscosity
    rates = collision.rates + eddies
    expected = collision.reference_collide(f, equilibrium(rho, u, lbm.D3Q27), *eddies)
    relaxation = make_relaxation(operator, lbm.D3Q27)
    _, collide = make_cell_functions(lbm.D3Q27, *relaxation, forced=False)
    for cell in range(5):
        shifted = tuple(map(float, f[:, cell, 0, 0] - w))
        after, *_ = collide(shifted, rates, (0.0, 0.0, 0.0))
        assert np.abs(after + w - expected[:, cell, 0, 0]).max() < 5e-16


def test_any_conditions_around_any_solids(device):
    """Links to corners meet up to three faces, and faces beside solids."""
    rng, shape = np.random.default_rng(7), (4, 5, 3)

    for _ in range(40):
        walls = random_walls(rng, shape)
        rho, u = noisy(shape)
        settings = {"collision": lbm.TRT(0.7), "boundaries": walls, "force": (1e-300, 0.0, 0.0)}
        ours = lbm.Simulation(shape, rho=rho, u=u, dtype="float64", device=device,
                              lattice="D3Q27", **settings)  # fmt: skip
        theirs = Reference(shape, lattice=lbm.D3Q27, **settings)
        theirs.set(rho, u)
        follow(ours, theirs, 3, TOLERANCE["float64"])


@pytest.mark.simulator
@pytest.mark.parametrize("pattern", PATTERNS)
def test_two_steps_of_a_tiny_flow(pattern, device):
    shape = (4, 3, 3)
    solid = np.zeros(shape, bool)
    solid[1, 1, 2] = True
    walls = {"x": lbm.NoSlip(), "y-": lbm.FreeSlip(), "y+": lbm.MovingWall((0.1, 0.0, 0.05)),
             "body": lbm.Solid(solid)}  # fmt: skip
    settings = {"collision": lbm.TRT(0.7), "boundaries": walls, "force": (1e-4, 0.0, 2e-5)}
    rho, u = noisy(shape)
    ours = lbm.Simulation(shape, rho=rho, u=u, dtype="float64", device=device, pattern=pattern,
                          lattice=lbm.D3Q27, **settings)  # fmt: skip
    theirs = Reference(shape, lattice=lbm.D3Q27, **settings)
    theirs.set(rho, u)
    follow(ours, theirs, 2, TOLERANCE["float64"])


# ---- against plain NumPy ---------------------------------------------------------------------

VELOCITIES = [(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1)]
WEIGHTS = [(1, 4, 1)[x + 1] * (1, 4, 1)[y + 1] * (1, 4, 1)[z + 1] / 216 for x, y, z in VELOCITIES]


def plain_equilibrium(rho, u):
    """Second-order equilibrium, as a product of the momentum and the velocity."""
    j = rho * u
    return np.array([
        w * (rho + 3 * np.tensordot(c, j, 1) + 4.5 * np.tensordot(c, u, 1) * np.tensordot(c, j, 1)
             - 1.5 * (u * j).sum(axis=0))
        for c, w in zip(VELOCITIES, WEIGHTS, strict=True)
    ])  # fmt: skip


def plain_steps(rho, u, tau, steps, is_wall, lid):
    """BGK in a periodic box, some of whose cells are walls: each returns what runs into it.

    `lid` [c, x, y, z] is the velocity of the walls.
    """
    f = plain_equilibrium(rho, u)
    for _ in range(steps):
        rho = f.sum(axis=0)
        u = np.tensordot(np.array(VELOCITIES, float).T, f, 1) / rho
        after = f + (plain_equilibrium(rho, u) - f) / tau
        for q, c in enumerate(VELOCITIES):
            f[q] = np.roll(after[q], c, (0, 1, 2))
            for cell in itertools.product(*map(range, is_wall.shape)):
                origin = tuple((a - b) % n for a, b, n in zip(cell, c, is_wall.shape, strict=True))
                if is_wall[origin] and not is_wall[cell]:
                    push = 6 * WEIGHTS[q] * np.dot(c, lid[:, origin[0], origin[1], origin[2]])
                    f[(q, *cell)] = (
                        after[(26 - q, *cell)] + push
                    )  # 26 - q has the opposite velocity
    rho = f.sum(axis=0)
    return rho, np.tensordot(np.array(VELOCITIES, float).T, f, 1) / rho


def test_walls_and_a_lid_against_plain_numpy(device):
    inner, tau = (5, 4, 3), 0.7
    bgk = lbm.TRT(tau, magic=(tau - 0.5) ** 2)  # the same, and compiled for other tests
    rho, u = noisy(inner)
    walls = {"x": lbm.NoSlip(), "y-": lbm.NoSlip(), "y+": lbm.MovingWall((0.08, 0.0, -0.03)),
             "z": lbm.NoSlip()}  # fmt: skip
    body = np.zeros(inner, bool)
    body[2, 1, 1] = True
    s = lbm.Simulation(inner, collision=bgk, rho=rho, u=u, lattice="D3Q27", device=device,
                       boundaries={**walls, "body": lbm.Solid(body)}, dtype="float64",
                       force=(0.0, 0.0, 1e-300)).run(6)  # fmt: skip
    is_wall, lid = np.ones([n + 2 for n in inner], bool), np.zeros((3, *(n + 2 for n in inner)))
    is_wall[1:-1, 1:-1, 1:-1] = body
    lid[:, 1:-1, -1, 1:-1] = np.array([0.08, 0.0, -0.03])[:, None, None]
    start = np.ones(is_wall.shape), np.zeros((3, *is_wall.shape))
    start[0][1:-1, 1:-1, 1:-1], start[1][:, 1:-1, 1:-1, 1:-1] = rho, u
    expected_rho, expected_u = plain_steps(*start, tau, 6, is_wall, lid)
    fluid = ~body
    assert np.abs(s.rho - expected_rho[1:-1, 1:-1, 1:-1])[fluid].max() < 1e-14
    assert np.abs(s.u - expected_u[:, 1:-1, 1:-1, 1:-1])[:, fluid].max() < 1e-14


# ---- physics ---------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_periodic_and_closed_boxes_keep_mass_and_momentum(dtype, device):
    rho, u = noisy(SHAPE)
    cells, steps, force = np.prod(SHAPE), 40, np.array([1e-5, 0.0, 0.0])
    scale = cells * steps * np.finfo(dtype).eps
    settings = {"collision": lbm.TRT(0.7), "rho": rho, "u": u, "dtype": dtype, "device": device,
                "lattice": "D3Q27", "force": tuple(force)}  # fmt: skip
    open_box = lbm.Simulation(SHAPE, **settings)
    mass, momentum = open_box.drho.sum(dtype=float), open_box.momentum()
    open_box.run(steps)
    assert abs(open_box.drho.sum(dtype=float) - mass) < scale
    assert np.abs(open_box.momentum() - momentum - force * cells * steps).max() < scale
    walls = {"x": lbm.NoSlip(), "y-": lbm.FreeSlip(), "y+": lbm.MovingWall((0.1, 0.0, 0.05)),
             "z": lbm.NoSlip()}  # fmt: skip
    closed = lbm.Simulation(SHAPE, boundaries=walls, **settings)
    assert abs(closed.run(steps).drho.sum(dtype=float) - mass) < scale


def test_the_force_on_a_body_is_what_the_fluid_loses(device):
    cells = lbm.geometry.sphere((12, 10, 9), (5.3, 5.0, 4.2), 2.6)
    rho, u = noisy(cells.shape)
    body = lbm.Solid(cells, lbm.MovingWall((0.02, 0.0, -0.01)))
    s = lbm.Simulation(cells.shape, collision=lbm.TRT(0.7), dtype="float64", device=device, rho=rho,
                       u=u, boundaries={"ball": body}, lattice="D3Q27",
                       force=(1e-300, 0.0, 0.0))  # fmt: skip
    for _ in range(2):  # even and odd
        before = s.run(1).momentum()
        lost = before - s.run(1).momentum()
        np.testing.assert_allclose(s.force_on("ball"), lost, rtol=0, atol=1e-13)
        s.run(1)


def viscosity_error(operator, n, tau=0.8):
    """Return the relative error of the viscosity of a shear wave along the diagonal (1, 1, 1)."""
    cells = np.arange(n) + 0.5
    phase = 2 * np.pi / n * (cells[:, None, None] + cells[:, None] + cells)
    u = 0.01 * np.sin(phase) * np.array([1.0, -1.0, 0.0])[:, None, None, None]
    s = lbm.Simulation((n, n, n), collision=operator(tau), u=u, lattice="D3Q27", dtype="float64",
                       force=(0.0, 0.0, 1e-300), device="cpu")  # fmt: skip
    steps = n * n // 16
    first, second = ((s.run(steps).u[0] * np.sin(phase)).sum() for _ in range(2))
    decay = np.log(first / second) / steps
    return decay / (3 * (2 * np.pi / n) ** 2) / ((tau - 0.5) / 3) - 1.0


@pytest.mark.parametrize("operator", [lbm.TRT, lbm.CentralMoments])
def test_the_viscosity_of_a_tilted_wave_converges_with_order_two(operator):
    errors = [abs(viscosity_error(operator, n)) for n in (8, 16, 32)]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert orders[-1] == pytest.approx(2.0, abs=0.15)
    assert errors[-1] < 5e-3


def test_a_straight_pipe_has_no_current_across_its_axis():
    """D3Q19 has one, because w c_x^2 c_y^2 c_z^2 adds up to 0 there (Silva and Semiao 2014)."""
    n, tau, speed = 16, 0.6, 0.1
    y = np.arange(n) + 0.5 - n / 2
    outside = np.hypot(y[:, None], y) > n / 2 - 1
    viscosity = (tau - 0.5) / 3
    across = {}
    for lattice in lbm.D3Q19, lbm.D3Q27:
        s = lbm.Simulation(
            (1, n, n), collision=lbm.TRT(tau), lattice=lattice, dtype="float64", device="cpu",
            boundaries={"pipe": lbm.Solid(outside[None])},
            force=(4 * viscosity * speed / (n / 2 - 1) ** 2, 0.0, 0.0),
        ).run(1000)  # fmt: skip
        assert s.u[0].max() == pytest.approx(speed, rel=0.05)
        across[lattice] = np.abs(s.u[1:]).max() / s.u[0].max()
    assert across[lbm.D3Q19] > 1e-3
    assert across[lbm.D3Q27] < 1e-14


def test_chambers_that_touch_in_a_corner_are_apart():
    """No population passes between them, so that the inlet's chamber has no outlet."""
    solid = np.ones((6, 6, 6), bool)
    solid[:3, :3, :3] = solid[3:, 3:, 3:] = False
    walls = {"x-": lbm.VelocityInlet((0.01, 0.0, 0.0)), "x+": lbm.PressureOutlet(),
             "y": lbm.NoSlip(), "z": lbm.NoSlip(), "block": lbm.Solid(solid)}  # fmt: skip
    with pytest.raises(ValueError, match="no outlet"):
        lbm.Simulation((6, 6, 6), boundaries=walls, lattice="D3Q27", device="cpu")


# ---- the rest of the package -----------------------------------------------------------------


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("form", FORMS)
def test_parts_are_bit_for_bit_one(pattern, form):
    """Populations cross faces, edges and corners of parts."""
    options = {"pattern": pattern, **FORMS[form]}
    for flow in "periodic", "cavity with bodies":
        one, _ = pair(flow, lbm.TRT(0.7), lbm.D3Q27, device="cpu", **options)
        one.run(4)
        for grid in (1, 2, 1), (3, 2, 2):
            devices = ["cpu"] * int(np.prod(grid))
            two, _ = pair(flow, lbm.TRT(0.7), lbm.D3Q27, device=devices, decomposition=grid,
                          **options)  # fmt: skip
            two.run(4)
            assert np.array_equal(one.populations(), two.populations())
            for body in one.solids:
                assert np.array_equal(one.force_on(body), two.force_on(body))


@pytest.mark.cuda
@pytest.mark.parametrize("pattern", PATTERNS)
def test_both_devices_compute_one_flow(pattern, require_cuda):
    options = {"pattern": pattern, "dtype": "float64"}
    one, theirs = pair("cavity with bodies", lbm.TRT(0.7), lbm.D3Q27, device="cpu", **options)
    two, _ = pair("cavity with bodies", lbm.TRT(0.7), lbm.D3Q27, device="cuda", ratio=0.4,
                  **options)  # fmt: skip
    follow(one, theirs, 4, TOLERANCE["float64"])
    two.run(4)
    assert np.abs(one.populations() - two.populations()).max() < TOLERANCE["float64"]


def test_a_checkpoint_belongs_to_its_lattice(device, tmp_path):
    options = {"dtype": "float64", "device": device}
    through, _ = pair("sponges", lbm.TRT(0.7), lbm.D3Q27, **options)
    file = through.run(3).save(tmp_path / "state")
    assert file.read_bytes().startswith(b"LBM-D3Q27 1\n")
    again, _ = pair("sponges", lbm.TRT(0.7), lbm.D3Q27, pattern="ab", **options)
    again.restore(file).run(3)
    assert np.array_equal(through.run(3).populations(), again.populations())
    other, _ = pair("sponges", lbm.TRT(0.7), lbm.D3Q19, **options)
    with pytest.raises(lbm.CheckpointError, match="lattice='D3Q27', but this simulation has 'D3Q1"):
        other.restore(file)
    with pytest.raises(lbm.CheckpointError, match="lattice='D3Q19', but this simulation has 'D3Q2"):
        again.restore(other.save(tmp_path / "other"))


def test_a_case_file_names_the_lattice(tmp_path):
    file = tmp_path / "box.toml"
    file.write_text(
        'shape = [4, 4, 4]\nsteps = 2\n[fluid]\ntau = 0.7\n[numerics]\nlattice = "D3Q27"\n'
    )
    arguments = dict(read_case(file).arguments)
    s = lbm.Simulation(arguments.pop("shape"), **{**arguments, "device": "cpu"})
    assert s.problem.lattice == lbm.D3Q27
    assert "lattice='D3Q27'" in repr(s)
    file.write_text(file.read_text().replace("27", "15"))
    with pytest.raises(ValueError, match=r"lattice must be one of"):
        read_case(file)


def test_the_forecast_of_memory_counts_the_populations():
    sizes = [lbm.Simulation((8, 8, 8), lattice=lattice, device="cpu").problem.bytes_per_update()
             for lattice in ("D3Q19", "D3Q27")]  # fmt: skip
    assert sizes == [2 * 19 * 4, 2 * 27 * 4]


# ---- kernels ---------------------------------------------------------------------------------


@compiled
@pytest.mark.parametrize("operator", OPERATORS.values())
def test_operators_compile_without_spills_and_without_float64(operator):
    from generated_kernels import lbm_signature_of
    from lbm._engines.cuda_kernels import make_kernel

    kernel = make_kernel("step", "esoteric", 0, "float32", "faces", operator, True, lbm.D3Q27)
    report = compile_kernel(kernel, lbm_signature_of(operator(0.7)))
    assert report.spills <= allowed_spills()
    assert report.opcodes(".f64") == 0
